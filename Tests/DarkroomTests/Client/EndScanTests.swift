import Foundation
import TestSupport
import Testing

@testable import DarkroomAnswer
@testable import DarkroomClient

/// What a look at an outbox finds, with files as a daemon writes them.
struct EndScanTests {
    private let spool: ClientSpool

    init() throws {
        spool = try ClientSpool()
    }

    private func end(
        _ id: String, _ state: BatchState = .completed, at seconds: Double, retries: Int? = nil
    ) throws {
        var status = ClientSpool.status(id, state, finished: seconds)
        status.retries = retries
        try spool.write(status)
        try spool.write(BatchProgress(of: status))
    }

    private func begin(_ id: String) throws {
        let status = ClientSpool.status(id, .processing)
        try spool.write(status)
        try spool.write(BatchProgress(of: status))
    }

    /// The ends and other news in short.
    private static func short(_ news: [EndScan.News]) -> [String] {
        news.map { item in
            switch item {
            case .ended(let end): "\(end.id) \(end.progress.state.rawValue) \(end.key.retries ?? 0)"
            case .vanished(let id, let hadEnded): "\(id) vanished\(hadEnded ? "" : " unseen")"
            case .unreadable(let id, _): "\(id) unreadable"
            }
        }
    }

    @Test func findsEndsInTheirOrder() throws {
        // `time` is how long ago it was.
        try end("late", at: 10)
        try end("b", at: 20)
        try end("a", .rejected, at: 20)
        try end("early", .cancelled, at: 30)
        try begin("working")
        try spool.write([1], "outbox/no-batch/file")
        try spool.write([1], "outbox/file")
        let scan = try EndScan(spool.open())
        #expect(
            Self.short(try scan.look()) == [
                "early cancelled 0", "a rejected 0", "b completed 0", "late completed 0",
            ])
        #expect(try scan.look() == [])
        try end("working", at: 5)
        #expect(Self.short(try scan.look()) == ["working completed 0"])
        #expect(try scan.look() == [])
    }

    @Test func noticesEndsByTheirEvents() throws {
        try begin("a")
        let scan = try EndScan(spool.open())
        #expect(try scan.look() == [])
        var entry = pollfd(fd: scan.events, events: Int16(POLLIN), revents: 0)
        #expect(poll(&entry, 1, 0) == 0)
        for (id, isNew) in [("a", false), ("b", true)] {
            try end(id, at: 1)
            #expect(poll(&entry, 1, 0) == 1, "\(isNew)")
            #expect(scan.pause < 0.5)
            #expect(Self.short(try scan.look()) == ["\(id) completed 0"])
        }
    }

    /// A repeated batch ends once more. It is noticed by a look at all answers, which comes at intervals.
    @Test func findsTheEndOfARetry() async throws {
        try end("a", .completedWithErrors, at: 20)
        let scan = try EndScan(spool.open())
        #expect(Self.short(try scan.look()) == ["a completedWithErrors 0"])
        try end("a", .completed, at: 10, retries: 1)
        let news = try await eventually("the end") {
            let news = try scan.lookIfDue()
            return news.isEmpty ? nil : news
        }
        #expect(Self.short(news) == ["a completed 1"])
    }

    @Test func tellsWhatHasVanished() throws {
        try end("a", at: 20)
        try begin("b")
        let scan = try EndScan(spool.open())
        _ = try scan.look()
        for id in ["a", "b"] {
            try FileManager.default.removeItem(atPath: "\(spool.path)/outbox/\(id)")
        }
        #expect(Self.short(try scan.look()) == ["a vanished", "b vanished unseen"])
        #expect(try scan.look() == [])
    }

    @Test func tellsOnceWhatItCannotRead() throws {
        try end("a", at: 20)
        try spool.write(Array("{}".utf8), "outbox/bad/status.json")
        let scan = try EndScan(spool.open())
        #expect(Self.short(try scan.look()) == ["bad unreadable", "a completed 0"])
        #expect(try scan.look() == [])
        try end("bad", at: 10)
        #expect(Self.short(try scan.look()) == ["bad completed 0"])
    }

    /// A daemon that could not write the last progress has still written the status.
    @Test func theStatusDecidesIfTheProgressIsOld() throws {
        try begin("a")
        try spool.backdate("outbox/a/progress.json")
        try spool.write(ClientSpool.status("a", .completed, finished: 10))
        let scan = try EndScan(spool.open())
        // The progress may still come, so the status, which may be large, is not read yet.
        #expect(try scan.look() == [])
        #expect(scan.pause < 0.5)
        try spool.backdate("outbox/a/status.json")
        try spool.backdate("outbox/a/progress.json", by: 90)
        #expect(Self.short(try scan.look()) == ["a completed 0"])
    }

    /// The status that a program gets is that of the end, or nobody's.
    @Test func opensTheStatusOfAnEnd() throws {
        try end("a", at: 20)
        let scan = try EndScan(spool.open())
        guard case .ended(let first)? = try scan.look().first else {
            Issue.record("no end")
            return
        }
        func answer() throws -> String {
            switch try scan.answer(of: first) {
            case .status(let file):
                let bytes = try file.readAll(upTo: 1 << 20, path: "status.json")
                let content = try Data(
                    contentsOf: URL(filePath: spool.path + "/outbox/a/status.json"))
                return bytes == Array(content) ? "status" : "another status"
            case .replaced: return "replaced"
            case .removed: return "removed"
            }
        }
        #expect(try answer() == "status")
        // The same end, written again.
        try end("a", at: 20)
        #expect(try answer() == "status")
        try end("a", at: 10, retries: 1)
        #expect(try answer() == "replaced")
        try begin("a")
        #expect(try answer() == "replaced")
        try FileManager.default.removeItem(atPath: spool.path + "/outbox/a")
        #expect(try answer() == "removed")
    }

    @Test func endsDifferByWhatTheyAre() throws {
        func identifier(_ id: String, _ seconds: Double, _ retries: Int? = nil) throws -> String {
            var status = ClientSpool.status(id, .completed, finished: seconds)
            status.retries = retries
            return try #require(BatchEnd(BatchProgress(of: status))).identifier
        }
        let ends = [
            try identifier("a", 1), try identifier("b", 1), try identifier("a", 2),
            try identifier("a", 1, 1),
        ]
        #expect(Set(ends).count == ends.count)
        #expect(try identifier("a", 1) == ends[0])
        #expect(ends.allSatisfy { $0.wholeMatch(of: /end_[0-9a-f]{32}/) != nil })
        #expect(BatchEnd(BatchProgress(of: ClientSpool.status("a", .held))) == nil)
    }
}
