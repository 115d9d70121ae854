import Foundation
import Testing

@testable import DarkroomAnswer

/// Why a file stays in the inbox, in the daemon's own words.
struct InboxObstacleTests {
    private let outbox: ClientSpool

    init() throws {
        outbox = try ClientSpool()
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
        try outbox.write(report.encoded(), "inbox.json")
        let spool = try outbox.open()
        do {
            let lock = try outbox.lock()
            #expect(
                spool.reasonForWaiting(of: "x.json")
                    == "x.json: cannot open. Let the group read it.")
            #expect(spool.reasonForWaiting(of: "y.json") == "No space left on device")
            withExtendedLifetime(lock) {}
        }
        #expect(
            spool.reasonForWaiting(of: "x.json")
                == "no daemon works on the spool \(outbox.path)")
    }

    @Test func saysIfNothingIsKnown() throws {
        let lock = try outbox.lock()
        #expect(
            try outbox.open().reasonForWaiting(of: "x.json")
                == "the daemon has not said why; its journal may tell (journalctl -u darkroomd)")
        withExtendedLifetime(lock) {}
    }
}
