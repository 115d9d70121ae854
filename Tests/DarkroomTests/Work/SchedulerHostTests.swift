import TestSupport
import Testing

@testable import DarkroomAnswer
@testable import DarkroomBoard
@testable import DarkroomCore
@testable import DarkroomFetch
@testable import DarkroomFixtures
@testable import DarkroomManifest
@testable import DarkroomWork

/// Downloads that wait for their host.
struct SchedulerHostTests {
    private func manifest(_ paths: [String], of origin: FlakyOrigin) -> Manifest {
        .of(paths.map(origin.source))
    }

    @Test func whatWaitsForItsHostTakesNoPlace() async throws {
        let fixture = try SchedulerFixture(window: 2) { $0.perHost = 1 }
        let origin = try fixture.origin()
        try fixture.accept("a", manifest((0..<20).map { "\($0)" }, of: origin))
        try fixture.accept("b", images: 10)
        try await fixture.wait(for: .batchFinished)
        #expect(fixture.finishedOrder == ["b"])
        // Four windows are all there may be.
        #expect(fixture.board { $0.batches[1]?.live.count } == 8)
        #expect(fixture.shown("a")?.counts.new == 19)
        #expect(fixture.scheduler.waitingForHostCount == 7)
        #expect(origin.requests.count == 1)
        origin.release()
        try await fixture.finish()
        #expect(try fixture.finished["a"] == .completed)
        #expect(fixture.board { $0.pool.waitingPlaces.allSatisfy { $0 == 0 } })
    }

    @Test(arguments: [ControlCommand.cancel, .hold])
    func whatWaitsForItsHostTakesCommands(command: ControlCommand) async throws {
        let fixture = try SchedulerFixture { $0.perHost = 1 }
        let origin = try fixture.origin()
        try fixture.accept("other", manifest(["0"], of: origin))
        try fixture.accept("a", manifest(["1", "2"], of: origin))
        try await fixture.wait(for: "the waiting") { fixture.scheduler.waitingForHostCount == 2 }
        fixture.obey("a", command)
        #expect(fixture.scheduler.waitingForHostCount == 0)
        if command == .hold {
            try await fixture.wait(for: "the hold") { fixture.scheduler.summary.batchesHeld == 1 }
            fixture.obey("a", .release)
        }
        origin.release()
        try await fixture.finish()
        #expect(try fixture.finished["a"] == (command == .hold ? .completed : .cancelled))
        #expect(origin.requests.count == (command == .hold ? 3 : 1))
    }

    /// It may have got its place before the board heard that it waits for one.
    @Test func whatHasBegunDoesNotWait() throws {
        let fixture = try SchedulerFixture()
        fixture.holdOperations()
        try fixture.accept("a", images: 1)
        fixture.board { board in
            _ = board.downloadBegan(1, 0)
            board.change(1) { $0.downloadWaits(0, &$1) }
        }
        #expect(fixture.shown("a")?.counts.downloading == 1)
        #expect(fixture.board { $0.pool.waitingPlaces.allSatisfy { $0 == 0 } })
    }

    /// A server that asks to wait is asked for nothing meanwhile, and the batches say so.
    @Test func aHostIsLeftAloneForAsLongAsItAsks() async throws {
        let fixture = try SchedulerFixture { $0.statusInterval = 1 }
        let origin = try fixture.origin { path, number in
            path == "/0" && number == 1 ? .status(503, ["Retry-After: 30"]) : nil
        }
        try fixture.accept("a", manifest(["0"], of: origin))
        try await fixture.wait(for: .hostPaused)
        try fixture.accept("b", manifest(["1"], of: origin))
        #expect(fixture.scheduler.pausedHostCount == 1)
        #expect(fixture.scheduler.waitingForHostCount == 1)
        // The pause, and the next attempt after it.
        #expect(fixture.time.waits.contains(30) && fixture.time.waits.contains(31))
        fixture.time.advance(by: 2)
        let waiting = try #require(try fixture.status("b")?.waiting)
        #expect(waiting.code == "host-paused")
        fixture.time.advance(by: 27)
        #expect(origin.requests.count == 1)
        fixture.time.advance(by: 1)
        try await fixture.wait(for: .batchFinished)
        #expect(fixture.finishedOrder == ["b"] && fixture.scheduler.pausedHostCount == 0)
        #expect(origin.requests.map(\.path) == ["/0", "/1"])
        try await fixture.finish()
        #expect(try fixture.finished == ["a": .completed, "b": .completed])
    }

    /// It is not the host that has only shown the way.
    @Test func theHostThatAnsweredIsLeftAlone() async throws {
        let fixture = try SchedulerFixture()
        let target = try fixture.origin { _, number in
            number == 1 ? .status(503, ["Retry-After: 12"]) : nil
        }
        let there = target.url("there")
        let origin = try fixture.origin { path, _ in
            path == "/moved" ? .status(302, ["Location: \(there)"]) : nil
        }
        try fixture.accept("moved", manifest(["moved"], of: origin))
        try await fixture.wait(for: .hostPaused)
        try fixture.accept("direct", manifest(["direct"], of: origin))
        try fixture.accept("other", manifest(["other"], of: target))
        try await fixture.wait(for: .batchFinished)
        #expect(fixture.finishedOrder == ["direct"])
        #expect(target.requests.count == 1)
        try await fixture.finish()
        #expect(
            try fixture.finished == [
                "moved": .completed, "direct": .completed, "other": .completed,
            ])
    }

    /// Who asks for more than `downloads.retryAfterMax` is not waited for.
    @Test func aHostThatAsksForTooMuchIsNotWaitedFor() async throws {
        let fixture = try SchedulerFixture()
        let origin = try fixture.origin { _, _ in
            .status(503, ["Retry-After: 3600"])
        }
        try fixture.accept("a", manifest(["0"], of: origin))
        try await fixture.wait(for: .batchFinished)
        #expect(origin.requests.count == 1 && fixture.journal.all(.hostPaused).isEmpty)
        #expect(try fixture.finished == ["a": .completedWithErrors])
    }
}
