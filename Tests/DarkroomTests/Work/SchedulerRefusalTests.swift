import TestSupport
import Testing

@testable import DarkroomAnswer
@testable import DarkroomBoard
@testable import DarkroomFixtures
@testable import DarkroomSpool
@testable import DarkroomWork

/// Commands whose files a disk without room for another file refuses. They go on when the guard's attempt succeeds,
/// one second after the refusal, and nothing moves the time on after that.
@Suite(.enabled(if: SmallDisk.isAvailable, "only root can mount a small file system"))
struct SchedulerRefusalTests {
    let disk: SmallDisk
    let fixture: SchedulerFixture

    init() throws {
        disk = try SmallDisk(kilobytes: 8192)
        fixture = try SchedulerFixture(
            board: Board.Bounds(imageBudget: 10), spoolPath: disk.root.path)
    }

    /// Accepts a batch that waits for another one.
    private func acceptWaiting() throws {
        fixture.holdOperations()
        try fixture.accept("busy", images: 9)
        try fixture.accept("a", images: 9)
        #expect(fixture.board { $0.waitingBatches.waitingCount } == 1)
    }

    /// Holds that batch, and releases it when the disk refuses files.
    private func refuseRelease() async throws {
        try acceptWaiting()
        fixture.obey("a", .hold)
        try await fixture.wait(for: "the status") { try fixture.status("a")?.state == .held }
        fixture.committer.drain()
        fixture.committer.drain()
        try disk.setFreeFiles(0)
        fixture.obey("a", .release)
        try await fixture.wait(for: .storageWaits)
    }

    /// Lets the guard's first attempt succeed. The guard tells of its wait before it plans the attempt.
    private func recover() throws {
        fixture.scheduler.preparation.sync {}
        try disk.setFreeFiles(nil)
        fixture.time.advance(by: 1)
    }

    /// The journal has the command, so the status is the only file that is missing.
    @Test func theStatusOfAWaitingBatchIsAmended() async throws {
        try await refuseRelease()
        #expect(try fixture.status("a")?.state == .held)
        try recover()
        try await fixture.wait(for: "the new status") {
            try fixture.status("a")?.state == .pending
        }
        #expect(try fixture.status("a")?.commands?.map(\.command) == [.hold, .release])
        fixture.releaseOperations()
        try await fixture.finish()
        #expect(try fixture.finished == ["a": .completed, "busy": .completed])
    }

    /// A status that is superseded is not written over a later one.
    @Test func aSupersededStatusIsNotWritten() async throws {
        try await refuseRelease()
        fixture.obey("a", .hold)
        fixture.scheduler.preparation.sync {}
        try recover()
        try await fixture.wait(for: "the new status") {
            try fixture.status("a")?.commands?.count == 3
        }
        fixture.scheduler.preparation.sync {}
        #expect(try fixture.status("a")?.state == .held)
        #expect(try fixture.journaledControl("a") == .held)
    }

    /// A command that has taken effect reaches the journal once, and then only is its file to be removed.
    @Test func aCommandReachesTheJournal() async throws {
        try acceptWaiting()
        try disk.setFreeFiles(0)
        let recorded = Calls<ControlRecord>()
        #expect(
            fixture.scheduler.obey("a", ControlRecord(.hold, uid: 0), recorded: recorded.add)
                == .acts)
        try await fixture.wait(for: .storageWaits)
        fixture.committer.drain()
        fixture.scheduler.preparation.sync {}
        #expect(recorded.all.isEmpty)
        try recover()
        try await fixture.wait(for: "the record") { recorded.all.count == 1 }
        try await fixture.wait(for: "the status") { try fixture.status("a")?.state == .held }
        #expect(try fixture.journaledControl("a") == .held)
        let journal = try ItemJournal.read(
            in: BatchFolders(spool: fixture.spool, id: "a").active())
        #expect(journal.count == 1 && recorded.all.count == 1)
    }

    @Test func aReopeningContinues() async throws {
        try fixture.accept("a", images: 2, missing: ["s1"])
        try await fixture.finish()
        #expect(try fixture.finished == ["a": .completedWithErrors])
        try disk.setFreeFiles(0)
        let answers = Calls<Reopening.Outcome>()
        fixture.scheduler.reopen("a", ControlRecord(.retry, uid: 0), answered: answers.add)
        try await fixture.wait(for: .storageWaits)
        fixture.scheduler.preparation.sync {}
        #expect(answers.all.isEmpty)
        try fixture.setSource("s1", SchedulerFixture.picture)
        try recover()
        try await fixture.wait(for: "the answer") { !answers.all.isEmpty }
        try await fixture.finish()
        #expect(try fixture.finished == ["a": .completed])
        guard case .reopened = answers.all.first, answers.all.count == 1 else {
            Issue.record("\(answers.all)")
            return
        }
        #expect(fixture.journal.all(.batchReopened).count == 1)
    }
}
