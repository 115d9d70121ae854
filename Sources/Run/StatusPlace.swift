import DarkroomAnswer
import DarkroomCore
import SystemPackage

/// A status in a folder, whose images are read piece by piece.
struct StatusPlace: Sendable {
    let folder: Directory
    let name: FileName

    /// How many images are read at once.
    private static let piece = 1024

    typealias Images = [(image: ImageOutline, text: ArraySlice<UInt8>)]

    /// - Parameter body: receives the images of a piece.
    /// - Returns: the status without its images; nil if there is none.
    func read(_ body: (Images) -> Void) throws(RunError) -> Status? {
        do throws(StatusStreamError) {
            guard var stream = try StatusStream(name, in: folder, isKeptOpen: true) else {
                return nil
            }
            while true {
                var texts: [ArraySlice<UInt8>] = []
                while texts.count < Self.piece, let text = try stream.next() { texts.append(text) }
                if texts.isEmpty { return stream.frame }
                var images: Images = []
                for (text, image) in zip(texts, concurrentMap(texts) { ImageOutline($0) }) {
                    guard let image else { throw .foreign }
                    images.append((image, text))
                }
                body(images)
            }
        } catch {
            if case .file(let error) = error { throw RunError(error) }
            throw .unreadable(
                folder.path(of: name), reason: StatusDefect.sentence(of: name, in: folder))
        }
    }
}
