import TestSupport
import Testing

@testable import DarkroomAnswer
@testable import DarkroomBoard
@testable import DarkroomCore
@testable import DarkroomFetch
@testable import DarkroomFixtures
@testable import DarkroomManifest
@testable import DarkroomWork

/// What becomes of the images of a batch.
struct SchedulerTests {
    @Test(arguments: [1, 2, 63, 64, 65, 1000])
    func endsEveryImageOfABatch(count: Int) async throws {
        let fixture = try SchedulerFixture(window: 64) { $0.downloadConcurrency = 100 }
        fixture.holdOperations(downloads: false)
        try fixture.accept("a", images: count)
        try await fixture.wait(for: .imageDownloaded, count: min(count, 64))
        #expect(fixture.board { $0.batches[1]?.live.count } == min(count, 64))
        fixture.releaseOperations()
        try await fixture.finish()
        let status = try #require(try fixture.status("a"))
        #expect(status.state == .completed && status.counts.filtered == count)
        #expect(fixture.filtered.count == count)
    }

    /// A batch has no more files of fetched bytes than images in work.
    @Test func fetchesIntoFewFiles() async throws {
        let fixture = try SchedulerFixture { $0.perHost = 16 }
        let origin = try fixture.origin { _, _ in nil }
        fixture.holdOperations(downloads: false)
        try fixture.accept("a", .of((0..<100).map { origin.source("\($0)") }))
        try await fixture.wait(for: .imageDownloaded, count: 8)
        let files = Set((0..<8).map { "source-\($0)" })
        #expect(try fixture.activeFiles("a").filter { $0.hasPrefix("source") } == files)
        fixture.releaseOperations()
        try await fixture.finish()
        #expect(try fixture.status("a")?.counts.filtered == 100)
    }

    /// A server sees no fragment, and what a user types is percent-encoded for it.
    @Test func fetchesAURLOnceHoweverItIsWritten() async throws {
        let fixture = try SchedulerFixture(window: 4)
        let origin = try fixture.origin { _, _ in nil }
        let remote = ["a b.png", "a%20b.png#1", "a%20b.png#2", "c.png", "c.png#", "C.png"]
        let sources = remote.map(origin.source) + ["c.png", "c.png#1"]
        try await fixture.complete("a", .of(sources))
        #expect(origin.requests.map(\.path).sorted() == ["/C.png", "/a%20b.png", "/c.png"])
        #expect(Set(fixture.fetched) == ["i0", "i3", "i5", "i6", "i7"])
        #expect(fixture.filtered.count == sources.count)
    }

    @Test func tellsSourcesApartByTheirBytes() async throws {
        let fixture = try SchedulerFixture()
        let sources: [ByteString] = ["caf\u{E9}.png", "cafe\u{301}.png", "caf\u{E9}.png"]
        let manifest = Manifest.of(sources.map { SourceReference($0) })
        try await fixture.complete("a", manifest, missing: [sources[1]])
        #expect(Set(fixture.filtered) == ["i0", "i2"])
        #expect(try fixture.image("i1", of: "a").error?.code == "source-missing")
    }

    @Test func failsTheImagesOfASourceThatCannotBeFetched() async throws {
        let fixture = try SchedulerFixture()
        let status = try await fixture.complete(
            "a", .of((0..<20).map { "s\($0 % 4)" }), missing: ["s1"])
        #expect(status.state == .completedWithErrors)
        #expect(status.counts.failed == 5 && status.counts.filtered == 15)
        #expect(try fixture.image("i5", of: "a").error?.code == "source-missing")
    }

    // MARK: Images that are made of others

    @Test func startsAnImageOnlyAfterThoseItComesAfter() async throws {
        let fixture = try SchedulerFixture()
        try await fixture.complete(
            "a",
            Manifest(images: [
                Manifest.Image(name: "last", origin: .source("s0"), after: [1, 2]),
                Manifest.Image(name: "made", origin: .image(2)),
                Manifest.Image(name: "first", origin: .source("s1")),
            ]))
        #expect(fixture.filtered == ["first", "made", "last"])
    }

    @Test func failsWhatWasToBeMadeFromAFailedImageAndOnlyThat() async throws {
        let fixture = try SchedulerFixture()
        try fixture.setSource("damaged", Array(SchedulerFixture.picture.dropLast(30)))
        let status = try await fixture.complete(
            "a",
            Manifest(images: [
                Manifest.Image(name: "base", origin: .source("damaged")),
                Manifest.Image(name: "made", origin: .image(0)),
                Manifest.Image(name: "madeOfMade", origin: .image(1)),
                Manifest.Image(name: "after", origin: .source("s1"), after: [0]),
            ]))
        #expect(status.counts.failed == 3)
        #expect(fixture.filtered == ["after"])
        #expect(try fixture.image("madeOfMade", of: "a").error?.code == "dependency-failed")
        let base = try #require(try fixture.image("base", of: "a").error)
        let made = try #require(try fixture.image("made", of: "a").error)
        #expect(made.code == "dependency-failed")
        #expect(made.message == "it is made from base, which has failed (\(base.code))")
        // Trying the batch again does the other one again, too.
        #expect(made.isTransient == base.isTransient)
    }

    private static let overlaid = Manifest(images: [
        Manifest.Image(name: "marked", origin: .source("s0"), overlays: [3]),
        Manifest.Image(name: "markedTwice", origin: .image(0), overlays: [3, 2]),
        Manifest.Image(name: "frame", origin: .source("s1")),
        Manifest.Image(name: "logo", origin: .source("s2")),
    ])

    /// Images laid over others come first, and fail those that wanted them.
    @Test func filtersWhatIsLaidOverOthersFirst() async throws {
        let fixture = try SchedulerFixture.inOrder()
        try await fixture.complete("a", Self.overlaid)
        #expect(fixture.filtered == ["frame", "logo", "marked", "markedTwice"])

        let failing = try SchedulerFixture()
        try await failing.complete("a", Self.overlaid, missing: ["s2"])
        #expect(failing.filtered == ["frame"])
        #expect(try failing.image("marked", of: "a").error?.code == "dependency-failed")
        #expect(try failing.image("markedTwice", of: "a").error?.code == "dependency-failed")
        #expect(try failing.finished == ["a": .completedWithErrors])
    }

    /// A restart between the logo's end and that of the others.
    @Test(arguments: [ImageState.failed, .cancelled, .filtered])
    func goesOnWithWhatIsLaidOverOthers(state: ImageState) async throws {
        // What the journal says of an image is what an earlier run has made of it.
        let former = try SchedulerFixture()
        try await former.complete("a", Self.overlaid)
        var logo = try former.image("logo", of: "a")
        if state != .filtered { logo = ImageStatus(name: "logo", source: "s2", state: state) }

        let fixture = try SchedulerFixture.inOrder()
        try await fixture.complete(
            "a", Self.overlaid, journal: [.ended(index: 3, logo)], outputs: former)
        if state == .filtered {
            #expect(fixture.filtered == ["marked", "frame", "markedTwice"])
        } else {
            #expect(fixture.filtered == ["frame"])
            #expect(try fixture.image("marked", of: "a").error?.code == "dependency-failed")
        }
    }

    @Test func failsAfterARestartWhatWasToBeMadeFromAFailedImage() async throws {
        let fixture = try SchedulerFixture()
        let status = try await fixture.complete(
            "a",
            Manifest(images: [
                Manifest.Image(name: "base", origin: .source("s0")),
                Manifest.Image(name: "made", origin: .image(0)),
            ]),
            journal: [.ended(index: 0, ImageStatus(name: "base", source: "s0", state: .failed))])
        #expect(status.images[1].error?.code == "dependency-failed")
        #expect(status.counts.failed == 2)
    }

    @Test(arguments: [false, true])
    func endsAChainLongerThanTheWindow(isFailing: Bool) async throws {
        let fixture = try SchedulerFixture(window: 4)
        let count = isFailing ? 50_000 : 5_000
        let images = (0..<count).map { index in
            Manifest.Image(
                name: "i\(index)", origin: index == 0 ? .source("s") : .image(index - 1))
        }
        let counts = try await fixture.complete(
            "a", Manifest(images: images), missing: isFailing ? ["s"] : []
        ).counts
        #expect(isFailing ? counts.failed == count : counts.filtered == count)
    }

    // MARK: Beginnings

    /// What the journal tells of the beginning: once, and whether there was one before.
    @Test func tellsOnceThatABatchBegins() async throws {
        let fixture = try SchedulerFixture(window: 2)
        try fixture.accept("a", images: 5)
        let ended = ImageStatus(name: "i1", source: "s1", state: .failed)
        try await fixture.complete("b", .ofSources(3), journal: [.ended(index: 1, ended)])
        let begun = fixture.journal.all(.batchBegun)
        #expect(begun.map { $0[.batch] } == ["a", "b"])
        #expect(begun.map { $0[.count] } == ["5", "2"])
    }

    @Test func preparesFromTheFolderWhatItHadNoRoomToKeep() async throws {
        let fixture = try SchedulerFixture(
            board: Board.Bounds(imageBudget: 10, preparedBudget: 10))
        fixture.holdOperations()
        for index in 0..<8 { try fixture.accept("b\(index)", images: 7) }
        let kept = fixture.board { board in
            (2...8).count { board.waitingBatches[$0]?.prepared != nil }
        }
        #expect(kept < 7)
        fixture.releaseOperations()
        try await fixture.finish()
        #expect(try fixture.finished.count == 8)
    }

    // MARK: Cancelling

    @Test func cancelsWhatWaitsAtOnceAndWhatRunsAtItsEnd() async throws {
        let fixture = try SchedulerFixture { $0.perHost = 2 }
        let origin = try fixture.origin()
        try fixture.accept("a", .of((0..<100).map { $0 < 90 ? "s" : origin.source("\($0)") }))
        try await fixture.wait(for: "two requests") { origin.requests.count == 2 }
        try await fixture.wait(for: .imageFiltered, count: 90)
        fixture.scheduler.fetched.suspend()
        #expect(fixture.obey("a", .cancel) == .acts)
        #expect(fixture.shown("a")?.counts.cancelled == 8)
        #expect(fixture.shown("a")?.counts.downloading == 2)
        fixture.scheduler.fetched.resume()
        try await fixture.finish()
        let status = try #require(try fixture.status("a"))
        #expect(status.state == .cancelled)
        #expect(status.counts.filtered == 90 && status.counts.cancelled == 10)
    }

    @Test func cancelsABatchThatStillWaits() async throws {
        let fixture = try SchedulerFixture(window: 4, board: Board.Bounds(imageBudget: 10))
        fixture.holdOperations()
        for id in ["a", "b", "c"] { try fixture.accept(id, images: 9) }
        #expect(fixture.obey("c", .cancel) == .acts)
        fixture.releaseOperations()
        try await fixture.finish()
        #expect(try fixture.finished == ["a": .completed, "b": .completed, "c": .cancelled])
    }

    @Test(arguments: [65_536, 0])
    func remembersACancellationOverARestart(preparedBudget: Int) async throws {
        let fixture = try SchedulerFixture(board: Board.Bounds(preparedBudget: preparedBudget))
        let status = try await fixture.complete(
            "a", .ofSources(10), journal: [.commanded(ControlRecord(.cancel, uid: 0))])
        #expect(status.state == .cancelled && status.counts.cancelled == 10)
    }

    /// Two IDs that are one string to Unicode are two folders.
    @Test func cancelsTheBatchOfThatSpelling() async throws {
        let fixture = try SchedulerFixture()
        let ids = ["caf\u{E9}", "cafe\u{301}"]
        fixture.holdOperations()
        for id in ids { try fixture.accept(id, images: 9) }
        #expect(fixture.obey(ids[0], .cancel) == .acts)
        fixture.releaseOperations()
        try await fixture.finish()
        #expect(try fixture.status(ids[0])?.state == .cancelled)
        #expect(try fixture.status(ids[1])?.state == .completed)
    }

    @Test func knowsNoBatchThatHasEndedOrNeverWas() async throws {
        let fixture = try SchedulerFixture()
        try fixture.accept("a", images: 1)
        try await fixture.finish()
        for id in ["a", "z"] {
            for command in ControlCommand.allCases {
                #expect(fixture.obey(id, command) == .unknown)
            }
        }
    }
}
