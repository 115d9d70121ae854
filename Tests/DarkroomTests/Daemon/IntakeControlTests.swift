import Foundation
import Testing

@testable import DarkroomAnswer
@testable import DarkroomCore
@testable import DarkroomDaemon
@testable import DarkroomFixtures

/// Control files in the inbox.
struct IntakeControlTests {
    private func started(settle: Double = 60) throws -> IntakeFixture {
        try IntakeFixture(settle: settle).started()
    }

    @Test func actsOnABatchInWorkAndGoes() async throws {
        let fixture = try started()
        fixture.base.holdOperations()
        try fixture.drop("a.json")
        try await fixture.wait(for: .batchClaimed)
        for (command, state) in [("hold", BatchState.held), ("release", .pending)] {
            try fixture.drop(FileName("a.\(command)"), "")
            try await fixture.wait(for: "\(command)") { try fixture.names == [] }
            // It is removed when a restart would remember it.
            let control = try fixture.base.journaledControl("a")
            #expect(control == (state == .held ? .held : .free))
        }
        try fixture.drop("a.cancel", "")
        try await fixture.wait(for: "the end") { try fixture.names == [] }
        fixture.base.releaseOperations()
        try await fixture.finish()
        #expect(try fixture.base.finished == ["a": .cancelled])
    }

    /// One that was there first acts before any image begins.
    @Test func actsWithItsManifest() async throws {
        let fixture = try started()
        try fixture.drop("a.hold", "")
        try await fixture.catchUp()
        #expect(try fixture.names == ["a.hold"])
        try fixture.drop("a.json")
        try await fixture.wait(for: .batchHeld)
        try await fixture.finish()
        try await fixture.wait(for: "its removal") { try fixture.names == [] }
        #expect(try fixture.base.status("a")?.state == .held)
        #expect(!fixture.base.fetched.contains("a"))
    }

    /// A manifest beside it is claimed before others.
    @Test func claimsTheManifestThatItMeans() async throws {
        let fixture = try IntakeFixture()
        try fixture.drop("a.json")
        try fixture.drop("b.json")
        try fixture.age("a.json", by: 20)
        try fixture.age("b.json", by: 10)
        try fixture.drop("b.cancel", "")
        try fixture.start()
        try await fixture.wait(for: .batchClaimed, count: 2)
        #expect(fixture.claimed == ["b.json", "a.json"])
        try await fixture.finish()
        #expect(try fixture.base.finished == ["a": .completed, "b": .cancelled])
    }

    /// Nothing of its name has come until then.
    @Test func goesWhenItMeansNothing() async throws {
        let fixture = try started(settle: 6000)
        try fixture.drop("a.cancel", "")
        try await fixture.catchUp()
        #expect(try fixture.names == ["a.cancel"])
        fixture.time.advance(by: 5900)
        #expect(fixture.journal.all(.controlIdle).isEmpty)
        fixture.time.advance(by: 200)
        try await fixture.wait(for: .controlIdle)
        #expect(
            fixture.journal.all(.controlIdle).last?.message.contains("there is no such batch")
                == true)
        try await fixture.wait(for: "its removal") { try fixture.names == [] }
    }

    @Test func waitsForAManifestThatMayNotBeComplete() async throws {
        // A file's age goes by the real time, which a busy machine makes long.
        let fixture = try started(settle: 86_400)
        try fixture.writeInPlace("a.json", IntakeFixture.half)
        try await fixture.catchUp()
        try fixture.drop("a.hold", "")
        try await fixture.catchUp()
        #expect(try fixture.reason("a.hold") == .waitsForItsManifest)
        try fixture.writeInPlace("a.json", #", "source": "s"}]}"#)
        // Whichever of the two is looked at first, it is held from the first.
        fixture.time.advance(by: 1)
        try await fixture.wait(for: .batchHeld)
        try await fixture.finish()
        #expect(try fixture.base.status("a")?.state == .held)
    }

    @Test func takesUpAFinishedBatchAgain() async throws {
        let fixture = try started()
        let missing = #"{"images": [{"name": "i", "source": "late"}]}"#
        try fixture.drop("a.json", missing)
        try await fixture.wait(for: .batchFinished)
        #expect(try fixture.base.finished == ["a": .completedWithErrors])
        try fixture.base.setSource("late", SchedulerFixture.picture)
        try fixture.drop("a.retry", "")
        try await fixture.wait(for: .batchFinished, count: 2)
        #expect(try fixture.base.finished == ["a": .completed])
        try await fixture.wait(for: "its removal") { try fixture.names == [] }
        #expect(fixture.journal.all(.batchReopened).count == 1)
        // Now there is nothing left to be done.
        try fixture.drop("a.retry", "")
        try await fixture.wait(for: .controlIdle)
        #expect(try fixture.base.status("a")?.retries == 1)
    }

    /// A further link may be anybody's, and says nothing of the owner's wishes.
    @Test func obeysNoFileThatHasAnotherName() async throws {
        let fixture = try started()
        fixture.base.holdOperations()
        try fixture.drop("a.json")
        try await fixture.wait(for: .batchClaimed)
        let tmp = fixture.spool.tmp
        try tmp.write([], to: "other", durably: false)
        try #require(
            link(tmp.path + "/other", fixture.spool.root.path + "/inbox/a.cancel") == 0)
        try await fixture.wait(for: .notTaken)
        #expect(try fixture.reason("a.cancel") == .unreadable)
        #expect(fixture.journal.all(.batchCancelled).isEmpty)
        // It is looked at again, for no event tells that it has become its owner's.
        try tmp.remove("other")
        fixture.time.advance(by: 10)
        try await fixture.wait(for: .batchCancelled)
        fixture.base.releaseOperations()
    }

    /// Many that mean nothing keep one waiting for a moment that does.
    @Test func oneThatCanActGoesBeforeOthers() async throws {
        let fixture = try started()
        fixture.base.holdOperations()
        try fixture.drop("a.json")
        try await fixture.wait(for: .batchClaimed)
        fixture.intake.queue.suspend()
        for index in 0..<200 { try fixture.drop(FileName("none\(index).cancel"), "") }
        try fixture.drop("a.cancel", "")
        fixture.intake.queue.resume()
        try await fixture.wait(for: .batchCancelled)
        #expect(fixture.journal.all(.controlIdle).isEmpty)
        fixture.base.releaseOperations()
    }
}
