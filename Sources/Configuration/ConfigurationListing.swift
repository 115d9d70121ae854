/// What `--check-config` prints: each key with its value and the origin of the value.
package struct ConfigurationListing {
    /// Keys that are set come first, in the order of the configuration file.
    package let lines: [String]

    /// - Parameter withDefaults: whether keys that are not set are listed too.
    package init(_ settings: [ConfigurationLoader.Resolved], withDefaults: Bool) {
        let set = settings.filter { $0.place != nil }
        let defaults = settings.filter { $0.place == nil }
        let number = set.isEmpty ? "all" : "the other"
        let rest = "# \(number) \(defaults.count) keys have their default values; --all prints them"
        lines = set.map(Self.line) + (withDefaults ? defaults.map(Self.line) : [rest])
    }

    private static func line(_ entry: ConfigurationLoader.Resolved) -> String {
        var text = entry.setting.shown(entry.text)[...]
        while let last = text.last, last.isNewline { text.removeLast() }
        return "\(entry.setting.key): \(text.isEmpty ? "\"\"" : text)  # \(entry.origin)"
    }
}
