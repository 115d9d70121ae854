import Foundation
import TestSupport
import Testing

/// The message catalog, which `journalctl -x` shows.
enum JournalCatalog {
    struct Entry {
        let id: String
        var headers: [String: String] = [:]
        var text: [String] = []

        /// The names between two @.
        var references: [String] {
            (text + [headers["Subject"] ?? ""]).joined(separator: "\n")
                .matches(of: /@([A-Z_]+)@/).map { String($0.1) }
        }
    }

    /// systemd's catalog format: comments; `-- ID`, headers, an empty line, and text up to the next entry.
    static func entries() throws -> [Entry] {
        let url = Repository.root.appending(path: "systemd/darkroomd.catalog")
        var entries: [Entry] = []
        var isHeader = false
        for line in try String(contentsOf: url, encoding: .utf8).split(
            separator: "\n", omittingEmptySubsequences: false)
        {
            if line.hasPrefix("-- ") {
                entries.append(Entry(id: String(line.dropFirst(3))))
                isHeader = true
            } else if line.hasPrefix("#") || entries.isEmpty {
                continue
            } else if isHeader, line.isEmpty {
                isHeader = false
            } else if isHeader {
                let colon = try #require(line.firstIndex(of: ":"))
                entries[entries.count - 1].headers[String(line[..<colon])] = line[colon...]
                    .dropFirst()
                    .trimmingCharacters(in: .whitespaces)
            } else {
                entries[entries.count - 1].text.append(String(line))
            }
        }
        return entries
    }
}
