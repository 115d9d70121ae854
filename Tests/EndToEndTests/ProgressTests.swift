import DarkroomAnswer
import Foundation
import Glibc
import TestSupport
import Testing

/// What anybody can poll: progress.json of each batch, and queue.json.
@Suite(.fewAtATime) struct ProgressTests {
    private func progress(_ fixture: DaemonFixture, _ id: String) throws -> BatchProgress? {
        let path = "outbox/\(id)/progress.json"
        guard fixture.spool.exists(path) else { return nil }
        let bytes = try fixture.spool.bytes(path)
        #expect(bytes.count <= BatchProgress.capacity)
        let progress: BatchProgress = try #require(BatchProgress(decoding: bytes))
        return progress
    }

    private func waitForProgress(
        _ fixture: DaemonFixture, _ id: String, _ daemon: DaemonProcess, _ what: String,
        until condition: (BatchProgress) -> Bool
    ) async throws -> BatchProgress {
        try await daemon.waitFor(
            "progress.json of \(id) to tell of \(what)", { try progress(fixture, id) },
            until: condition)
    }

    private func queue(_ fixture: DaemonFixture) throws -> QueueReport {
        try JSONDecoder().decode(
            QueueReport.self, from: Data(try fixture.spool.bytes("queue.json")))
    }

    private func waitForQueue(
        _ fixture: DaemonFixture, _ daemon: DaemonProcess, _ what: String,
        until condition: (QueueReport) -> Bool
    ) async throws -> QueueReport {
        try await daemon.waitFor(
            "queue.json to tell of \(what)", { try queue(fixture) }, until: condition)
    }

    /// Whether a process holds the lock of the spool, as a client finds out.
    private func isLocked(_ fixture: DaemonFixture) throws -> Bool {
        let lock = open("\(fixture.spool.path)/lock", O_RDONLY | O_CLOEXEC)
        try #require(lock >= 0)
        defer { close(lock) }
        return flock(lock, LOCK_SH | LOCK_NB) != 0
    }

    // MARK: progress.json

    @Test func movesDuringASlowBatch() async throws {
        let fixture = try DaemonFixture(pictures: DaemonFixture.many)
        let file = try ConfigurationText("downloads: {concurrency: 2}\nstatus: {interval: 1h}\n")
        let daemon = try await fixture.run(arguments: ["--config", file.path])
        try fixture.drop("slow", images: fixture.slowImages())
        // It is there as soon as the folder is.
        try await daemon.waitUntil("the receipt") { _ in fixture.spool.exists("outbox/slow") }
        #expect(try progress(fixture, "slow")?.counts.total == DaemonFixture.many)
        let early = try await waitForProgress(fixture, "slow", daemon, "some images") {
            $0.counts.filtered >= 3 && $0.secondsLeft != nil
        }
        #expect(early.state == .processing && early.waiting == nil && early.outputBytes > 0)
        #expect(try #require(early.imagesPerSecond) > 0)
        #expect(try #require(early.bytesPerSecond) > 0)
        let later = try await waitForProgress(fixture, "slow", daemon, "more images") {
            $0.counts.filtered > early.counts.filtered
        }
        #expect(later.outputBytes > early.outputBytes && later.written > early.written)
        // The status has not been written since the receipt.
        #expect(try fixture.spool.status(of: "slow")?.state == .pending)

        try file.write("downloads: {concurrency: 32}\nstatus: {interval: 1h}\n")
        try await daemon.reload()
        let status = try await fixture.spool.finish("slow", daemon)
        // This compares the last progress with the status.
        try fixture.checkCompleted(status)
        #expect(try await daemon.stop() == .exited(0))
    }

    @Test func isCorrectedAfterAKill() async throws {
        let fixture = try DaemonFixture(pictures: DaemonFixture.many)
        let settings = ["downloads.concurrency": "2"]
        let first = try await fixture.run(settings)
        try fixture.drop("slow", images: fixture.slowImages())
        _ = try await waitForProgress(fixture, "slow", first, "some images") {
            $0.counts.filtered >= 3
        }
        try await first.killAtOnce()
        let left = try #require(try progress(fixture, "slow"))
        // As after a crash of the machine, which may lose what was not synced.
        try fixture.spool.remove("outbox/slow/progress.json")
        // While it is paused, no image can be done again.
        try fixture.spool.write([], to: "paused")
        let second = try await fixture.run(["downloads.concurrency": "32"])
        let anew = try await waitForProgress(fixture, "slow", second, "its former images") {
            $0.counts.filtered >= left.counts.filtered
        }
        #expect(anew.outputBytes >= left.outputBytes)
        #expect(try queue(fixture).state == .paused)
        second.send(SIGUSR2)
        try await fixture.complete("slow", second)
        #expect(try await second.stop() == .exited(0))
    }

    // MARK: queue.json

    @Test func tellsBusyPausedStoppedAndKilledApart() async throws {
        let fixture = try DaemonFixture(pictures: DaemonFixture.many)
        let settings = ["downloads.concurrency": "2"]
        let first = try await fixture.run(settings)
        #expect(try queue(fixture).state == .running && isLocked(fixture))
        try fixture.drop("slow", images: fixture.slowImages())
        let busy = try await waitForQueue(fixture, first, "slow") {
            $0.imagesPerSecond != nil && $0.batches.first?.secondsLeft != nil
        }
        #expect(busy.batches.map(\.id) == ["slow"] && busy.counts.processing == 1)
        #expect(busy.batches[0].state == .processing && busy.batches[0].waiting == nil)
        #expect(busy.images.total == DaemonFixture.many && busy.daemon.uid == geteuid())
        #expect(busy.limits.images == 200_000)
        #expect(busy.limits.defaultFilters == "[{sepia: {intensity: 0.8}}]")

        first.send(SIGUSR1)
        let paused = try await waitForQueue(fixture, first, "the pause") { $0.state == .paused }
        #expect(try isLocked(fixture) && paused.batches.map(\.waiting) == ["paused"])
        first.send(SIGUSR2)
        _ = try await waitForQueue(fixture, first, "the end of the pause") {
            $0.state == .running && $0.batches.map(\.waiting) == [nil]
        }
        try await first.killAtOnce()
        // It said that it runs, and nobody holds the lock.
        #expect(try queue(fixture).state == .running && !isLocked(fixture))

        let second = try await fixture.run(settings)
        let running = try await waitForQueue(fixture, second, "the next daemon") {
            $0.daemon.process != busy.daemon.process && $0.batches.first?.state == .processing
        }
        #expect(running.state == .running)
        #expect(try await second.stop() == .exited(0))
        let stopped = try queue(fixture)
        #expect(try stopped.state == .stopped && !isLocked(fixture))
        #expect(stopped.batches.map(\.id) == ["slow"])
        #expect(stopped.batches.map(\.waiting) == ["stopped"])
        #expect(try progress(fixture, "slow")?.waiting?.code == "stopped")
    }

    @Test(.enabled(if: SmallDisk.isAvailable, "only root can mount a small file system"))
    func saysThatItWaitsForTheDisk() async throws {
        let disk = try SmallDisk(kilobytes: 8192)
        let (fixture, daemon) = try await DaemonFixture.running(
            pictures: 40, spool: SpoolFixture(root: disk.root))
        try disk.fill(butFor: 200)
        try fixture.drop("slow", images: (0..<40).map { ("\($0)", fixture.url("\($0).png")) })
        let waiting = try await waitForQueue(fixture, daemon, "the disk") { $0.state == .waiting }
        #expect(waiting.waiting?.code == "disk-full" && waiting.batches.map(\.id) == ["slow"])
        #expect(waiting.batches.map(\.waiting) == ["disk-full"])
        disk.empty()
        try await fixture.complete("slow", daemon)
        let idle = try await waitForQueue(fixture, daemon, "the end") { $0.batches.isEmpty }
        #expect(idle.state == .running && idle.waiting == nil && idle.counts == .init())
        #expect(try await daemon.stop() == .exited(0))
    }
}
