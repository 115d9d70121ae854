import Foundation
import TestSupport
import Testing

@testable import DarkroomAnswer
@testable import DarkroomBoard
@testable import DarkroomFixtures
@testable import DarkroomManifest
@testable import DarkroomSpool
@testable import DarkroomWork

/// When `progress.json` is written, and what it says, with the real scheduler. Its statuses are written at the end only.
struct ProgressKeeperTests {
    private func progress(_ fixture: SchedulerFixture, _ id: String = "a") -> BatchProgress? {
        BatchFolders(spool: fixture.spool, id: id).progress()
    }

    private func identity(_ fixture: SchedulerFixture, _ id: String = "a") throws -> FileIdentity {
        try #require(try fixture.outputIdentities(id)["progress.json"])
    }

    /// A scheduler with batch `a` of so many images in work, of which nothing runs yet.
    private func fixture(images: Int = 3, spoolPath: String? = nil) throws -> SchedulerFixture {
        let fixture = try SchedulerFixture(spoolPath: spoolPath)
        fixture.holdOperations()
        try fixture.accept("a", images: images)
        return fixture
    }

    /// The time after which a change is in the file.
    private static let soon = 0.6

    // MARK: In the middle of the work

    /// A status of few images is as small, so they get their progress later.
    @Test(arguments: [(1, false), (16, false), (17, true)])
    func isPartOfTheReceiptOfManyImages(count: Int, isPart: Bool) throws {
        let fixture = try SchedulerFixture()
        let prepared = try fixture.prepare("a", .of(Array(repeating: "s", count: count)))
        guard isPart else {
            #expect(progress(fixture) == nil)
            return
        }
        let shown = try #require(progress(fixture))
        #expect(shown.state == .pending && shown.counts == Status.Counts(new: count))
        #expect(shown.identity == prepared.status.manifest.identity)
        #expect(shown.times == prepared.status.times && shown.outputBytes == 0)
    }

    @Test func isWrittenAboutTwiceASecond() async throws {
        let fixture = try fixture()
        // The receipt has one, or a status that is as small, so the first can wait.
        fixture.time.advance(by: 0.44)
        #expect(progress(fixture) == nil)
        fixture.time.advance(by: 0.11)
        #expect(progress(fixture)?.state == .processing)
        let first = try identity(fixture)
        fixture.releaseOperations(filters: false)
        try await fixture.wait(for: .imageDownloaded, count: 3)
        fixture.time.advance(by: 0.3)
        #expect(try identity(fixture) == first)
        try await fixture.wait(for: "the downloads") {
            fixture.time.advance(by: 0.1)
            return progress(fixture)?.counts.downloaded == 3
        }
        // What says the same is not written.
        let second = try identity(fixture)
        fixture.scheduler.statusChanged(1)
        fixture.time.advance(by: 100)
        #expect(try identity(fixture) == second)
    }

    @Test func endsWithTheStatus() async throws {
        let fixture = try fixture(images: 20)
        fixture.releaseOperations()
        try await fixture.finish()
        let status = try #require(try fixture.status("a"))
        let shown = try #require(progress(fixture))
        #expect(shown.state == .completed && shown.times.finished != nil)
        #expect(shown.saysTheSame(as: BatchProgress(of: status)))
        #expect(shown.outputBytes == status.outputBytes && shown.outputBytes > 0)
        // Nothing is kept, and what comes late changes nothing.
        let last = try identity(fixture)
        fixture.scheduler.statusChanged(1)
        fixture.time.advance(by: 10)
        #expect(try identity(fixture) == last)
        #expect(fixture.statusKeeper.progress.outlooks.isEmpty)
    }

    /// The sums are kept as images end; at the end they are counted in the status.
    @Test func countsOutputsAsTheyEnd() async throws {
        let fixture = try fixture(images: 20)
        // The last status is to be written, and is not yet.
        fixture.statusKeeper.queue.suspend()
        fixture.releaseOperations()
        try await fixture.wait(for: "the end") {
            fixture.board { $0.batches[1]?.isFinishing == true }
        }
        let bytes = fixture.board { $0.batches[1].map { [$0.outputBytes, $0.status.outputBytes] } }
        #expect(bytes?[0] == bytes?[1] && bytes?[0] ?? 0 > 0)
        fixture.statusKeeper.queue.resume()
        try await fixture.finish()
    }

    // MARK: Commands

    @Test func saysThatABatchIsHeld() async throws {
        let fixture = try fixture(images: 20)
        fixture.time.advance(by: Self.soon)
        fixture.obey("a", .hold)
        try await fixture.finish()
        let held = try #require(progress(fixture))
        #expect(held.state == .held && held.commands?.map(\.command) == [.hold])
        #expect(held.imagesPerSecond == nil && held.counts.new == 20)
        #expect(fixture.statusKeeper.progress.outlooks.isEmpty)
        fixture.obey("a", .release)
        try await fixture.wait(for: "its turn") {
            fixture.time.advance(by: Self.soon)
            return progress(fixture)?.state == .processing
        }
        #expect(progress(fixture)?.commands?.map(\.command) == [.hold, .release])
        fixture.releaseOperations()
        try await fixture.finish()
        #expect(progress(fixture)?.state == .completed)
    }

    /// Its numbers are not in memory.
    @Test func saysThatAWaitingBatchIsHeld() async throws {
        let fixture = try SchedulerFixture(board: Board.Bounds(imageBudget: 10))
        fixture.holdOperations()
        try fixture.accept("busy", images: 9)
        try fixture.accept("a", images: 9)
        for (command, state) in [(ControlCommand.hold, BatchState.held), (.release, .pending)] {
            fixture.obey("a", command)
            fixture.scheduler.preparation.sync {}
            let shown = try #require(progress(fixture))
            #expect(shown.state == state && shown.commands?.last?.command == command)
            #expect(shown.counts == Status.Counts(new: 9))
        }
        fixture.releaseOperations()
        try await fixture.finish()
        #expect(progress(fixture)?.state == .completed)
    }

    @Test func saysFromTheReopeningOnThatItContinues() async throws {
        let fixture = try SchedulerFixture()
        try fixture.accept("a", images: 4, missing: ["s3"])
        try await fixture.finish()
        let ended = try #require(progress(fixture))
        #expect(ended.state == .completedWithErrors && ended.retries == nil)
        fixture.holdOperations()
        fixture.scheduler.suspend()
        fixture.scheduler.reopen("a", ControlRecord(.retry, uid: 0)) { outcome in
            if case .reopened = outcome { return }
            Issue.record("it was not reopened: \(outcome)")
        }
        fixture.scheduler.preparation.sync {}
        let reopened = try #require(progress(fixture))
        #expect(reopened.state == .pending && reopened.retries == 1)
        #expect(reopened.counts.filtered == 3 && reopened.counts.new == 1)
        #expect(reopened.outputBytes == ended.outputBytes && reopened.times.finished == nil)
        try fixture.setSource("s3", SchedulerFixture.picture)
        fixture.scheduler.resume()
        fixture.releaseOperations()
        try await fixture.finish()
        #expect(progress(fixture)?.state == .completed && progress(fixture)?.retries == 1)
    }

    // MARK: Waiting

    @Test func saysWhyNothingBegins() async throws {
        // It does not come, so the batch stays in work.
        let fixture = try SchedulerFixture()
        let origin = try fixture.origin()
        try fixture.accept("a", origin: origin)
        try await fixture.wait(for: "the request") { origin.requests.count == 1 }
        fixture.time.advance(by: Self.soon)
        #expect(progress(fixture)?.state == .processing && progress(fixture)?.waiting == nil)
        fixture.scheduler.suspend()
        fixture.time.advance(by: Self.soon)
        #expect(progress(fixture)?.waiting?.code == "paused")
        fixture.scheduler.resume()
        fixture.time.advance(by: Self.soon)
        #expect(progress(fixture)?.waiting == nil)
        fixture.scheduler.close()
        fixture.scheduler.stop(within: 1) {}
        #expect(progress(fixture)?.waiting?.code == "stopped")
        // It is the last word.
        let last = try identity(fixture)
        fixture.scheduler.statusChanged(1)
        fixture.time.advance(by: 10)
        #expect(try identity(fixture) == last)
    }

    // MARK: Refusals

    /// Nothing waits for a progress, nobody is told, and the next change is written.
    @Test(.enabled(if: SmallDisk.isAvailable, "only root can mount a small file system"))
    func aRefusedProgressStopsNothing() throws {
        let disk = try SmallDisk(kilobytes: 4096)
        let fixture = try fixture(spoolPath: disk.root.path)
        let records = fixture.journal.records.count
        try disk.setFreeFiles(0)
        fixture.time.advance(by: Self.soon)
        #expect(progress(fixture) == nil)
        #expect(fixture.storage.mayWork && fixture.journal.records.count == records)
        try disk.setFreeFiles(nil)
        fixture.time.advance(by: 100)
        #expect(progress(fixture) == nil)
        fixture.scheduler.statusChanged(1)
        fixture.time.advance(by: Self.soon)
        #expect(progress(fixture)?.state == .processing)
    }

    /// An old one would say for ever that the batch is in work.
    @Test func aRefusedLastProgressLeavesNone() async throws {
        let fixture = try fixture(images: 17)
        try BatchFolders(spool: fixture.spool, id: "a").active()
            .makeDirectory(BatchFile.newProgress)
        fixture.time.advance(by: Self.soon)
        #expect(progress(fixture)?.state == .pending)
        fixture.releaseOperations()
        try await fixture.finish()
        #expect(try fixture.finished == ["a": .completed])
        #expect(try fixture.outputIdentities("a")["progress.json"] == nil)
        #expect(fixture.journal.all(.storageFailed).isEmpty)
    }

    // MARK: Many batches

    /// Writing takes a fiftieth of the time at most, and each gets its turn.
    @Test func takesLittleTime() throws {
        let fixture = try SchedulerFixture()
        fixture.holdOperations()
        for index in 1...9 { try fixture.accept("\(index)", images: 2) }
        let written = {
            (1...9).count { self.progress(fixture, "\($0)")?.state == .processing }
        }
        // Each look at the clock takes 20 ms: each file some of them.
        fixture.time.step = 0.02
        fixture.time.advance(by: 1)
        let first = written()
        #expect(first > 0 && first < 9)
        fixture.time.advance(by: 1)
        #expect(written() == first)
        fixture.time.advance(by: 100)
        #expect(written() == 9)
    }
}
