import DarkroomCore

/// How the names of pictures end, in lower case, with the dot; also of kinds that Darkroom does not read.
package enum PictureFileExtensions {
    /// Those that a name made of a source's loses. They stay as they are: with more of them, images of a manifest that was
    /// taken before would have other names.
    package static let droppedFromNames =
        PictureFormat.allCases.flatMap(\.endings)
        + [".gif", ".webp", ".tif", ".tiff", ".bmp", ".avif", ".heic"]
    /// Those that such a name keeps.
    private static let keptInNames = [
        ".jpe", ".jfif", ".apng", ".heif", ".jxl", ".jp2", ".svg", ".psd", ".dng", ".cr2", ".cr3",
        ".nef", ".arw", ".raf", ".orf", ".rw2",
    ]
    private static let all = droppedFromNames + keptInNames

    /// Whether a file of this name is presumably a picture.
    package static func match(_ name: String) -> Bool { all.contains(where: name.hasEnding) }
}
