import DarkroomClient
import DarkroomCore
import DarkroomManifest

/// What an argument of `submit` means.
enum ManifestArgument {
    /// As the end of a sentence about an option of pictures.
    static func hasItsOwn(_ argument: String) -> String {
        let name =
            argument == ManifestFile.standardInput ? "standard input" : FileName(argument).text
        return "\(name) is a manifest and says itself what to do"
    }

    /// Whether it is a manifest, by its name. A URL always names a picture.
    static func isManifest(_ argument: String) -> Bool {
        if argument == ManifestFile.standardInput { return true }
        return !argument.contains("://") && ManifestFormat(fileName: argument) != nil
    }
}
