import DarkroomAnswer
import DarkroomClient
import Foundation
import TestSupport
import Testing

/// `status`, compared whole.
struct SpoolOverviewTests {
    /// Compares the state of the daemon and the text, the latter if it is given.
    private static func expect(
        _ spool: ClientSpool, _ state: DaemonState.Name, _ text: String? = nil,
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let told = try status(spool)
        #expect(told.state == state, sourceLocation: sourceLocation)
        #expect(text == nil || told.text == text, sourceLocation: sourceLocation)
    }

    private static func status(
        _ spool: ClientSpool
    ) throws -> (state: DaemonState.Name, text: String) {
        var overview = try SpoolOverview(of: spool.open(), now: ClientSpool.now)
        overview.zone = .gmt
        let text = overview.lines(on: .pipe).joined(separator: "\n").replacing(
            spool.path, with: "SPOOL"
        )
        .replacing("process \(getpid())", with: "process P")
        return (overview.daemon.name, text)
    }

    @Test func tellsOfWarningsAndWhatCannotBeContinued() throws {
        let spool = try ClientSpool()
        let lock = try spool.lock()
        try spool.writeQueue(
            .running, warnings: 3, unresumed: [.init(id: "a", code: "c", message: "m", since: "t")])
        let text = try Self.status(spool).text
        withExtendedLifetime(lock) {}
        #expect(
            text.contains(
                "  images   12 of 400 done, 3 with warnings, 1 failed, 4 downloading, 2 filtering"),
            "\(text)")
        #expect(
            text.hasSuffix(
                """

                  left     a cannot be continued: m [c]
                           Correct what the message names, and restart darkroomd: its start tries again.
                """), "\(text)")
    }

    @Test func tellsTheStatesOfTheDaemon() throws {
        let spool = try ClientSpool()
        try Self.expect(spool, .stopped, "stopped: SPOOL")
        let work = """

              batches  2 in work, 5 waiting, 1 held
              images   12 of 400 done, 1 failed, 4 downloading, 2 filtering
            """
        let rest = """

              batches  2 begun, 5 waiting, 1 held; they go on when the daemon starts
              images   12 of 400 done, 1 failed
            """
        try spool.writeQueue(.running)
        try Self.expect(
            spool, .killed,
            "killed, last report 2026-11-22 23:59:59 (1s ago): SPOOL" + rest)
        try spool.writeQueue(.stopped)
        try Self.expect(
            spool, .stopped,
            "stopped since 2026-11-22 23:59:59 (1s): SPOOL" + rest)
        let lock = try spool.lock()
        try spool.writeQueue(.running)
        try Self.expect(
            spool, .running,
            "running since 2026-11-22 23:00:00 (1h): SPOOL, darkroomd 9.9, process P" + work
                + "; 1.3 images/s, 3.3 MiB/s")
        // An older report says so.
        try spool.writeQueue(.running, written: 8.5)
        #expect(try Self.status(spool).text.contains(", process P, as of 8s ago\n"))
        let json = try SpoolOverview(of: spool.open(), now: ClientSpool.now).json
        #expect(json.contains("\"age\" : 8.5"))
        try spool.writeQueue(.paused, waiting: ClientSpool.waiting("paused", "paused by SIGUSR1"))
        try Self.expect(
            spool, .paused,
            "paused since 2026-11-22 23:59:00 (1min): SPOOL, darkroomd 9.9, process P\n"
                + "  waits: paused by SIGUSR1\n"
                + "  darkroom resume ends the pause"
                + work)
        try spool.writeQueue(
            .waiting, waiting: ClientSpool.waiting("disk-full", "no space", since: 5))
        try Self.expect(
            spool, .waiting,
            "waiting since 2026-11-22 23:59:55 (5s): SPOOL, darkroomd 9.9, process P\n  waits: no space"
                + work)
        try spool.writeQueue(.stopping)
        try Self.expect(spool, .stopping)
        withExtendedLifetime(lock) {}
    }

    @Test func tellsWhichFilesAreNotTaken() throws {
        let spool = try ClientSpool()
        let lock = try spool.lock()
        var report = InboxReport(written: ClientSpool.time(1))
        report.counts = ["picture": 1, "queued": 3]
        report.files = [
            .init(
                name: "cat\u{202E}.png", reason: .picture, message: "it is a picture",
                since: ClientSpool.time(120), help: "Write a manifest.")
        ]
        try spool.write(report.encoded(), "inbox.json")
        try spool.write([], "inbox/cat\u{202E}.png")
        try Self.expect(
            spool, .running,
            """
            running: SPOOL
            4 files in the inbox not taken:
              cat\\u{202E}.png: it is a picture [picture, for 2min]
                Write a manifest.
              and 3 more
            """)
        // An older daemon has this report only.
        report.paused = true
        try spool.write(report.encoded(), "inbox.json")
        try Self.expect(spool, .paused)
        withExtendedLifetime(lock) {}
        let text = try SpoolOverview(of: spool.open(), now: ClientSpool.now).json
        let object = try jsonObject(text.utf8)
        #expect(object["state"] as? String == "paused")
        #expect(
            (object["inbox"] as? [String: Any])?["counts"] as? [String: Int] == [
                "picture": 1, "queued": 3,
            ])
        // A file that is gone is not told of, although the report still has it.
        try FileManager.default.removeItem(atPath: spool.path + "/inbox/cat\u{202E}.png")
        let later = try SpoolOverview(of: spool.open(), now: ClientSpool.now)
        #expect(later.inbox?.files == [] && later.inbox?.counts == ["queued": 3])
    }
}
