import Foundation
import TestSupport
import Testing

@testable import DarkroomAnswer
@testable import DarkroomCore
@testable import DarkroomDaemon

struct InboxReportTests {
    private static let start = "2026-11-21T08:00:00.000Z"
    private static let later = "2026-11-21T08:00:05.000Z"

    private func name(_ index: Int) -> FileName { FileName("\(10_000 + index)") }

    @Test func saysSinceWhenAFileIsThereForItsReason() throws {
        var reporter = InboxReporter()
        _ = reporter.report(["a", "b"], at: Self.start) { _ in (.settling, "") }
        let report = reporter.report(["b", "a", "c"], at: Self.later) {
            ($0 == "b" ? .unreadable : .settling, "")
        }
        #expect(report.files.map(\.name) == ["b", "a", "c"])
        #expect(report.files.map(\.since) == [Self.later, Self.start, Self.later])
        // One that was away begins again.
        _ = reporter.report([], at: Self.later) { _ in (.settling, "") }
        let last = reporter.report(["a"], at: "9") { _ in (.settling, "") }
        #expect(last.files.map(\.since) == ["9"])
    }

    @Test func listsAThousandAndCountsAll() throws {
        var reporter = InboxReporter()
        let names = (0..<5000).map(name)
        let report = reporter.report(names.shuffled(), at: Self.start) { file in
            file == name(4000) ? (.unreadable, "x") : file == name(7) ? nil : (.queued, "y")
        }
        #expect(report.files.count == 1000)
        // What waits for somebody comes first, however much there is of the rest.
        #expect(report.files.first?.name == "14000")
        #expect(report.files.first?.help == InboxReason.unreadable.help)
        #expect(report.counts["queued"] == 4998)
        #expect(report.total == 4999)
    }

    @Test func ordersByReasonAndThenByName() {
        var reporter = InboxReporter()
        let reasons = InboxReason.allCases
        let names = (0..<90).map(name)
        let report = reporter.report(names.reversed(), at: Self.start) { file in
            (reasons[Int(file.bytes.last ?? 0) % reasons.count], "")
        }
        let places = report.files.map { reasons.firstIndex(of: $0.reason) ?? -1 }
        #expect(places == places.sorted())
        for reason in reasons {
            let group = report.files.filter { $0.reason == reason }.map(\.name)
            #expect(group == group.sorted())
        }
    }

    @Test(
        arguments: [
            (Array("grün 🏔.json".utf8), "grün 🏔.json", nil),
            ([0x66, 0xfc, 0x72], "f\u{fffd}r", "66fc72"),
            (Array("a\nb".utf8), "a\u{fffd}b", "610a62"),
        ] as [([UInt8], String, String?)])
    func showsAnyName(bytes: [UInt8], shown: String, marked: String?) {
        let file = InboxReport.File(FileName(bytes: bytes), .queued, "", since: "")
        #expect(file.name == shown)
        #expect(file.nameBytes == marked)
    }

    @Test func aLookAloneIsNoNewsWherePolled() {
        var old = InboxReport(written: "1")
        old.watch = .polling
        var new = old
        new.written = "2"
        #expect(!new.isNews(after: old))
        new.scanned = "2"
        #expect(new.isNews(after: old))
        old.scanned = "1"
        #expect(!new.isNews(after: old))
        new.paused = true
        #expect(new.isNews(after: old))
    }

    /// Every key that a report can have is described in the schema, the schema has no other, and it knows
    /// every word.
    @Test func agreesWithItsSchema() throws {
        var full = InboxReport(written: Self.start)
        full.scanned = Self.start
        full.why = .init(code: "disk", message: "m")
        full.files = [InboxReport.File(FileName(bytes: [0xff]), .queued, "m", since: "s")]
        for reason in InboxReason.allCases { full.counts[reason.rawValue] = 1 }
        let members = try JSONSchema(file: "inbox.schema.json").members
        #expect(try JSONSchema.paths(of: full.encoded()) == Set(members.keys))
        let reasons = InboxReason.allCases.map(\.rawValue)
        #expect(members["files.reason"]?["enum"] as? [String] == reasons)
        #expect(members["watch"]?["enum"] as? [String] == ["inotify", "polling"])
        #expect(members["files"]?["maxItems"] as? Int == InboxReport.capacity)
    }
}
