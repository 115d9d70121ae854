import TestSupport
import Testing

@testable import DarkroomAnswer
@testable import DarkroomBoard
@testable import DarkroomCore
@testable import DarkroomFetch
@testable import DarkroomManifest
@testable import DarkroomWork

/// What becomes of the images of a batch.
@Suite struct SchedulerTests {
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
        let origin = try FlakyOrigin(picture: SchedulerFixture.picture) { _, _ in nil }
        defer { origin.stop() }
        let fixture = try SchedulerFixture { $0.perHost = 16 }
        fixture.holdOperations(downloads: false)
        let images = (0..<100).map {
            Manifest.Image(
                name: "i\($0)", origin: .source(SourceReference(ByteString(origin.url("\($0)")))))
        }
        try fixture.accept("a", Manifest(images: images))
        try await fixture.wait(for: .imageDownloaded, count: 8)
        let files = Set((0..<8).map { "source-\($0)" })
        #expect(try fixture.activeFiles("a").filter { $0.hasPrefix("source") } == files)
        fixture.releaseOperations()
        try await fixture.finish()
        #expect(try fixture.status("a")?.counts.filtered == 100)
    }

    @Test func fetchesASourceOfSeveralImagesOnce() async throws {
        let fixture = try SchedulerFixture()
        let images = (0..<100).map {
            Manifest.Image(name: "i\($0)", origin: .source("s\($0 % 3)"))
        }
        try fixture.accept("a", Manifest(images: images))
        try await fixture.finish()
        #expect(fixture.fetched.sorted() == ["i0", "i1", "i2"])
        #expect(try fixture.status("a")?.counts.filtered == 100)
    }

    /// A server sees no fragment, and what a user types is percent-encoded for it.
    @Test func fetchesAURLOnceHoweverItIsWritten() async throws {
        let origin = try FlakyOrigin(picture: SchedulerFixture.picture) { _, _ in nil }
        defer { origin.stop() }
        let fixture = try SchedulerFixture(window: 4)
        let remote = ["a b.png", "a%20b.png#1", "a%20b.png#2", "c.png", "c.png#", "C.png"]
        let sources = remote.map { ByteString(origin.url($0)) } + ["c.png", "c.png#1"]
        let images = sources.enumerated().map { index, source in
            Manifest.Image(name: "i\(index)", origin: .source(SourceReference(source)))
        }
        try fixture.accept("a", Manifest(images: images))
        try await fixture.finish()
        #expect(origin.requests.map(\.path).sorted() == ["/C.png", "/a%20b.png", "/c.png"])
        #expect(Set(fixture.fetched) == ["i0", "i3", "i5", "i6", "i7"])
        #expect(fixture.filtered.count == sources.count)
    }

    @Test func tellsSourcesApartByTheirBytes() async throws {
        let fixture = try SchedulerFixture()
        let sources: [ByteString] = ["caf\u{E9}.png", "cafe\u{301}.png", "caf\u{E9}.png"]
        let images = sources.enumerated().map { index, source in
            Manifest.Image(name: "i\(index)", origin: .source(SourceReference(source)))
        }
        try fixture.accept("a", Manifest(images: images), missing: [sources[1]])
        try await fixture.finish()
        #expect(Set(fixture.filtered) == ["i0", "i2"])
        #expect(try fixture.image("i1", of: "a").error?.code == "source-missing")
    }

    @Test func failsTheImagesOfASourceThatCannotBeFetched() async throws {
        let fixture = try SchedulerFixture()
        let images = (0..<20).map {
            Manifest.Image(name: "i\($0)", origin: .source("s\($0 % 4)"))
        }
        try fixture.accept("a", Manifest(images: images), missing: ["s1"])
        try await fixture.finish()
        let status = try #require(try fixture.status("a"))
        #expect(status.state == .completedWithErrors)
        #expect(status.counts.failed == 5 && status.counts.filtered == 15)
        #expect(try fixture.image("i5", of: "a").error?.code == "source-missing")
    }

    // MARK: Images that are made of others

    @Test func startsAnImageOnlyAfterThoseItComesAfter() async throws {
        let fixture = try SchedulerFixture()
        try fixture.accept(
            "a",
            Manifest(images: [
                Manifest.Image(name: "last", origin: .source("s0"), after: [1, 2]),
                Manifest.Image(name: "made", origin: .image(2)),
                Manifest.Image(name: "first", origin: .source("s1")),
            ]))
        try await fixture.finish()
        #expect(fixture.filtered == ["first", "made", "last"])
    }

    @Test func failsWhatWasToBeMadeFromAFailedImageAndOnlyThat() async throws {
        let fixture = try SchedulerFixture()
        try fixture.setSource("damaged", Array(SchedulerFixture.picture.dropLast(30)))
        try fixture.accept(
            "a",
            Manifest(images: [
                Manifest.Image(name: "base", origin: .source("damaged")),
                Manifest.Image(name: "made", origin: .image(0)),
                Manifest.Image(name: "madeOfMade", origin: .image(1)),
                Manifest.Image(name: "after", origin: .source("s1"), after: [0]),
            ]))
        try await fixture.finish()
        #expect(try fixture.status("a")?.counts.failed == 3)
        #expect(fixture.filtered == ["after"])
        #expect(try fixture.image("madeOfMade", of: "a").error?.code == "dependency-failed")
        let base = try #require(try fixture.image("base", of: "a").error)
        let made = try #require(try fixture.image("made", of: "a").error)
        #expect(made.code == "dependency-failed")
        #expect(made.message == "made is made from base, which has failed (\(base.code))")
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
        try fixture.accept("a", Self.overlaid)
        try await fixture.finish()
        #expect(fixture.filtered == ["frame", "logo", "marked", "markedTwice"])

        let failing = try SchedulerFixture()
        try failing.accept("a", Self.overlaid, missing: ["s2"])
        try await failing.finish()
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
        try former.accept("a", Self.overlaid)
        try await former.finish()
        var logo = try former.image("logo", of: "a")
        if state != .filtered { logo = ImageStatus(name: "logo", source: "s2", state: state) }

        let fixture = try SchedulerFixture.inOrder()
        try fixture.accept("a", Self.overlaid, journal: [.ended(index: 3, logo)], outputs: former)
        try await fixture.finish()
        if state == .filtered {
            #expect(fixture.filtered == ["marked", "frame", "markedTwice"])
        } else {
            #expect(fixture.filtered == ["frame"])
            #expect(try fixture.image("marked", of: "a").error?.code == "dependency-failed")
        }
    }

    @Test func failsAfterARestartWhatWasToBeMadeFromAFailedImage() async throws {
        let fixture = try SchedulerFixture()
        try fixture.accept(
            "a",
            Manifest(images: [
                Manifest.Image(name: "base", origin: .source("s0")),
                Manifest.Image(name: "made", origin: .image(0)),
            ]),
            journal: [.ended(index: 0, ImageStatus(name: "base", source: "s0", state: .failed))])
        try await fixture.finish()
        #expect(try fixture.image("made", of: "a").error?.code == "dependency-failed")
        #expect(try fixture.status("a")?.counts.failed == 2)
    }

    @Test(arguments: [false, true])
    func endsAChainLongerThanTheWindow(isFailing: Bool) async throws {
        let fixture = try SchedulerFixture(window: 4)
        let count = isFailing ? 50_000 : 5_000
        let images = (0..<count).map { index in
            Manifest.Image(
                name: "i\(index)", origin: index == 0 ? .source("s") : .image(index - 1))
        }
        try fixture.accept("a", Manifest(images: images), missing: isFailing ? ["s"] : [])
        try await fixture.finish()
        let counts = try #require(try fixture.status("a")).counts
        #expect(isFailing ? counts.failed == count : counts.filtered == count)
    }

    // MARK: Beginnings

    /// What the journal tells of the beginning: once, and whether there was one before.
    @Test func tellsOnceThatABatchBegins() async throws {
        let fixture = try SchedulerFixture(window: 2)
        try fixture.accept("a", images: 5)
        let images = (0..<3).map { Manifest.Image(name: "i\($0)", origin: .source("s\($0)")) }
        let ended = ImageStatus(name: "i1", source: "s1", state: .failed)
        try fixture.accept("b", Manifest(images: images), journal: [.ended(index: 1, ended)])
        try await fixture.finish()
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
        let origin = try FlakyOrigin(picture: SchedulerFixture.picture) { _, _ in .held }
        defer { origin.stop() }
        let fixture = try SchedulerFixture { $0.perHost = 2 }
        let images = (0..<100).map { index in
            Manifest.Image(
                name: "i\(index)",
                origin: .source(
                    index < 90 ? "s" : SourceReference(ByteString(origin.url("\(index)")))))
        }
        try fixture.accept("a", Manifest(images: images))
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
        let images = (0..<10).map { Manifest.Image(name: "i\($0)", origin: .source("s\($0)")) }
        try fixture.accept(
            "a", Manifest(images: images), journal: [.commanded(ControlRecord(.cancel, uid: 0))])
        try await fixture.finish()
        #expect(try fixture.finished == ["a": .cancelled])
        #expect(try fixture.status("a")?.counts.cancelled == 10)
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

    // MARK: In any order

    /// With operations at work in several threads, sources and pictures that fail, suspensions and cancellations: each
    /// image ends, once.
    @Test(.tags(.concurrency), arguments: 0..<12)
    func endsEverythingExactlyOnce(seed: UInt64) async throws {
        var random = SplitMix64(seed: seed)
        let window = 1 + Int.random(in: 0..<9, using: &random)
        let fixture = try SchedulerFixture(window: window) {
            $0.filterConcurrency = 1 + Int(seed % 4)
        }
        try fixture.setSource("s5", Array(SchedulerFixture.picture.dropLast(30)))
        var total: [String: Int] = [:]
        for id in (0..<12).map({ "b\($0)" }) {
            let count = Int.random(in: 1...40, using: &random)
            total[id] = count
            let images = Self.images(count, using: &random)
            let priority = Priority.allCases.randomElement(using: &random) ?? .normal
            try fixture.accept(
                id, Manifest(images: images, priority: priority), missing: ["s1"])
            try await fixture.goOn(Int.random(in: 0..<30, using: &random))
            if Int.random(in: 0..<5, using: &random) == 0 { fixture.obey(id, .cancel) }
            if Int.random(in: 0..<3, using: &random) == 0 {
                fixture.scheduler.suspend()
                fixture.scheduler.resume()
            }
        }
        try await fixture.finish()
        #expect(try fixture.finished.count == 12)
        for (id, count) in total {
            let counts = try #require(try fixture.status(id)).counts
            #expect(counts.finished == count && counts.total == count)
        }
        let ended = zip(fixture.filteredBatches, fixture.filtered).map { "\($0)/\($1)" }
        #expect(Set(ended).count == ended.count)
        #expect(fixture.board { $0.admission.isEmpty && $0.pool.memory.held == 0 })
        #expect(fixture.board { $0.pool.places.allSatisfy { $0 == 0 } })
    }

    private static func images(
        _ count: Int, using random: inout SplitMix64
    ) -> [Manifest.Image] {
        (0..<count).map { index in
            let isMade = index > 0 && Int.random(in: 0..<4, using: &random) == 0
            let other = index > 0 ? Int.random(in: 0..<index, using: &random) : 0
            return Manifest.Image(
                name: "i\(index)",
                origin: isMade
                    ? .image(other) : .source("s\(Int.random(in: 0..<8, using: &random))"),
                after: index > 2 && index % 5 == 0 ? [index - 2] : [])
        }
    }
}
