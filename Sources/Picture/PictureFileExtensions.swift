import DarkroomCore

/// The extensions of pictures' file names, in lower case, with the dot, including those of kinds that Darkroom does not
/// read.
package enum PictureFileExtensions {
    /// The extensions that are removed when a name is made from a source's name. This list must not change: with more
    /// extensions, images of earlier manifests would get other names.
    package static let droppedFromNames = [
        ".png", ".jpg", ".jpeg", ".gif", ".webp", ".tif", ".tiff", ".bmp", ".avif", ".heic",
    ]
    /// The extensions of kinds that are not read. An image of such a file fails with the reason.
    private static let unreadable = [
        ".jp2", ".svg", ".psd", ".dng", ".cr2", ".cr3", ".nef", ".arw", ".raf", ".orf", ".rw2",
    ]
    private static let all = InputFormat.readableEndings + unreadable

    /// Whether a file of this name is probably a picture.
    package static func match(_ name: String) -> Bool { all.contains(where: name.hasEnding) }
}
