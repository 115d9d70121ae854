import Foundation
import TestSupport
import Testing

@testable import DarkroomCore
@testable import DarkroomDaemon
@testable import DarkroomFixtures
@testable import DarkroomSpool

/// Holds darkroomd(8) against the daemon. Its options and examples are run by `ManualExamplesTests`,
/// its signals and control files are in `ControlCommandTests`.
struct ManualDaemonTests {
    static let page = Result { try ManualPage("darkroomd.8") }

    @Test func hasEveryExitCode() throws {
        // EX_SOFTWARE (70) has a name, but nothing ends with it.
        let known = (0...255).filter { $0 != 70 && ExitCode(rawValue: $0) != nil }
        let items = try Self.page.get().items("EXIT STATUS")
        #expect(items.flatMap(\.names) == known.map(String.init))
    }

    /// The files of the spool that the sources name, by the words of a spool that a daemon has worked on.
    @Test func hasTheFoldersOfASpool() throws {
        let scratch = try ScratchDirectory()
        let spool = try Spool(path: scratch.path + "/spool")
        _ = try spool.openInbox()
        try spool.markPaused(true, durably: false)
        let listed = try Self.page.get().items("FILES").flatMap(\.names)
        let described = Set(
            listed.filter { $0.hasPrefix("SPOOL/") }
                .compactMap { $0.split(separator: "/").dropFirst().first.map(String.init) })
        let names = try spool.root.names().map(\.text)
        #expect(Set(names).subtracting(described) == [])
        #expect(
            described.subtracting(names) == [
                "clock", "folders.json", "hot", "inbox.json", "private", "queue.json",
            ])
    }

    /// Every variable that the sources ask for.
    @Test func hasEveryVariable() throws {
        let text = try Self.page.get().lines.joined(separator: "\n")
        var asked = try Sources.variables(ofCommand: false)
        asked.insert(FaultPoint.variable)
        // The self-test passes it on to its daemons.
        asked.remove("LD_LIBRARY_PATH")
        #expect(asked.count >= 4)
        for name in asked.sorted() {
            #expect(text.contains("Ev \(name)\n") || text.contains("Ev \(name) "), "\(name)")
        }
    }

    /// The fields that records have, as the sources name them.
    @Test func hasEveryFieldOfTheJournal() throws {
        let listed = try Self.page.get().items("JOURNAL").flatMap(\.names)
        let fields = listed.filter { $0.hasPrefix("DARKROOM_") }
        #expect(Set(fields) == Set(EventField.allCases.map(\.name)))
    }

    /// Each page that one refers to is there, and each heading.
    @Test(arguments: ManualPage.names)
    func refersToWhatThereIs(name: String) throws {
        let page = try ManualPage(name)
        let headings = page.lines.filter { $0.hasPrefix(".Sh ") || $0.hasPrefix(".Ss ") }
            .map { String($0.dropFirst(4)) }
        for line in page.lines where line.hasPrefix(".Sx ") {
            let heading = line.dropFirst(4).split(separator: " ").filter { !".,;".contains($0) }
            #expect(headings.contains(heading.joined(separator: " ")), "\(line)")
        }
        for line in page.lines where line.hasPrefix(".Xr darkroom") {
            let words = line.split(separator: " ")
            #expect(ManualPage.names.contains("\(words[1]).\(words[2])"), "\(line)")
        }
        let stem = name.split(separator: ".").dropLast().joined(separator: ".")
        #expect(page.lines.contains(".Dt \(stem.uppercased()) \(name.suffix(1))"))
        #expect(page.lines.contains { $0.hasPrefix(".Sh SEE ALSO") })
    }
}
