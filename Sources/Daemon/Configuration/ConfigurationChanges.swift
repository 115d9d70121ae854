/// What a reload has changed, for people: each key with its former text and its new one, secrets left out.
struct ConfigurationChanges: Equatable {
    /// `limits.memory: 64MiB → 192MiB`.
    private(set) var lines: [String] = []

    /// All of them, as part of a sentence.
    var text: String {
        lines.isEmpty ? "nothing has changed" : "changed: \(lines.joined(separator: ", "))"
    }

    init(
        from old: ConfigurationLoader.Loaded, to new: ConfigurationLoader.Loaded
    ) {
        let former = Dictionary(
            old.settings.map { ($0.setting.key, $0.text) }, uniquingKeysWith: { first, _ in first })
        for entry in new.settings {
            guard let before = former[entry.setting.key], before != entry.text else { continue }
            lines.append(Self.line(entry.setting, before, entry.text))
        }
        // The file's name may be the same, and its content is nothing to be shown.
        if old.configuration.downloads.headers != new.configuration.downloads.headers {
            lines.append("the request headers of downloads.headers")
        }
    }

    private static func line(_ setting: Setting, _ old: String, _ new: String) -> String {
        let (old, new) = (setting.shown(old), setting.shown(new))
        // A password, say.
        guard old != new else { return "\(setting.key): in a part that is not shown" }
        return "\(setting.key): \(inOneLine(old)) → \(inOneLine(new))"
    }

    /// Of a long text the beginning.
    private static func inOneLine(_ text: String) -> String {
        let line = text.split(whereSeparator: \.isWhitespace).joined(separator: " ")
        return line.isEmpty ? "none" : line.count <= 60 ? line : "\(line.prefix(60))…"
    }

    /// Why a reload cannot take over a configuration, although there is nothing wrong with it; nil where it can.
    static func refusal(
        from old: ConfigurationLoader.Loaded, to new: ConfigurationLoader.Loaded
    ) -> String? {
        let (former, latter) = (old.configuration, new.configuration)
        var keys: [String] = []
        if former.spool != latter.spool { keys.append("spool") }
        if former.durability != latter.durability { keys.append("durability") }
        if former.cacheFolder != latter.cacheFolder { keys.append("cache.folder") }
        // Without a cache at the start there is no folder to turn it on in.
        if former.cacheBytes == 0, latter.cacheBytes > 0 { keys.append("cache.maxBytes") }
        guard !keys.isEmpty else { return nil }
        let changes = keys.map { key -> String in
            let texts = [old, new].map { loaded in
                loaded.settings.first { $0.setting.key == key }?.text ?? ""
            }
            return "\(key) (\(inOneLine(texts[0])) → \(inOneLine(texts[1])))"
        }
        return "a change of \(changes.joined(separator: ", ")) requires a restart"
    }
}
