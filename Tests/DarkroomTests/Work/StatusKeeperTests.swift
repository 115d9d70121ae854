import Foundation
import TestSupport
import Testing

@testable import DarkroomBoard
@testable import DarkroomFixtures
@testable import DarkroomSpool
@testable import DarkroomWork

/// When the statuses of batches are written, which the real scheduler has in work.
struct StatusKeeperTests {
    /// A scheduler with so many batches in work, `1`, `2`, …, whose keys these are; their files say that they are pending.
    /// They stay in work, because their sources do not come.
    private func fixture(
        batches count: Int, interval: Double = 0, spoolPath: String? = nil
    ) async throws -> SchedulerFixture {
        let fixture = try SchedulerFixture(spoolPath: spoolPath) {
            $0.statusInterval = interval
            $0.perHost = 16
        }
        let origin = try fixture.origin()
        for index in 1...count { try fixture.accept("\(index)", origin: origin) }
        try await fixture.wait(for: "the requests") {
            origin.requests.count == count && fixture.scheduler.runningCount == count
        }
        return fixture
    }

    /// The batches whose status was written since they were accepted.
    private func written(_ fixture: SchedulerFixture) throws -> [String] {
        try fixture.spool.outbox.names().map(\.text).filter {
            try fixture.status($0)?.state == .processing
        }.sorted()
    }

    // MARK: In the middle of the work

    @Test func writesAFileOnceAnInterval() async throws {
        let fixture = try await fixture(batches: 1, interval: 10)
        // The receipt is there, so the first rewriting waits, too.
        fixture.time.advance(by: 9)
        #expect(try written(fixture) == [])
        fixture.time.advance(by: 1)
        #expect(try written(fixture) == ["1"])
        let first = try fixture.outputIdentities("1")["status.json"]
        fixture.scheduler.statusChanged(1)
        fixture.time.advance(by: 9)
        #expect(try fixture.outputIdentities("1")["status.json"] == first)
        fixture.time.advance(by: 1)
        #expect(try fixture.outputIdentities("1")["status.json"] != first)
        // What has not changed is not written.
        let second = try fixture.outputIdentities("1")["status.json"]
        fixture.time.advance(by: 100)
        #expect(try fixture.outputIdentities("1")["status.json"] == second)
    }

    /// What takes long to write is written seldom: a twentieth of the time at most.
    @Test func writesALargeFileSeldom() async throws {
        let fixture = try await fixture(batches: 1)
        fixture.time.step = 0.5
        fixture.time.advance(by: 1)
        #expect(try written(fixture) == ["1"])
        fixture.time.step = 0
        let first = try fixture.outputIdentities("1")["status.json"]
        fixture.scheduler.statusChanged(1)
        fixture.time.advance(by: 9)
        #expect(try fixture.outputIdentities("1")["status.json"] == first)
        fixture.time.advance(by: 100)
        #expect(try fixture.outputIdentities("1")["status.json"] != first)
    }

    /// Many large statuses may be due at once, and a small batch that has ended has its last one between them.
    @Test func aBatchThatEndsDoesNotWaitForAllThatIsDue() async throws {
        let fixture = try await fixture(batches: 9)
        let queue = fixture.statusKeeper.queue
        queue.suspend()
        // Each takes longer than half of what is written at a time.
        fixture.time.step = 0.06
        let due = Thread { fixture.time.advance(by: 1) }
        due.start()
        try await fixture.wait(for: "the moment") { fixture.time.waits.allSatisfy { $0 > 0.1 } }
        try fixture.accept("small", images: 1)
        try await fixture.wait(for: "its end") {
            fixture.board { $0.batches[10]?.isFinishing == true }
        }
        fixture.committer.drain()
        fixture.committer.drain()
        queue.resume()
        try await fixture.wait(for: .batchFinished)
        #expect(fixture.finishedOrder == ["small"])
        #expect(try written(fixture).count <= 3)
        try await fixture.wait(for: "the others") {
            fixture.time.advance(by: 10)
            return try written(fixture).count == 9
        }
    }

    /// A status that the disk refuses waits for the guard, not for a time of its own.
    @Test(.enabled(if: SmallDisk.isAvailable, "only root can mount a small file system"))
    func aRefusedStatusWaitsForTheDisk() async throws {
        let disk = try SmallDisk(kilobytes: 4096)
        let fixture = try await fixture(batches: 2, spoolPath: disk.root.path)
        // Nothing is to be due but statuses.
        fixture.statusKeeper.progress.close()
        let mayBeDue = { fixture.time.waits.contains { $0 < 0.1 } }
        try disk.setFreeFiles(0)
        fixture.time.advance(by: 0.01)
        try await fixture.wait(for: .storageWaits)
        // The statuses that say why are tried, too, and then nothing waits but the guard.
        try await fixture.wait(for: "rest") {
            fixture.time.advance(by: 0.001)
            fixture.statusKeeper.queue.sync {}
            return !mayBeDue()
        }
        #expect(try written(fixture) == [])
        try disk.setFreeFiles(nil)
        fixture.time.advance(by: 1)
        // They are due a moment later, which may be within that second.
        let statuses = ["1", "2"]
        try await fixture.wait(for: "the time of the statuses") {
            try mayBeDue() || written(fixture) == statuses
        }
        fixture.time.advance(by: 0.1)
        #expect(try written(fixture) == statuses)
        // The first ones may have been written while the guard still tried.
        try await fixture.wait(for: "a status without a reason") {
            fixture.time.advance(by: 0.1)
            return try fixture.status("1")?.waiting == nil
        }
    }

    // MARK: The last status

    /// What concerns one batch alone keeps no other from ending, and is told of once.
    @Test func aBatchThatCannotBeAnsweredIsTriedAgain() async throws {
        let fixture = try SchedulerFixture()
        fixture.holdOperations()
        try fixture.accept("a", images: 1)
        try fixture.accept("b", images: 1)
        let outbox = try BatchFolders(spool: fixture.spool, id: "a").outbox()
        try outbox.remove("status.json")
        try outbox.makeDirectory("status.json")
        try outbox.write([1], to: "status.json/in-the-way", durably: false)
        fixture.releaseOperations()
        try await fixture.wait(for: .storageFailed)
        try await fixture.wait(for: .batchFinished)
        #expect(fixture.finishedOrder == ["b"] && fixture.storage.mayWork)
        for _ in 0..<3 { fixture.time.advance(by: 5) }
        #expect(fixture.journal.all(.storageFailed).count == 1)
        try outbox.removeTree("status.json")
        fixture.time.advance(by: 5)
        try await fixture.wait(for: .batchFinished, count: 2)
        #expect(try fixture.status("a")?.state == .completed)
    }

    /// The last status is written with the guard's attempt, and is written once.
    @Test(.enabled(if: SmallDisk.isAvailable, "only root can mount a small file system"))
    func aRefusedEndWaitsForTheDisk() async throws {
        let disk = try SmallDisk(kilobytes: 4096)
        let fixture = try SchedulerFixture(spoolPath: disk.root.path)
        fixture.statusKeeper.queue.suspend()
        for id in ["a", "b"] { try fixture.accept(id, images: 1) }
        try await fixture.wait(for: "their ends") {
            fixture.board { board in
                board.batches.count == 2 && board.batches.values.allSatisfy(\.isFinishing)
            }
        }
        fixture.committer.drain()
        fixture.committer.drain()
        try disk.setFreeFiles(0)
        fixture.statusKeeper.queue.resume()
        try await fixture.wait(for: .storageWaits)
        fixture.statusKeeper.queue.sync {}
        // The attempt has planned the next one when it has ended.
        fixture.committer.drain()
        #expect(fixture.finishedOrder == [])
        try disk.setFreeFiles(nil)
        fixture.time.advance(by: 1)
        try await fixture.wait(for: .batchFinished, count: 2)
        #expect(fixture.isIdle && fixture.journal.all(.batchFinished).count == 2)
    }

    // MARK: A stop

    @Test func leavesEachStatusOnce() async throws {
        let fixture = try await fixture(batches: 3)
        let keeper = fixture.statusKeeper
        keeper.close()
        // What changes while what runs is finished is written at the end, besides what is asked for.
        for key in 1...3 { fixture.scheduler.statusChanged(key) }
        keeper.leave([2], fixture.scheduler, before: .max)
        #expect(try written(fixture) == ["1", "2", "3"])
        let identity = { try fixture.outputIdentities($0)["status.json"] }
        let before = try ["1", "2", "3"].map(identity)
        keeper.leave([], fixture.scheduler, before: .max)
        #expect(try ["1", "2", "3"].map(identity) == before)
    }

    /// Writing one takes longer than there is time for all. It is broken off, however many images it has.
    @Test func leavesNoMoreThanThereIsTimeFor() async throws {
        let fixture = try await fixture(batches: 3)
        let keeper = fixture.statusKeeper
        keeper.close()
        fixture.time.step = 0.02
        keeper.leave([1, 2, 3], fixture.scheduler, before: fixture.time.now + 30_000_000)
        #expect(try written(fixture) == [])
        keeper.leave([1, 2, 3], fixture.scheduler, before: 0)
        #expect(try written(fixture) == [])
        keeper.leave([1, 2, 3], fixture.scheduler, before: .max)
        #expect(try written(fixture) == ["1", "2", "3"])
    }

    /// What is due when the daemon is asked to stop is not waited for, nor is the one that is being written.
    @Test func stopsInTheMiddleOfWhatIsDue() async throws {
        let fixture = try await fixture(batches: 9)
        let keeper = fixture.statusKeeper
        // Once it looks what is due, and once for each that it begins.
        fixture.time.afterReads(3) { keeper.close() }
        fixture.time.advance(by: 1)
        #expect(try written(fixture) == [])
        keeper.leave([], fixture.scheduler, before: 0)
        #expect(try written(fixture) == [])
        keeper.leave([], fixture.scheduler, before: .max)
        #expect(try written(fixture) == (1...9).map { "\($0)" })
    }
}
