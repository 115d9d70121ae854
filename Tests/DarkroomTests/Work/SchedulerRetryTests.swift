import TestPictures
import TestSupport
import Testing

@testable import DarkroomAnswer
@testable import DarkroomBoard
@testable import DarkroomCore
@testable import DarkroomFetch
@testable import DarkroomFixtures
@testable import DarkroomManifest
@testable import DarkroomWork

/// Downloads that are tried again.
struct SchedulerRetryTests {
    /// A fixture and an origin whose paths `late…` answer only after so many attempts, and `never…` never.
    private func start(
        _ fixture: SchedulerFixture? = nil, window: Int = 8, retries: Int = 4, tries: Int = 1,
        fault: FlakyOrigin.Fault = .status(503)
    ) throws -> (SchedulerFixture, FlakyOrigin) {
        let fixture = try fixture ?? self.fixture(window: window, retries: retries)
        let origin = try fixture.origin { path, number in
            path.hasPrefix("/never") || path.hasPrefix("/late") && number <= tries ? fault : nil
        }
        return (fixture, origin)
    }

    private func fixture(window: Int = 8, retries: Int = 4) throws -> SchedulerFixture {
        try SchedulerFixture(window: window) {
            $0.retryPolicy = DownloadRetryPolicy(retries: retries)
        }
    }

    /// Images `i0`, `i1`, … of these paths of an origin; those without one are of local sources.
    private func manifest(_ paths: [String], of origin: FlakyOrigin) -> Manifest {
        .of(
            paths.map { path in
                let isRemote = path.hasPrefix("late") || path.hasPrefix("never")
                return isRemote ? origin.source(path) : SourceReference(ByteString(path))
            })
    }

    /// Waits until only the next attempts are left.
    private func waitForRetries(_ fixture: SchedulerFixture, count: Int) async throws {
        try await fixture.wait(for: "\(count) next tries") {
            fixture.scheduler.summary.retrying == count && fixture.scheduler.runningCount == 0
                && fixture.committer.pendingCount == 0
        }
    }

    @Test func triesAgainUntilItGoesWell() async throws {
        let (fixture, origin) = try start(tries: 3)
        try fixture.accept("a", manifest(["s0", "late", "s2"], of: origin))
        for (index, delay) in [1.0, 2, 4].enumerated() {
            try await waitForRetries(fixture, count: 1)
            #expect(fixture.time.waits.contains(delay))
            let retried = fixture.journal.all(.downloadRetried)
            #expect(retried.count == index + 1)
            #expect(retried.last?[.image] == "i1" && retried.last?[.attempt] == "\(index + 1)")
            #expect(retried.last?.message.contains("attempt \(index + 1) of 5") == true)
            fixture.time.advance(by: delay - 0.001)
            #expect(origin.requests.count == index + 1)
            fixture.time.advance(by: 0.001)
        }
        try await fixture.finish()
        #expect(try fixture.finished == ["a": .completed])
        #expect(origin.requests.count == 4)
        let late = try fixture.image("i1", of: "a")
        #expect(late.download?.attempts == 4 && late.attempts == 1)
        #expect(late.download?.bytes == SchedulerFixture.picture.count)
        #expect(late.download?.lastError?.code == "http-status")
        // A file of the machine is not fetched, so there is nothing to be told of that.
        #expect(try fixture.image("i0", of: "a").download == nil)
    }

    @Test(arguments: [0, 1, 4]) func givesUpAfterItsTries(retries: Int) async throws {
        let (fixture, origin) = try start(retries: retries)
        let paths = ["never"] + (1..<20).map { "s\($0)" }
        let status = try await fixture.complete("a", manifest(paths, of: origin))
        #expect(status.state == .completedWithErrors)
        #expect(status.counts.failed == 1 && status.counts.filtered == 19)
        #expect(status.images[0].error?.code == "http-status")
        #expect(status.images[0].download?.attempts == retries + 1)
        #expect(origin.requests.count == retries + 1)
    }

    /// What no other try can make up for: a refusal, and a file of this machine that is not there.
    @Test func triesOnceWhatWaitingDoesNotMend() async throws {
        let (fixture, origin) = try start(fault: .status(404))
        try await fixture.complete("a", manifest(["never", "s1"], of: origin), missing: ["s1"])
        #expect(origin.requests.count == 1)
        #expect(fixture.journal.all(.downloadRetried).isEmpty)
        #expect(try fixture.image("i0", of: "a").download?.attempts == 1)
        #expect(try fixture.image("i1", of: "a").download == nil)
    }

    /// An attempt that waits occupies no place: others of its batch and its level are worked on.
    @Test func letsOthersGoOnMeanwhile() async throws {
        let (fixture, origin) = try start(
            SchedulerFixture(window: 4, board: Board.Bounds(placesPerLevel: 4)))
        let never = (0..<10).map { "never\($0)" }
        let rest = (0..<90).map { "s\($0)" }
        try fixture.accept("a", manifest(never + rest, of: origin))
        try fixture.accept("b", manifest(never, of: origin))
        // As many of the one batch may wait as four windows hold, and so all others are done.
        try await fixture.wait(for: .imageFiltered, count: 90)
        try await waitForRetries(fixture, count: 20)
        #expect(fixture.shown("a")?.counts.downloading == 10)
        #expect(fixture.shown("a")?.counts.filtered == 90)
        #expect(fixture.board { $0.pool.waitingPlaces.reduce(0, +) } == 20)
        try await fixture.finish()
        #expect(try fixture.status("a")?.counts.failed == 10)
        #expect(try fixture.status("b")?.counts.failed == 10)
        #expect(fixture.board { $0.pool.waitingPlaces.allSatisfy { $0 == 0 } })
        #expect(fixture.board { $0.pool.places.allSatisfy { $0 == 0 } })
    }

    @Test func boundsHowManyWait() async throws {
        let (fixture, origin) = try start(window: 4, retries: 1)
        let paths = (0..<40).map { "never\($0)" } + ["s"]
        try fixture.accept("a", manifest(paths, of: origin))
        try await waitForRetries(fixture, count: 16)
        #expect(fixture.filtered.isEmpty)
        try await fixture.finish()
        #expect(try fixture.status("a")?.counts.failed == 40)
        #expect(fixture.filtered == ["i40"])
    }

    @Test func letsLowerQualitiesOfServiceGoOnMeanwhile() async throws {
        let (fixture, origin) = try start(.inOrder())
        var high = manifest(["never0", "never1"], of: origin)
        high.qualityOfService = .userInteractive
        try fixture.accept("high", high)
        try fixture.accept("low", manifest(["s0", "s1"], of: origin))
        try await fixture.wait(for: .batchFinished)
        #expect(fixture.finishedOrder == ["low"])
        // The end of a transfer is reported by another thread.
        try await waitForRetries(fixture, count: 2)
    }

    @Test func imagesOfOneSourceShareItsTries() async throws {
        let (fixture, origin) = try start(window: 2, tries: 2)
        try fixture.accept("a", manifest(["late", "late", "s", "late", "late"], of: origin))
        try await waitForRetries(fixture, count: 1)
        // All have joined, although the window is 2.
        let shown = try #require(fixture.shown("a"))
        for index in [0, 1, 3, 4] {
            let image = shown.images[index]
            #expect(image.state == .downloading)
            #expect(image.download?.attempts == 1 && image.download?.retryAt != nil)
            #expect(image.download?.lastError?.code == "http-status")
        }
        try await fixture.finish()
        #expect(try fixture.finished == ["a": .completed])
        #expect(origin.requests.count == 3)
        for name in ["i0", "i1", "i3", "i4"] {
            let download = try fixture.image(name, of: "a").download
            #expect(download?.attempts == 3 && download?.retryAt == nil)
        }
    }

    // MARK: Partial bodies

    /// A picture of so many bytes that an interrupted transfer of it is continued.
    private static let large = Starfield.png(width: 600, height: 400, seed: 7)

    private func startCutting() throws -> (SchedulerFixture, FlakyOrigin) {
        let fixture = try fixture()
        let origin = try fixture.origin(picture: Self.large) { path, number in
            path == "/late" && number == 1 ? .cut(Self.large.count / 2) : nil
        }
        return (fixture, origin)
    }

    /// When the disk is full, it is given up.
    @Test(arguments: [false, true]) func goesOnWithWhatHasArrived(isFull: Bool) async throws {
        let (fixture, origin) = try startCutting()
        try fixture.accept("a", manifest(["late"], of: origin))
        try await waitForRetries(fixture, count: 1)
        // Its scratch file stays its own between two tries.
        #expect(fixture.board { $0.batches[1]?.sources[0].slot } == 0)
        #expect(try fixture.activeFiles("a").contains("source-0"))
        if isFull {
            fixture.storage.writeRefused(
                Failure(code: "disk-full", message: "no space", storageFailure: .full))
            try await fixture.wait(for: "its removal") {
                try !fixture.activeFiles("a").contains("source-0")
            }
        }
        try await fixture.finish()
        let rest = isFull ? nil : "bytes=\(Self.large.count / 2)-"
        #expect(origin.requests.map(\.range) == [nil, rest])
        #expect(try fixture.finished == ["a": .completed])
    }

    /// And only then.
    @Test func keepsNoScratchFileWithNothingInIt() async throws {
        let (fixture, origin) = try start()
        try fixture.accept("a", manifest(["late"], of: origin))
        try await waitForRetries(fixture, count: 1)
        #expect(fixture.board { $0.batches[1]?.sources[0].slot } == nil)
        #expect(fixture.board { $0.batches[1]?.takeSlot(for: 0) } == 0)
    }

    // MARK: Commands

    @Test func cancellingEndsItAtOnce() async throws {
        let (fixture, origin) = try start()
        try fixture.accept("a", manifest(["never0", "never1", "s"], of: origin))
        try await waitForRetries(fixture, count: 2)
        fixture.obey("a", .cancel)
        #expect(fixture.scheduler.summary.retrying == 0)
        try await fixture.wait(for: .batchFinished)
        #expect(try fixture.status("a")?.counts.cancelled == 2)
        // Their times come all the same.
        fixture.time.advance(by: 100)
        #expect(origin.requests.count == 2)
        #expect(fixture.board { $0.pool.waitingPlaces.allSatisfy { $0 == 0 } })
    }

    /// It begins anew when it is released, with all its tries; and a time that was asked for before means nothing.
    @Test func holdingTakesItBack() async throws {
        let (fixture, origin) = try start(retries: 2, tries: 4)
        try fixture.accept("a", manifest(["late", "s1"], of: origin))
        try await waitForRetries(fixture, count: 1)
        fixture.obey("a", .hold)
        try await fixture.wait(for: "the hold") { fixture.scheduler.summary.batchesHeld == 1 }
        #expect(fixture.scheduler.summary.retrying == 0)
        fixture.time.advance(by: 100)
        #expect(origin.requests.count == 1)
        fixture.obey("a", .release)
        try await waitForRetries(fixture, count: 1)
        #expect(origin.requests.count == 2)
        try await fixture.finish()
        // Its four failures would have been one too many for one beginning.
        #expect(try fixture.finished["a"] == .completedWithErrors)
        #expect(try fixture.image("i0", of: "a").download?.attempts == 3)
    }

    /// While an image of the batch is at work the batch is not put away, and its statuses are kept.
    @Test func showsWhatItCameToWhileItIsHeld() async throws {
        let fixture = try fixture()
        let origin = try fixture.origin { path, _ in
            path == "/late" ? .status(503) : .held
        }
        try fixture.accept("a", manifest(["late", "late-held"], of: origin))
        try await fixture.wait(for: "the next try") { fixture.scheduler.summary.retrying == 1 }
        try await fixture.wait(for: "the other") { fixture.scheduler.runningCount == 1 }
        fixture.obey("a", .hold)
        let image = try #require(fixture.shown("a")?.images[0])
        #expect(image.state == .new)
        #expect(image.download?.attempts == 1 && image.download?.retryAt == nil)
        // One that has begun has begun.
        #expect(image.attempts == 1)
    }

    /// A transfer that fails while its batch is held, or is cancelled, does not wait for another attempt.
    @Test(arguments: [ControlCommand.hold, .cancel])
    func isTakenBackWhenItFails(command: ControlCommand) async throws {
        let origin = try ScriptedOrigin { _ in
            ScriptedOrigin.Reply(["HTTP/1.1 503 Later", "Content-Length: 0"])
        }
        defer { origin.stop() }
        let fixture = try fixture()
        // The answer is there, and nobody has looked at it.
        fixture.scheduler.fetched.suspend()
        let source = ByteString("\(origin.baseURL)/late")
        try fixture.accept("a", .of([SourceReference(source)]))
        try await fixture.wait(for: "the answer") {
            origin.requests.count == 1 && fixture.scheduler.queues.downloadCount == 0
        }
        fixture.obey("a", command)
        fixture.scheduler.fetched.resume()
        try await fixture.finish()
        #expect(fixture.journal.all(.downloadRetried).isEmpty)
        #expect(try fixture.status("a")?.state == (command == .hold ? .held : .completedWithErrors))
    }

    /// A transfer that breaks off is not counted as an attempt, and begins with nothing.
    @Test func whatIsBrokenOffIsNoTry() throws {
        let fixture = try fixture(retries: 1)
        fixture.holdOperations()
        try fixture.accept("a", images: 1)
        for _ in 0..<5 {
            let again = fixture.board { board in
                board.downloadBegan(1, 0) == nil
                    ? -1
                    : board.requests { $0.downloadDeferred(1, 0) }.entered
                        .count { $0 == .download(1, source: 0) }
            }
            #expect(again == 1)
        }
        let isTriedAgain = fixture.board { board in
            _ = board.downloadBegan(1, 0)
            return board.requests { $0.downloadEnded(1, 0, result: .failed(.late)) }.contains {
                if case .effect(.enterLater) = $0 { true } else { false }
            }
        }
        #expect(isTriedAgain)
        // An operation of before is heard of late.
        #expect(fixture.board { $0.requests { $0.downloadDeferred(1, 0) }.isEmpty })
        #expect(fixture.scheduler.summary.retrying == 1)
    }
}
