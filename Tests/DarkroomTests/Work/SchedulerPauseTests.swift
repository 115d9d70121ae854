import TestPictures
import TestSupport
import Testing

@testable import DarkroomBoard
@testable import DarkroomCore
@testable import DarkroomFetch
@testable import DarkroomManifest
@testable import DarkroomWork

/// Suspending, resuming and stopping.
struct SchedulerPauseTests {
    @Test func beginsNothingWhileSuspended() async throws {
        let fixture = try SchedulerFixture()
        fixture.scheduler.suspend()
        try fixture.accept("a", images: 20)
        #expect(fixture.scheduler.summary.batchesInWork == 0)
        #expect(fixture.board { $0.admission.isEmpty })
        fixture.scheduler.resume()
        try await fixture.finish()
        #expect(try fixture.finished == ["a": .completed])
    }

    /// What stands in the queues goes on where it was; what a queue had handed on already goes back.
    @Test func putsBackWhatHasNotBegun() async throws {
        let fixture = try SchedulerFixture()
        fixture.holdOperations()
        try fixture.accept("a", images: 200)
        for _ in 0..<20 {
            fixture.releaseOperations()
            fixture.scheduler.suspend()
            try await fixture.wait(for: "what runs to end") { fixture.scheduler.runningCount == 0 }
            #expect(fixture.scheduler.gate.isSuspended)
            let filtered = fixture.filtered.count
            let fetched = fixture.fetched.count
            fixture.committer.drain()
            #expect(fixture.fetched.count == fetched && fixture.filtered.count >= filtered)
            fixture.scheduler.resume()
        }
        try await fixture.finish()
        #expect(try fixture.status("a")?.counts.filtered == 200)
        #expect(fixture.fetched.count == 200)
    }

    /// A batch that has begun says why it does not go on.
    @Test func tellsWhatTheBatchesWaitFor() async throws {
        let fixture = try SchedulerFixture()
        fixture.holdOperations()
        try fixture.accept("a", images: 20)
        fixture.scheduler.suspend()
        try await fixture.wait(for: "the status") {
            fixture.time.advance(by: 2_000_000)
            return try fixture.status("a")?.waiting != nil
        }
        #expect(try fixture.status("a")?.waiting?.code == "paused")
        fixture.scheduler.resume()
        try await fixture.finish()
        #expect(try fixture.status("a")?.waiting == nil)
    }

    /// The time of a next attempt may pass during a pause. The attempt begins after it.
    @Test func beginsNoAttemptWhileSuspended() async throws {
        let fixture = try SchedulerFixture()
        let origin = try fixture.origin { _, number in
            number == 1 ? .status(503) : nil
        }
        try fixture.accept("a", origin: origin)
        try await fixture.wait(for: .downloadRetried)
        fixture.scheduler.suspend()
        fixture.time.advance(by: 3600)
        fixture.scheduler.alarms.sync {}
        try await fixture.wait(for: "what runs to end") { fixture.scheduler.runningCount == 0 }
        #expect(origin.requests.count == 1)
        #expect(fixture.scheduler.summary.retrying == 0)
        fixture.scheduler.resume()
        try await fixture.finish()
        #expect(origin.requests.count == 2)
        #expect(try fixture.finished == ["a": .completed])
    }

    /// What a stop breaks off is told of as what it is again, for the next daemon may not come to it for long.
    @Test func leavesWhatItBreaksOffToTheNextStart() async throws {
        let fixture = try SchedulerFixture()
        let origin = try fixture.origin { path, _ in
            path == "/held" ? .held : nil
        }
        try fixture.accept("a", .of(["held", "a", "b"].map(origin.source)))
        try await fixture.wait(for: .imageFiltered, count: 2)
        try await fixture.wait(for: "the request") {
            origin.requests.contains { $0.path == "/held" }
        }
        fixture.scheduler.close()
        fixture.scheduler.stop(within: 60) {}
        #expect(fixture.scheduler.runningCount == 0)
        let status = try #require(try fixture.status("a"))
        #expect(status.state == .processing && status.waiting?.code == "stopped")
        #expect(status.counts.filtered == 2 && status.images[0].state == .new)
        // That was no attempt of it to fetch something.
        origin.release()
        let next = try SchedulerFixture(after: fixture)
        next.scheduler.accept(try next.recover("a"))
        try await next.finish()
        #expect(try next.status("a")?.state == .completed)
        #expect(next.filtered == ["i0"])
    }

    /// A filter ends at its next band when the time for stopping is over.
    @Test func tellsOfAFilterThatIsPutBack() throws {
        let fixture = try SchedulerFixture()
        try fixture.setSource(
            "large", PNGMaker.black(width: 8000, height: 8000, colourType: .gray, depth: 8))
        try fixture.accept("a", .of(["large"]))
        try fixture.catchMoment("the filter") { fixture.shown("a")?.counts.filtering == 1 }
        fixture.scheduler.close()
        fixture.scheduler.stop(within: 0) {}
        let status = try #require(try fixture.status("a"))
        #expect(status.images[0].state == .downloaded)
        #expect(fixture.filtered.isEmpty)
    }
}
