import DarkroomCore

extension Setting {
    /// The end of a message about an unknown key: `; did you mean …?`, or nothing.
    package static func suggestion(forKey key: String) -> String {
        let keys = all.map(\.key)
        let within = keys.filter { $0.hasPrefix(key + ".") }
        if !within.isEmpty { return ": it is a section, with \(within.joined(separator: ", "))" }
        let sections = Set(keys.compactMap(section)).sorted()
        let last = lastPart(of: key)
        if last != key, sections.contains(last) {
            return ": \(last) is a section, which begins at the beginning of a line"
        }
        let elsewhere = keys.filter { lastPart(of: $0) == last }
        if !elsewhere.isEmpty {
            return elsewhere == [last]
                ? ": \(last) does not belong to a section"
                : ": it belongs to a section: \(elsewhere.joined(separator: " or "))"
        }
        if let nearest = Suggestion.nearest(to: key, among: keys + sections) {
            return "; did you mean \(nearest)?"
        }
        // The key is misspelt and in the wrong section.
        let names = Suggestion.nearest(to: last, among: keys.map(lastPart)).map { name in
            keys.filter { lastPart(of: $0) == name }
        }
        return names.map { "; did you mean \($0.joined(separator: " or "))?" } ?? ""
    }

    /// The settings that were probably meant by a key that is a section or lacks one: the settings that the key may
    /// stand for and that accept the value. Empty if there are more than three.
    static func meant(byKey key: String, text: String) -> [Setting] {
        let within = all.filter { $0.key.hasPrefix(key + ".") }
        let last = lastPart(of: key)
        let candidates = within.isEmpty ? all.filter { lastPart(of: $0.key) == last } : within
        let meant = candidates.filter { setting in
            var configuration = Configuration()
            // A part of the text may be a secret in that setting.
            return setting.shown(text) == text
                && (try? setting.apply(text, &configuration)) != nil
        }
        return meant.count <= 3 ? meant.filter { section(of: $0.key) != nil } : []
    }

    /// The end of a message about an unknown environment variable: which one was probably meant; empty if none.
    ///
    /// - Parameter others: Darkroom's variables that do not stand for settings.
    static func suggestion(forVariable name: String, others: [String]) -> String {
        let rest = name.dropFirst("DARKROOM".count)
        let variables = all.map(\.variable)
        let elsewhere = variables.filter { $0.hasSuffix(rest) }
        if !elsewhere.isEmpty { return "; did you mean \(elsewhere.joined(separator: " or "))?" }
        return Suggestion.nearest(to: name, among: (variables + others).sorted())
            .map { "; did you mean \($0)?" } ?? ""
    }

    private static func section(of key: String) -> String? {
        let parts = key.split(separator: ".")
        return parts.count > 1 ? String(parts[0]) : nil
    }

    private static func lastPart(of key: String) -> String {
        key.split(separator: ".").last.map(String.init) ?? key
    }
}
