import DarkroomAnswer
import DarkroomCore
import Foundation
import TestSupport
import Testing

/// Signals to `darkroom run`, a second run in its folder, and a disk that is full.
@Suite(.fewAtATime) struct RunSignalTests {
    /// Sources that take the origin a good while.
    private func begin(
        _ fixture: DaemonFixture, _ words: [String] = [], before: String = ":",
        terminal: PseudoTerminal? = nil
    ) throws -> ClientProcess {
        let images = fixture.slowImages().map { "\($0.name): '\($0.source)'\n  " }
        try fixture.write("images:\n  \(images.joined())", to: "slow.yaml")
        return try ClientProcess(
            [
                "run", "slow.yaml", "-o", "out", "--set", "downloads.concurrency=2", "--set",
                "downloads.allowNetworks=[127.0.0.0/8]",
            ] + words, folder: fixture.documents.path, before: before,
            environment: ["TERM": "xterm"],
            terminal: terminal)
    }

    private func status(_ fixture: DaemonFixture) throws -> Status? {
        guard fixture.documents.exists("out/status.json") else { return nil }
        return Status(decoding: try fixture.documents.bytes("out/status.json"))
    }

    /// Waits until more images are filtered than so many.
    private func waitForImages(
        _ count: Int, _ fixture: DaemonFixture, _ run: ClientProcess
    ) async throws {
        try await eventually("further images", context: { run.text("errors") }) {
            (try status(fixture)?.counts.filtered ?? 0) > count ? true : nil
        }
    }

    /// Waits until some images are done and others are in work.
    private func waitForWork(_ fixture: DaemonFixture, _ run: ClientProcess) async throws {
        try await eventually("images in work", context: { run.text("errors") }) {
            let counts = try status(fixture)?.counts
            return counts.map { $0.filtered > 0 && $0.downloading > 0 } == true ? true : nil
        }
    }

    @Test(arguments: [SIGINT, SIGTERM, SIGHUP, SIGUSR1])
    func aSignalStopsItAndTheNextRunContinues(signal: CInt) async throws {
        let fixture = try DaemonFixture(pictures: DaemonFixture.many)
        let run = try begin(fixture, ["--progress", "none"])
        try await waitForWork(fixture, run)
        run.send(signal)
        let result = try await run.result()
        #expect(result.exit == 75 && result.output == "")
        let name = [SIGINT: "SIGINT", SIGTERM: "SIGTERM", SIGHUP: "SIGHUP", SIGUSR1: "SIGUSR1"]
        let lines = result.errors.split(separator: "\n").map(String.init)
        try #require(lines.count == 2, "\(result)")
        #expect(lines[0].hasPrefix("darkroom: stopped by \(name[signal] ?? "?"); "))
        #expect(lines[0].hasSuffix(" of \(DaemonFixture.many) images done"))
        #expect(lines[1] == "darkroom: The same command continues.")
        let stopped = try #require(try status(fixture))
        #expect(stopped.state == .processing && stopped.waiting?.code == "stopped")
        #expect(
            stopped.waiting?.message == "darkroom run was stopped; run it again to continue")
        let done = stopped.images.filter { $0.state == .filtered }
        #expect(!done.isEmpty)
        // Nothing that was done is done again.
        let second = try begin(fixture, ["--progress", "none", "--json"])
        try await waitForImages(done.count + 1, fixture, second)
        second.send(SIGTERM)
        try await second.result().shows(
            exit: 75,
            output: .has(
                #""exit":75"#,
                #""error":{"code":"stopped","message":"stopped by SIGTERM","retryable":true}"#))
        let later = try #require(try status(fixture))
        for image in done { #expect(later.images.contains(image)) }
    }

    @Test func aSecondSignalDoesNotWait() async throws {
        let fixture = try DaemonFixture(pictures: DaemonFixture.many)
        let run = try begin(fixture, ["--progress", "none", "--set", "stop.timeout=1d"])
        try await waitForWork(fixture, run)
        run.send(SIGTERM)
        run.send(SIGINT)
        #expect(try await run.result().exit == 75)
        #expect(try status(fixture)?.state == .processing)
    }

    /// At once, as in any program; the next run has nothing to mend. A shell ends it with Ctrl-\\.
    @Test func quitEndsItAtOnce() async throws {
        let fixture = try DaemonFixture(pictures: DaemonFixture.many)
        let run = try begin(
            fixture, ["--progress", "none", "--set", "stop.timeout=1d"], before: "ulimit -c 0")
        try await waitForWork(fixture, run)
        run.send(SIGQUIT)
        try await run.result().expect(exit: 128 + SIGQUIT)
        let status = try #require(try status(fixture))
        #expect(status.state == .processing)
        let second = try begin(fixture, ["--progress", "none"])
        try await waitForImages(status.counts.filtered + 1, fixture, second)
        second.send(SIGTERM)
        #expect(try await second.result().exit == 75)
    }

    /// As with nohup(1).
    @Test func anIgnoredSignalStaysIgnored() async throws {
        let fixture = try DaemonFixture(pictures: DaemonFixture.many)
        let run = try begin(
            fixture, ["--progress", "none", "--set", "stop.timeout=1d"], before: "trap '' HUP")
        try await waitForWork(fixture, run)
        run.send(SIGHUP)
        let done = try #require(try status(fixture)?.counts.filtered)
        try await waitForImages(done + 2, fixture, run)
        run.send(SIGTERM)
        try await run.result().shows(exit: 75, errors: .begins("darkroom: stopped by SIGTERM; "))
    }

    @Test func aSecondRunIsRefused() async throws {
        let fixture = try DaemonFixture(pictures: DaemonFixture.many)
        let run = try begin(fixture, ["--progress", "none"])
        try await waitForWork(fixture, run)
        let second = try await begin(fixture).result()
        #expect(second.exit == 75 && second.output == "")
        let start =
            "darkroom: out is in use by darkroom run on \(Machine.name), process \(run.identifier), since "
        #expect(second.errors.hasPrefix(start), "\(second)")
        second.shows(
            errors: .ends("darkroom: When that process has ended, the same command continues.\n"))
        run.send(SIGTERM)
        #expect(try await run.result().exit == 75)
    }

    @Test func drawsItsProgressOnATerminal() async throws {
        let fixture = try DaemonFixture(pictures: DaemonFixture.many)
        let terminal = try PseudoTerminal(width: 80, height: 24)
        let run = try begin(fixture, terminal: terminal)
        try await eventually("a bar on the terminal", context: { terminal.text }) {
            terminal.text.contains("slow  [") ? true : nil
        }
        try await waitForWork(fixture, run)
        terminal.type("\u{3}")
        #expect(try await run.result().exit == 75)
        let screen = VirtualScreen(width: 80, height: 24)
        screen.feed(terminal.text)
        var lines = screen.lines.map { $0.replacing("^C", with: "") }
        // Unless the run has ended before the next look at its progress.
        if lines.count == 3 {
            #expect(
                lines.removeFirst()
                    == "darkroom: SIGINT: finishes the pictures in work; a second one ends at once")
        }
        #expect(lines.count == 2 && lines[0].hasPrefix("darkroom: stopped by SIGINT; "), "\(lines)")
        #expect(screen.unknown == [])
    }

    /// A daemon would wait for space.
    @Test(.enabled(if: SmallDisk.isAvailable, "only root can mount a small file system"))
    func aFullDiskEndsIt() async throws {
        let fixture = try RunFixture()
        let disk = try SmallDisk(kilobytes: 8192)
        try fixture.write(
            "images: {a: small.png, b: {source: large.png, filters: [{resize: {width: 1000}}]}}\n",
            to: "m.yaml")
        let command = ["m.yaml", "-o", "\(disk.root.path)/out", "--progress", "none"]
        try disk.fill(butFor: 128)
        let result = try await fixture.begin(command).result()
        #expect(result.exit == 74 && result.output == "", "\(result)")
        let lines = result.errors.split(separator: "\n")
        #expect(
            lines.count == 2 && lines[0].contains("No space left on device"), "\(result)")
        #expect(lines.first?.hasSuffix(" of 2 images done") == true, "\(result)")
        #expect(lines.last == "darkroom: Free space first. Then the same command continues.")
        disk.empty()
        #expect(try await fixture.begin(command).result().exit == 0)
    }
}
