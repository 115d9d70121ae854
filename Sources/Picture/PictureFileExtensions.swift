import DarkroomCore

/// How the names of pictures end, also of kinds that Darkroom does not read.
package enum PictureFileExtensions {
    /// In small letters, without the dot.
    private static let all = [
        "jpg", "jpeg", "jpe", "jfif", "png", "apng", "gif", "webp", "tif", "tiff", "heic", "heif",
        "avif", "jxl", "jp2", "bmp", "svg", "psd", "dng", "cr2", "cr3", "nef", "arw", "raf", "orf",
        "rw2",
    ]

    /// Whether a file of this name is presumably a picture.
    package static func match(_ name: String) -> Bool {
        all.contains { name.hasEnding(".\($0)") }
    }
}
