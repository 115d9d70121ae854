/// What `--check-config` prints: each key with its value and the origin of the value.
package struct ConfigurationListing {
    /// Keys that are set come first, in the order of the configuration file.
    package let lines: [String]

    /// - Parameter withDefaults: whether keys that are not set are listed too.
    package init(_ settings: [ConfigurationLoader.Resolved], withDefaults: Bool) {
        let set = settings.filter { $0.place != nil }
        let defaults = settings.filter { $0.place == nil }
        var lines = set.map(Self.line)
        if withDefaults {
            lines += defaults.map(Self.line)
        } else {
            let number = set.isEmpty ? "all" : "the other"
            lines.append(
                "# \(number) \(defaults.count) keys have their default values; --all prints them")
        }
        self.lines = lines
    }

    private static func line(_ entry: ConfigurationLoader.Resolved) -> String {
        var text = entry.setting.shown(entry.text)[...]
        while let last = text.last, last.isNewline { text.removeLast() }
        return "\(entry.setting.key): \(text.isEmpty ? "\"\"" : text)  # \(entry.origin)"
    }
}
