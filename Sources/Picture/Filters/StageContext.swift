package import DarkroomCore
import SystemPackage

/// The data that the stages of one picture share. It belongs to this picture, and so to one thread at a time.
package final class StageContext {
    package let limits: PictureLimits
    package let memory: PictureMemory
    /// What tells the colour space of the picture's values.
    var stated = StatedColour.nothing
    /// Opens the pixels of another image of the batch.
    let openImage: ImageOpener
    /// Returns false to stop with `PictureError.Code.cancelled`.
    let checkpoint: () -> Bool
    /// The remarks of the steps, which are not errors.
    var remarks: [String] = []
    /// The codec programs that took part in what lies over the picture.
    var programs: [CodecProgram] = []

    /// Opens the pixels of the image with this name, for an overlay.
    package typealias ImageOpener = (_ name: String) throws(PictureError) -> OtherImage

    package init(
        limits: PictureLimits, memory: PictureMemory? = nil,
        openImage: @escaping ImageOpener = StageContext.noImage,
        checkpoint: @escaping () -> Bool = { true }
    ) {
        self.limits = limits
        self.memory = memory ?? PictureMemory(limit: limits.wholePictureBytes)
        self.openImage = openImage
        self.checkpoint = checkpoint
    }

    /// For a picture that belongs to no batch.
    package static func noImage(_ name: String) throws(PictureError) -> OtherImage {
        throw PictureError(.readFailed, "there is no other image ‘\(name)’")
    }
}

/// Another image's pixels, in a file that is open for reading from its start.
package struct OtherImage: ~Copyable {
    package let descriptor: Descriptor
    /// The name of the file in messages.
    package let name: String

    package init(_ descriptor: consuming Descriptor, name: String) {
        self.descriptor = descriptor
        self.name = name
    }
}
