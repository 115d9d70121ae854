import DarkroomManifest

/// The changes of a reload as texts for users: each key with its old and its new text, without secrets.
package struct ConfigurationChanges: Equatable {
    /// For example `limits.memory: 64MiB → 192MiB`.
    package private(set) var lines: [String] = []

    package var text: String {
        lines.isEmpty ? "nothing has changed" : "changed: \(lines.joined(separator: ", "))"
    }

    package init(from old: ConfigurationLoader.Loaded, to new: ConfigurationLoader.Loaded) {
        for entry in new.settings {
            guard let before = old[entry.setting.key]?.text, before != entry.text else { continue }
            lines.append(Self.line(entry.setting, before, entry.text))
        }
        // The name of the file may be the same. Its content is secret.
        if old.configuration.downloads.headers != new.configuration.downloads.headers {
            lines.append("the request headers of downloads.headers")
        }
        lines += Self.changes(from: old.configuration.recipes, to: new.configuration.recipes)
    }

    /// For example `recipe web: new`.
    private static func changes(from old: RecipeBook, to new: RecipeBook) -> [String] {
        let former = Dictionary(uniqueKeysWithValues: old.all.map { ($0.name, $0) })
        let latter = Dictionary(uniqueKeysWithValues: new.all.map { ($0.name, $0) })
        return Set(former.keys).union(latter.keys).sorted().compactMap { name in
            guard let before = former[name] else { return "recipe \(name): new" }
            guard let after = latter[name] else { return "recipe \(name): removed" }
            return before == after ? nil : "recipe \(name): changed"
        }
    }

    private static func line(_ setting: Setting, _ old: String, _ new: String) -> String {
        let (old, new) = (setting.shown(old), setting.shown(new))
        // Only a secret part has changed, for example a password.
        guard old != new else { return "\(setting.key): in a part that is not shown" }
        return "\(setting.key): \(inOneLine(old)) → \(inOneLine(new))"
    }

    private static func inOneLine(_ text: String) -> String {
        let line = text.beginning
        return line.isEmpty ? "none" : line
    }

    /// The reason why a reload cannot apply a valid configuration; nil if it can.
    package static func refusal(
        from old: ConfigurationLoader.Loaded, to new: ConfigurationLoader.Loaded
    ) -> String? {
        let (former, latter) = (old.configuration, new.configuration)
        let possible: [(String, Bool)] = [
            ("spool", former.spool != latter.spool),
            ("durability", former.durability != latter.durability),
            ("cache.folder", former.cacheFolder != latter.cacheFolder),
            // If the daemon started without a cache, no folder of a cache is open.
            ("cache.maxBytes", former.cacheBytes == 0 && latter.cacheBytes > 0),
            ("results.folder", former.resultsFolder != latter.resultsFolder),
            ("results.maxBytes", former.resultBytes == 0 && latter.resultBytes > 0),
        ]
        let changes = possible.filter(\.1).map { key, _ in
            let texts = [old, new].map { inOneLine($0[key]?.text ?? "") }
            return "\(key) (\(texts[0]) → \(texts[1]))"
        }
        guard !changes.isEmpty else { return nil }
        return "a change of \(changes.joined(separator: ", ")) requires a restart"
    }
}
