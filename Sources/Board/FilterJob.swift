import DarkroomAnswer
import DarkroomCore
import DarkroomFetch
import DarkroomManifest
import DarkroomPicture

/// The data for a filter operation.
package struct FilterJob {
    package enum Input: Sendable {
        /// `active/ID/source-SLOT`, or the local file that the source names.
        case source(SourceReference, slot: Int)
        case image(OtherPixels)

        /// Its name in messages.
        package var name: String {
            switch self {
            case .source(let source, _): source.shown
            case .image(let other): other.file
            }
        }
    }

    /// The place of the filtered pixels of another image.
    package struct OtherPixels: Sendable {
        /// Its output, in the outbox; only for messages if its pixels are handed over.
        package let file: String
        /// Its number if its pixels are read from `active/ID/pixels-N`, because its output is lossy or it has none.
        package let handOver: Int?

        init(_ index: Int, of manifest: Manifest, _ status: Status) {
            let image = manifest.images[index]
            file = status.images[index].output?.file ?? image.resultName
            handOver = image.isHandedOver ? index : nil
        }
    }

    package let id: String
    package let image: Int
    package let name: String
    package let input: Input
    /// What is done with the picture. Its operation adds what opens other images, and how it is stopped.
    package let steps: PictureSteps
    /// Whether a warning makes it fail.
    package var isStrict = false
    /// If it is strict: the warnings that it gets for the images of which it is made.
    package var warnings: [String] = []
    /// How many filters at the beginning are the same for all variants of the image.
    package var commonFilters = 0
    /// By the names of the images.
    package let overlays: [ByteString: OtherPixels]
    /// Its result in messages.
    package let resultName: String
    /// Whether it has an output, and not only pixels for other images.
    package let isPublished: Bool
    /// Whether the pixels are handed over to other images, see `HandOverTable`.
    package let handsOver: Bool
    /// Whether this is the only purpose: the output has already been published.
    package let isAgain: Bool
    package var isFolder = false
    /// Whether the manifest wants a page; nil if it does not say so.
    package var wantsPage: Bool?
    /// The number of the last crash while it was filtered; 0 for none.
    package let crashes: Int
    /// The user who submitted the manifest; nil if an older version took it.
    package var owner: UInt32?
    /// Computes the digest of what decides the result (`Manifest.settingsSHA256`), which not every operation needs.
    package var settingsSHA256: @Sendable () -> String = { "" }
    /// The former result, which stays if the source has the same bytes, or the needed images have the same pixels; nil
    /// without one.
    package var former: ImageStatus?
    /// Why the former result stays, whatever the source is; nil if that is not decided.
    package var standsBecause: Failure?
    /// The digest of the pixels of the images that it needs (`ImageStatus.inputsSHA256`).
    package var inputsSHA256: String?
}
