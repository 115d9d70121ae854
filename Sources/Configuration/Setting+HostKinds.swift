import DarkroomCore
import DarkroomFetch
import Foundation

/// Kinds of settings that only downloads use.
extension Setting {
    /// A list of networks, or a single one.
    static func networks(
        _ key: String, _ help: String,
        _ path: WritableKeyPath<Configuration, [IPNetwork]> & Sendable
    ) -> Setting {
        parsedList(
            key, help, "a list of networks such as [10.0.0.0/8, \"fd00::/8\"]", path,
            read: { text throws(TextProblem) in try IPNetwork(text) })
    }

    /// A list of hosts and domains, or a single one.
    static func hosts(
        _ key: String, _ help: String,
        _ path: WritableKeyPath<Configuration, [HostPattern]> & Sendable
    ) -> Setting {
        parsedList(
            key, help, "a list of hosts such as [example.org, \"*.example.org\"]", path,
            read: { text throws(TextProblem) in try HostPattern(text) })
    }

    /// A list of what `read` takes, or a single one. The error names all that it does not take.
    private static func parsedList<Entry: Sendable>(
        _ key: String, _ help: String, _ expected: String,
        _ path: WritableKeyPath<Configuration, [Entry]> & Sendable,
        read: @escaping @Sendable (String) throws(TextProblem) -> Entry
    ) -> Setting {
        Setting(key, "[]", help) { text, configuration throws(SettingError) in
            var problems: [String] = []
            var values: [Entry] = []
            for entry in try entries(of: text) {
                do throws(TextProblem) {
                    values.append(try read(entry))
                } catch {
                    problems.append(error.message)
                }
            }
            try refuse(
                expected, problems,
                correction: several(in: text, separators: ",;") { (try? read($0)) != nil })
            configuration[keyPath: path] = values
        }
    }

    /// Throws one error that names all problems, if there are any.
    static func refuse(
        _ expected: String, _ problems: [String], correction: String? = nil
    ) throws(SettingError) {
        guard !problems.isEmpty else { return }
        throw SettingError(
            expected: "\(expected) (\(problems.joined(separator: "; ")))", correction: correction)
    }

    /// A text that is a single entry may begin with a character that has a meaning in YAML: `*.example.org`, `::1`.
    static func entries(of text: String) throws(SettingError) -> [String] {
        let trimmed = text.trimmingCharacters(in: .whitespacesAndNewlines)
        let isSingle = !trimmed.contains { $0.isWhitespace || "[],\"'".contains($0) }
        if isSingle, !trimmed.isEmpty { return [trimmed] }
        return try list(text)
    }

    static func caFile(_ key: String, _ help: String) -> Setting {
        Setting(key, "", help + "; empty for none") { text, configuration throws(SettingError) in
            configuration.downloads.caFile = text.isEmpty ? nil : text
            if text.isEmpty { return }
            // libcurl would report it only when it makes a connection, for every single picture.
            guard let bytes = try? WholeFile.bytes(of: text, upTo: FileLimit.certificates) else {
                throw SettingError(expected: "a file that can be read")
            }
            guard Data(bytes).firstRange(of: Data("-----BEGIN ".utf8)) != nil else {
                throw SettingError(expected: "a file of certificates in PEM format")
            }
        }
    }

    static func proxy(_ key: String, _ help: String) -> Setting {
        optional(
            key, help + "; empty for none",
            "the URL of a proxy such as http://proxy.example.org:3128, with a scheme of "
                + "\(proxySchemes.joined(separator: ", "))",
            isURL: true, \.downloads.proxy, isValid: isProxy)
    }

    private static let proxySchemes = ["http", "https", "socks4", "socks4a", "socks5", "socks5h"]

    /// Whether libcurl accepts it as a proxy: a URL without a path, or a host without a scheme.
    private static func isProxy(_ text: String) -> Bool {
        var authority = text[...]
        if let separator = text.firstRange(of: "://") {
            guard proxySchemes.contains(text[..<separator.lowerBound].lowercased()) else {
                return false
            }
            authority = text[separator.upperBound...]
        }
        if authority.last == "/" { authority = authority.dropLast() }
        return !authority.contains { "/?#".contains($0) }
            && (try? URLAuthority(ByteString(authority))) != nil
    }
}
