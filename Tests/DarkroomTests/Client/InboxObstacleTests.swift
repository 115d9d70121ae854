import Foundation
import Testing

@testable import DarkroomAnswer

/// Why a file stays in the inbox, in the daemon's own words.
@Suite struct InboxObstacleTests {
    private let outbox: OutboxFixture

    init() throws {
        outbox = try OutboxFixture()
    }

    private func write(_ report: InboxReport) throws {
        try Data(report.encoded()).write(to: URL(filePath: outbox.path + "/inbox.json"))
    }

    /// Locks the spool as a daemon does.
    private func withLock(_ body: () throws -> Void) throws {
        let lock = open(outbox.path + "/lock", O_CREAT | O_RDWR | O_CLOEXEC, 0o644)
        try #require(lock >= 0 && flock(lock, LOCK_EX) == 0)
        defer { close(lock) }
        try body()
    }

    @Test func namesTheReasonOfTheFile() throws {
        var report = InboxReport(written: "w")
        report.files = [
            .init(
                name: "x.json", reason: .unreadable, message: "x.json: cannot open", since: "s",
                help: "Let the group read it.")
        ]
        report.claiming = false
        report.why = .init(code: "disk", message: "No space left on device")
        try write(report)
        try withLock {
            let spool = outbox.spool
            #expect(
                spool.reasonForWaiting(of: "x.json")
                    == "x.json: cannot open. Let the group read it.")
            #expect(spool.reasonForWaiting(of: "y.json") == "No space left on device")
        }
        #expect(
            outbox.spool.reasonForWaiting(of: "x.json")
                == "no daemon works on the spool \(outbox.path)")
    }

    @Test func saysIfNothingIsKnown() throws {
        try withLock {
            #expect(
                outbox.spool.reasonForWaiting(of: "x.json")
                    == "the daemon has not said why; its journal may tell (journalctl -u darkroomd)"
            )
        }
    }
}
