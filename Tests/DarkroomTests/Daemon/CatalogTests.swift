import Foundation
import TestSupport
import Testing

@testable import DarkroomCore

/// The message catalog, which `journalctl -x` shows, against the events.
struct CatalogTests {
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

    /// None missing, none too many, none twice, and in the same order, so that people find their way.
    @Test func explainsEachEvent() throws {
        #expect(try Self.entries().map(\.id) == Event.allCases.map(\.rawValue))
    }

    @Test func saysWhatItIsAndWhereMoreIs() throws {
        for entry in try Self.entries() {
            #expect(entry.headers.keys.sorted() == ["Defined-By", "Documentation", "Subject"])
            #expect(entry.headers["Defined-By"] == "Darkroom")
            #expect(entry.headers["Documentation"] == "man:darkroomd(8)")
            #expect(entry.headers["Subject"]?.isEmpty == false)
            #expect(entry.text.contains { !$0.isEmpty }, "\(entry.id)")
            // As wide as a terminal, also where a record has replaced a reference by something short.
            #expect(entry.text.allSatisfy { $0.count <= 80 }, "\(entry.id)")
        }
        let subjects = try Self.entries().compactMap { $0.headers["Subject"] }
        #expect(Set(subjects).count == subjects.count)
    }

    /// A field that a record does not have would be left standing as @NAME@.
    @Test func refersToFieldsThatEachRecordHas() throws {
        var count = 0
        for entry in try Self.entries() {
            let event = try #require(Event(rawValue: entry.id))
            let names = Set(event.form.always.map(\.name))
            for reference in entry.references {
                count += 1
                #expect(names.contains(reference), "\(event): \(reference)")
            }
        }
        #expect(count > 50)
    }
}
