import DarkroomCore
import DarkroomFetch
import DarkroomManifest
import DarkroomPicture

/// A source and the page of it that an image is made of. Images of one page share the look at its header.
struct SourcePage: Hashable, Sendable {
    let source: SourceReference
    /// nil for the first page, with a warning if there are others.
    let page: Int?

    /// nil for an image that is made from another one.
    init?(_ image: Manifest.Image) {
        guard let source = image.source else { return nil }
        self.source = source
        page = image.page
    }
}

/// What is known about a source from its first bytes.
enum SourceFinding: Sendable {
    /// - Parameter bytes: the size of the file; nil if the server has not told it.
    case header(PictureHeader, bytes: Int64?)
    case failure(Failure)
    case unknown(String)
}
