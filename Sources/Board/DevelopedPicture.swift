import DarkroomAnswer
import DarkroomFetch
import DarkroomPicture

/// The result of a filter operation for one image.
package struct DevelopedPicture: Sendable {
    package let result: Result
    /// What is known of the picture's file; nil if its pixels are those of another image.
    package let source: Source?

    package init(_ result: Result, source: Source?) {
        self.result = result
        self.source = source
    }

    package enum Result: Sendable {
        case made(PictureReport)
        /// It was copied from the store of results.
        case stored(PictureReport)
        /// Nothing was made: the former result stays (`FormerResult`).
        case former(ImageStatus)

        package var bytes: Int {
            switch self {
            case .made(let report), .stored(let report): report.bytes
            case .former(let image): image.output?.bytes ?? 0
            }
        }

        package var warnings: [String] {
            switch self {
            case .made(let report), .stored(let report): report.warnings
            case .former(let image): image.warnings ?? []
            }
        }

        /// Where the output comes from, for the status; nil if it was made.
        var origin: ImageStatus.Origin? {
            switch self {
            case .stored: .stored
            case .made: nil
            case .former(let image): image.made
            }
        }
    }

    package struct Source: Sendable, Equatable {
        /// In hexadecimal; nil if the file was changed while it was read.
        package let sha256: String?
        /// nil if it is not a local file, or if a later change would not show itself.
        package let identity: SourceIdentity?

        package init(sha256: String?, identity: SourceIdentity? = nil) {
            self.sha256 = sha256
            self.identity = identity
        }
    }
}
