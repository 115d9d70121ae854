import DarkroomCore
import DarkroomFetch
import DarkroomManifest

extension ImageStatus {
    /// The images of a new status.
    package static func initial(of manifest: Manifest) -> [ImageStatus] {
        manifest.images.map { initial($0, of: manifest) }
    }

    package static func initial(_ image: Manifest.Image, of manifest: Manifest) -> ImageStatus {
        switch image.origin {
        case .source(let source):
            ImageStatus(
                name: image.name.string, source: source.shown,
                variantOf: image.variantOf?.string, published: image.isPublished ? nil : false)
        case .image(let index):
            ImageStatus(
                name: image.name.string, from: manifest.images[index].name.string,
                variantOf: image.variantOf?.string, published: image.isPublished ? nil : false)
        }
    }
}
