import DarkroomAnswer
import Foundation
import TestSupport
import Testing

/// What people and Prometheus see of the spool: inbox.json, the metrics, what is left over.
@Suite(.fewAtATime) struct VisibleTests {
    private func reasons(_ report: InboxReport) -> [String: InboxReason] {
        Dictionary(report.files.map { ($0.name, $0.reason) }) { first, _ in first }
    }

    // MARK: inbox.json

    @Test func tellsWhyAFileIsNotTaken() async throws {
        let (fixture, daemon) = try await DaemonFixture.running(["inbox.settle": "1h"])
        let first = try await fixture.waitForReport(daemon, "an empty inbox") { $0.scanned != nil }
        #expect(first.files == [] && first.total == 0 && first.claiming && !first.paused)
        #expect(first.watch == .inotify)

        let inbox = fixture.spool.root.appending(path: "inbox")
        for name in [".hidden.json", "half.part", "notes.txt"] {
            try fixture.spool.drop(name, "{}")
        }
        try fixture.spool.drop([0x66, 0xfc] + Array(".txt".utf8), [])
        try FileManager.default.makeFolder(at: inbox.appending(path: "folder.json"))
        try await fixture.spool.writeInPlace("slow.yaml", parts: ["images: [a]"], pause: .zero)
        let open = creat(inbox.appending(path: "open.json").path, 0o644)
        defer { close(open) }
        // A scan may find the open file before the event that tells of it.
        let report = try await fixture.waitForReport(daemon, "seven files") {
            $0.total == 7 && $0.counts["queued"] == 0 && $0.counts["being-written"] == 1
        }
        #expect(
            reasons(report) == [
                ".hidden.json": .ignoredName, "half.part": .ignoredName, "notes.txt": .ignoredName,
                "f\u{fffd}.txt": .ignoredName, "folder.json": .settling, "slow.yaml": .settling,
                "open.json": .beingWritten,
            ])
        #expect(report.files.compactMap(\.nameBytes) == ["66fc2e747874"])
        #expect(report.counts["ignored-name"] == 4)
        #expect(report.files.allSatisfy { !$0.message.isEmpty && !$0.help.isEmpty })

        // What nobody tells of: files taken back by their owners.
        for file in fixture.spool.list("inbox") where file != "notes.txt" {
            try? FileManager.default.removeItem(at: inbox.appending(path: file))
        }
        let last = try await fixture.waitForReport(daemon, "two files") { $0.total == 2 }
        let since = try #require(report.files.first { $0.name == "notes.txt" }?.since)
        #expect(last.files.first { $0.name == "notes.txt" }?.since == since)

        #expect(try await daemon.stop() == .exited(0))
        let end = try #require(try fixture.report())
        #expect(!end.claiming)
        #expect(end.why?.code == "stopped")
    }

    /// Whether a file can be made that the daemon may not take: root reads everything, but moves nothing that
    /// is immutable, where the file system knows that.
    private static func makeUntakable(_ path: String, _ isOn: Bool) -> Bool {
        guard geteuid() == 0 else { return chmod(path, isOn ? 0 : 0o644) == 0 }
        let words = [isOn ? "+i" : "-i", path]
        return (try? SystemProgram.run("/usr/bin/chattr", words))?.status == 0
    }

    private static let canMakeUntakable: Bool = {
        guard let scratch = try? ScratchDirectory() else { return false }
        let path = scratch.path + "/file"
        return FileManager.default.createFile(atPath: path, contents: nil)
            && makeUntakable(path, true) && makeUntakable(path, false)
    }()

    @Test(.enabled(if: canMakeUntakable, "root can take every file on this file system"))
    func tellsWhatItMayNotTake() async throws {
        let fixture = try DaemonFixture()
        try fixture.spool.makeFolders()
        let path = fixture.spool.root.appending(path: "inbox/secret.json").path
        try fixture.drop("secret", images: [("a", fixture.url("0.png"))])
        try #require(Self.makeUntakable(path, true))
        defer { _ = Self.makeUntakable(path, false) }
        let daemon = try await fixture.run()
        let report = try await fixture.waitForReport(daemon, "the file") {
            $0.counts["unreadable"] == 1
        }
        #expect(report.files.first?.message.contains("cannot") == true)
        #expect(report.files.first?.help.contains("chmod g+r") == true)
        #expect(report.claiming)
        try await daemon.waitForStatusText(
            "Idle; 0 batches finished since the start; 1 file in the inbox cannot be taken "
                + "(1 unreadable)")
        #expect(Self.makeUntakable(path, false))
        try await fixture.complete("secret", daemon)
    }

    @Test func saysWhatToDoWithAPicture() async throws {
        let (fixture, daemon) = try await DaemonFixture.running()
        for name in ["IMG_0001.jpg", "b.HEIC"] { try fixture.spool.drop(name, "") }
        let report = try await fixture.waitForReport(daemon, "the pictures") {
            $0.counts["picture"] == 2
        }
        #expect(reasons(report) == ["IMG_0001.jpg": .picture, "b.HEIC": .picture])
        #expect(report.files.allSatisfy { $0.help.contains("sources.roots") })
        try await daemon.says("inbox/IMG_0001.jpg is not taken: it is a picture")
        try await daemon.waitForStatusText(
            "Idle; 0 batches finished since the start; 2 files in the inbox cannot be taken "
                + "(2 picture)")
        for name in ["IMG_0001.jpg", "b.HEIC"] {
            try fixture.spool.remove("inbox/\(name)")
        }
        try await daemon.waitUntil("the end of it") {
            $0.statusText == "Idle; 0 batches finished since the start"
        }
    }

    // MARK: Metrics

    private func metrics(_ fixture: DaemonFixture) throws -> Exposition {
        let url = fixture.documents.url.appending(path: "darkroom.prom")
        return try Exposition(String(contentsOf: url, encoding: .utf8))
    }

    private func settings(_ fixture: DaemonFixture) -> [String: String] {
        [
            "metrics.textfile": fixture.documents.path + "/darkroom.prom", "metrics.interval": "1s",
            "downloads.concurrency": "4",
        ]
    }

    @Test func metricsAddUpToWhatTheManifestsSay() async throws {
        let fixture = try DaemonFixture(pictures: DaemonFixture.many)
        let daemon = try await fixture.run(settings(fixture))
        try fixture.drop("good", images: (0..<12).map { ("\($0)", fixture.url("\($0).png")) })
        try fixture.drop(
            "mixed", images: [("a", fixture.url("0.png")), ("b", fixture.url("none.png"))])
        try fixture.spool.drop("bad.json", "{\"imagse\": []}")
        try fixture.drop("slow", images: fixture.slowImages())
        _ = try await fixture.spool.waitForStatus(of: "slow", daemon, filtered: 4)
        // Each resumption looks through the inbox, and must not take what it finds for missed.
        for id in 0..<5 {
            try await daemon.pause()
            try fixture.drop("x\(id)", images: [("a", fixture.url("\(id).png"))])
            daemon.send(SIGUSR2)
            try await daemon.waitUntil("the resumption") { !$0.statusText.hasPrefix("Paused") }
        }
        try fixture.spool.drop("slow.cancel", "")
        var statuses: [Status] = []
        for id in ["good", "mixed", "bad", "slow"] + (0..<5).map({ "x\($0)" }) {
            statuses.append(try await fixture.spool.finish(id, daemon))
        }
        // While it runs, the file is there too.
        try await daemon.waitUntil("the metrics") { _ in
            try metrics(fixture).value("darkroom_manifests_accepted_total") == 8
        }
        #expect(try metrics(fixture).value("darkroom_up") == 1)
        #expect(try await daemon.stop() == .exited(0))

        let found = try metrics(fixture)
        #expect(try found.value("darkroom_up") == 0)
        #expect(try found.value("darkroom_manifests_accepted_total") == 8)
        for state in BatchState.allCases where state.isFinal {
            #expect(
                try found.value("darkroom_manifests_total", ["state": state.rawValue])
                    == Double(statuses.count { $0.state == state }))
        }
        let images = statuses.flatMap(\.images)
        for state in [ImageState.filtered, .failed, .cancelled] {
            #expect(
                try found.value("darkroom_images_total", ["state": state.rawValue])
                    == Double(images.count { $0.state == state }))
        }
        let failures = images.filter { $0.state == .failed }.compactMap(\.error?.code)
        #expect(failures == ["http-status"])
        #expect(try found.value("darkroom_image_failures_total", ["code": "http-status"]) == 1)
        let written = images.compactMap(\.output?.bytes).reduce(0, +)
        #expect(try found.value("darkroom_written_bytes_total") == Double(written))
        let fetched = try found.value("darkroom_stage_seconds_count", ["stage": "downloading"])
        #expect(fetched >= Double(images.count { $0.state == .filtered }))
        #expect(
            try found.value("darkroom_downloaded_bytes_total") == fetched
                * Double(DaemonFixture.picture.count))
        let filtered = try found.value("darkroom_stage_seconds_count", ["stage": "filtering"])
        #expect(filtered >= Double(images.count { $0.state == .filtered }) && filtered <= fetched)
        #expect(try found.value("darkroom_stage_seconds_sum", ["stage": "publishing"]) > 0)
        #expect(found.sum("darkroom_batches") == 0)
        #expect(found.sum("darkroom_images_in_work") == 0)
        #expect(found.sum("darkroom_queue_length") == 0)
        #expect(found.sum("darkroom_inbox_files") == 0)
        #expect(try found.value("darkroom_inotify_overflows_total") == 0)
        #expect(try found.value("darkroom_scan_found_total") == 0)
    }

    private static let queuedEvents: Int = {
        let text = try? String(
            contentsOfFile: "/proc/sys/fs/inotify/max_queued_events", encoding: .utf8)
        return text.flatMap { Int($0.trimmingCharacters(in: .whitespacesAndNewlines)) } ?? .max
    }()

    @Test(.enabled(if: queuedEvents <= 16_384, "inotify keeps too many events here"))
    func countsWhatEventsHadMissed() async throws {
        let fixture = try DaemonFixture()
        let daemon = try await fixture.run(settings(fixture))
        // What the first scan finds no event could have told.
        _ = try await fixture.waitForReport(daemon, "the first scan") { $0.scanned != nil }
        daemon.send(SIGSTOP)
        try await eventually("the daemon to stand still") { try isStopped(daemon) ? true : nil }
        // Each is made and closed, which are two events.
        let inbox = fixture.spool.root.appending(path: "inbox").path
        let count = Self.queuedEvents / 2 + 100
        for index in 0..<count { close(creat("\(inbox)/\(index).part", 0o644)) }
        for id in ["a", "b", "c"] { try fixture.drop(id, images: [("a", fixture.url("0.png"))]) }
        daemon.send(SIGCONT)
        for id in ["a", "b", "c"] {
            try await fixture.complete(id, daemon)
        }
        #expect(try await daemon.stop() == .exited(0))
        let found = try metrics(fixture)
        #expect(try found.value("darkroom_inotify_overflows_total") >= 1)
        #expect(try found.value("darkroom_scan_found_total") == 3)
        let report = try #require(try fixture.report())
        #expect(report.files.count == 1000)
        #expect(report.counts["ignored-name"] == count)
    }

    private func isStopped(_ daemon: DaemonProcess) throws -> Bool {
        let status = try String(
            contentsOfFile: "/proc/\(daemon.identifier)/status", encoding: .utf8)
        return status.contains("State:\tT")
    }

    /// What happens to each image is told to those who look for trouble, and to nobody else.
    @Test(arguments: ["debug", "info"])
    func tellsOfEachImageForDebugging(level: String) async throws {
        let (fixture, daemon) = try await DaemonFixture.running(["log.level": level])
        try await fixture.complete("x", images: [("a", fixture.url("0.png"))], daemon)
        #expect(try await daemon.stop() == .exited(0))
        let lines = daemon.outputText.split(separator: "\n")
        #expect(
            lines.contains { $0.contains("x: a: ") && $0.contains(" fetched") }
                == (level == "debug"))
        #expect(lines.contains { $0.contains("x: a filtered, ") } == (level == "debug"))
        #expect(lines.contains { $0.contains("x begins: 1 image to process") })
    }

    @Test func saysOnceThatTheMetricsCannotBeWritten() async throws {
        let fixture = try DaemonFixture()
        let folder = fixture.documents.url.appending(path: "later")
        let daemon = try await fixture.run([
            "metrics.textfile": folder.path + "/darkroom.prom", "metrics.interval": "1s",
        ])
        try await daemon.says("cannot be written: ")
        try FileManager.default.makeFolder(at: folder)
        try await daemon.waitUntil("the metrics") { _ in
            fixture.documents.exists("later/darkroom.prom")
        }
        #expect(daemon.outputText.components(separatedBy: "cannot be written: ").count == 2)
    }
}
