import DarkroomCore
import DarkroomFetch
import DarkroomManifest

extension ImageStatus {
    package static func initial(of manifest: Manifest) -> [ImageStatus] {
        manifest.images.map { initial($0, of: manifest) }
    }

    package static func initial(_ image: Manifest.Image, of manifest: Manifest) -> ImageStatus {
        var status = ImageStatus(
            name: image.name.string, variantOf: image.variantOf?.string,
            published: image.isPublished ? nil : false)
        switch image.origin {
        case .source(let source): status.source = source.shown
        case .image(let index): status.from = manifest.images[index].name.string
        }
        return status
    }
}
