import Foundation
import TestSupport
import Testing

@testable import DarkroomAnswer
@testable import DarkroomFixtures
@testable import DarkroomSpool

/// Holds the tables of commands and signals against what people read of them.
struct ControlCommandTests {
    /// The text of an item, as a reader sees it: without a space before a punctuation mark.
    private static func text(of item: ManualPage.Item) -> String {
        item.text.replacing(/\ (?=[.,;:])/, with: "")
    }

    @Test func theManualDescribesEachControlFile() throws {
        let items = try ManualPage("darkroomd.8").items("THE SPOOL", "Control files")
        #expect(items.flatMap(\.names) == ControlCommand.allCases.map { "ID.\($0.rawValue)" })
        for (item, command) in zip(items, ControlCommand.allCases) {
            #expect(Self.text(of: item) == command.form.manualText)
        }
    }

    @Test func theManualDescribesEachSignal() throws {
        let items = try ManualPage("darkroomd.8").items("SIGNALS")
        #expect(items.allSatisfy { $0.macro == "Dv" })
        #expect(items.flatMap(\.names) == ControlSignal.all.map(\.name))
        for (item, signal) in zip(items, ControlSignal.all) {
            #expect(Self.text(of: item).hasPrefix(signal.summary))
        }
    }

    /// For one line of help.
    @Test func summariesAreSentences() {
        let commands = ControlCommand.allCases.map(\.form.summary)
        for summary in commands + ControlSignal.all.map(\.summary) {
            #expect(summary.hasSuffix(".") && !summary.contains(". "), "\(summary)")
        }
    }

    /// No status is left of a batch that was removed.
    @Test func theStatusNamesEachOtherCommand() throws {
        let verbs = ControlCommand.allCases.filter { $0.form.effect != .removes }.map(\.rawValue)
        let item = try #require(
            try ManualPage("darkroom-status.5").items("STATUS").first {
                $0.names == ["commands.action"]
            })
        let words: [String] = item.text.matches(of: /[a-z]+/).map { String($0.0) }
        #expect(words.filter { $0 != "or" } == verbs)
        let schema = try Repository.text("etc/status.schema.json")
        let listed = try #require(schema.firstMatch(of: /"action": \{ "enum": \[([^\]]+)\]/)).1
        #expect(listed == verbs.map { "\"\($0)\"" }.joined(separator: ", "))
    }

    // MARK: The journal

    @Test(arguments: ControlCommand.allCases)
    func theCatalogTellsOfEachControlFile(command: ControlCommand) throws {
        let entry = try #require(
            try JournalCatalog.entries().first { $0.id == command.form.event.rawValue })
        let file = "@DARKROOM_BATCH@.\(command.rawValue)"
        let begin = "User @DARKROOM_USER@ has put a file \(file) into the inbox"
        #expect(entry.text.joined(separator: " ").hasPrefix(begin))
    }

    @Test func theCatalogNamesNoOtherControlFile() throws {
        var named: Set<String> = []
        for entry in try JournalCatalog.entries() {
            let text = entry.text.joined(separator: "\n")
            for match in text.matches(of: /@DARKROOM_BATCH@\.([a-z]+)/) {
                named.insert(String(match.1))
            }
        }
        #expect(named == Set(ControlCommand.allCases.map(\.rawValue)))
    }

    @Test func eachCommandHasARecordOfItsOwn() {
        let events = ControlCommand.allCases.map(\.form.event)
        #expect(Set(events).count == events.count)
        for event in events { #expect(Set(event.form.always) == [.batch, .user]) }
    }
}
