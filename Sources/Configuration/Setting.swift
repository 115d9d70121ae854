import DarkroomCore

/// One key of the configuration: its name, its default as a user would write it, and the conversion of a text to the
/// value.
package struct Setting: Sendable {
    package let key: String
    package let defaultValue: String
    /// One sentence: the effect of the setting, and its unit.
    package let help: String
    let apply: @Sendable (_ text: String, inout Configuration) throws(SettingError) -> Void
    private let isURL: Bool

    init(
        _ key: String, _ defaultValue: String, _ help: String, isURL: Bool = false,
        apply: @escaping @Sendable (String, inout Configuration) throws(SettingError) -> Void
    ) {
        self.key = key
        self.defaultValue = defaultValue
        self.help = help
        self.isURL = isURL
        self.apply = apply
    }

    /// The text without secrets: a URL without its password.
    package func shown(_ text: String) -> String { isURL ? RedactedURL.text(text) : text }

    /// The environment variable that overrides it: DARKROOM_DOWNLOADS_MAX_BYTES for `downloads.maxBytes`.
    package var variable: String {
        var name = "DARKROOM_"
        for character in key {
            if character == "." {
                name += "_"
            } else {
                if character.isUppercase { name += "_" }
                name += character.uppercased()
            }
        }
        return name
    }
}

/// A text that is not a value of a setting. Whoever reads the setting adds the key and the place.
package struct SettingError: Error, Sendable {
    /// The end of the sentence "… must be".
    package let expected: String
    /// The text that was probably meant, as it must be written.
    package var correction: String?
}
