import TestSupport
import Testing

@testable import DarkroomAnswer
@testable import DarkroomBoard
@testable import DarkroomCore
@testable import DarkroomFixtures
@testable import DarkroomManifest
@testable import DarkroomPicture
@testable import DarkroomWork

/// Variants of an image: they are filtered together where they can be, and end each for itself.
struct SchedulerVariantTests {
    /// Three variants of an image, and an image of its own.
    private static func manifest(
        overlays: [Int: [Int]] = [:], source: Manifest.Origin = .source("s"),
        jpeg: Set<Int> = []
    ) -> Manifest {
        let variant = Manifest.Image.Variant(first: 0, count: 3, commonFilters: 0)
        var images = (0..<3).map { index in
            Manifest.Image(
                name: "v\(ByteString("\(index)"))", origin: source,
                overlays: overlays[index] ?? [],
                output: OutputOptions(format: jpeg.contains(index) ? .jpeg : .png),
                variant: variant)
        }
        images.append(Manifest.Image(name: "other", origin: .source("o")))
        return Manifest(images: images)
    }

    /// A batch whose sources are there and whose filters have not begun.
    private static func ready(
        _ fixture: SchedulerFixture, _ manifest: Manifest, journal: [JournalRecord] = []
    ) throws {
        fixture.holdOperations()
        try fixture.accept("x", manifest, journal: journal)
        fixture.board { board in
            for source in 0..<2 {
                _ = board.downloadBegan(1, source, isTransfer: false)
                board.downloadEnded(1, source, result: .ready(DownloadNote()))
            }
        }
    }

    /// The images that begin with this one.
    private static func begin(_ fixture: SchedulerFixture, _ index: Int) -> [Int] {
        fixture.board { board in
            let jobs: [FilterJob] = board.filterBegan(1, index)
            return jobs.map(\.image)
        }
    }

    private static func sums(_ fixture: SchedulerFixture) throws -> [String?] {
        try #require(try fixture.status("x")).images.map { $0.output?.sha256 }
    }

    @Test(arguments: [(0, [0, 1, 2]), (1, [1, 0, 2]), (2, [2, 0, 1]), (3, [3])])
    func theFirstTakesTheOthersAlong(index: Int, together: [Int]) throws {
        let fixture = try SchedulerFixture()
        try Self.ready(fixture, Self.manifest())
        #expect(Self.begin(fixture, index) == together)
        for other in together.dropFirst() { #expect(Self.begin(fixture, other) == []) }
        let counts = try #require(fixture.shown("x")).counts
        #expect(counts.filtering == together.count && counts.downloaded == 4 - together.count)
    }

    /// Also those that have no place yet.
    @Test func alsoThoseThatAreNotAdmitted() throws {
        let fixture = try SchedulerFixture(window: 1)
        try Self.ready(fixture, Self.manifest())
        #expect(fixture.board { $0.batches[1]?.live.count } == 1)
        #expect(Self.begin(fixture, 0) == [0, 1, 2])
        #expect(fixture.board { $0.batches[1]?.live.count } == 3)
        #expect(fixture.board { $0.pool.places.reduce(0, +) } == 3)
        #expect(fixture.shown("x")?.images.map(\.attempts) == [1, 1, 1, 0])
    }

    @Test(arguments: [1, 2, 64]) func allEnd(window: Int) async throws {
        let fixture = try SchedulerFixture(window: window)
        #expect(try await fixture.complete("x", Self.manifest(jpeg: [1])).state == .completed)
        #expect(fixture.filtered.sorted() == ["other", "v0", "v1", "v2"])
        #expect(fixture.board { $0.pool.memory.held == 0 && $0.pool.places.allSatisfy { $0 == 0 } })
        let images = try #require(try fixture.status("x")).images
        #expect(images.map(\.output?.file) == ["v0.png", "v1.jpg", "v2.png", "other.png"])
        #expect(images.allSatisfy { $0.attempts == 1 && $0.sourceSHA256 != nil })
    }

    /// One that needs another waits for it, and one whose overlay has failed fails alone.
    @Test func oneThatWaitsIsFilteredLater() async throws {
        let fixture = try SchedulerFixture()
        try Self.ready(fixture, Self.manifest(overlays: [2: [0]]))
        #expect(Self.begin(fixture, 0) == [0, 1])
        let whole = try SchedulerFixture()
        #expect(
            try await whole.complete("x", Self.manifest(overlays: [2: [0]], jpeg: [0])).state
                == .completed)
        let failing = try SchedulerFixture()
        let images = try await failing.complete(
            "x", Self.manifest(overlays: [1: [3]]), missing: ["o"]
        ).images
        #expect(images.map(\.state) == [.filtered, .failed, .filtered, .failed])
        #expect(images[1].error?.code == "dependency-failed")
    }

    /// Variants of the result of another image.
    @Test func areMadeFromAnotherImage() async throws {
        let fixture = try SchedulerFixture()
        var manifest = Self.manifest(source: .image(3))
        manifest.images[3].output.format = .jpeg
        #expect(try await fixture.complete("x", manifest).state == .completed)
        #expect(try Set(Self.sums(fixture).prefix(3)).count == 1)
    }

    /// One that is not there, or no picture: each has the same error, with its step.
    @Test(arguments: [(nil, "source-missing"), ("words", "not-a-picture")] as [(String?, String)])
    func aBadSourceFailsAll(content: String?, code: String) async throws {
        let fixture = try SchedulerFixture()
        if let content { try fixture.setSource("s", Array(content.utf8)) }
        let images = try await fixture.complete("x", Self.manifest(), missing: ["s"]).images
        #expect(images.map { $0.error?.code } == [code, code, code, nil])
        #expect(Set(images.prefix(3).map(\.error?.message)).count == 1)
    }

    /// No further image of a held batch begins.
    @Test func butNotThoseThatAreNotAdmittedIfTheBatchIsHeld() throws {
        let fixture = try SchedulerFixture(window: 1)
        fixture.holdOperations()
        try fixture.accept("x", Self.manifest())
        fixture.board { _ = $0.downloadBegan(1, 0, isTransfer: false) }
        fixture.obey("x", .hold)
        fixture.board { $0.downloadEnded(1, 0, result: .ready(DownloadNote())) }
        #expect(Self.begin(fixture, 0) == [0])
        #expect(fixture.board { $0.batches[1]?.live.count } == 1)
    }

    // MARK: What is left after a restart

    /// Those that have ended are not made again, and the others still go together.
    @Test func aRestartGoesOnWithTheRest() async throws {
        let former = try SchedulerFixture()
        let images = try await former.complete("x", Self.manifest()).images
        let fixture = try SchedulerFixture()
        fixture.holdOperations()
        try fixture.accept(
            "x", Self.manifest(), journal: [.ended(index: 1, images[1])], outputs: former)
        fixture.board { board in
            _ = board.downloadBegan(1, 0, isTransfer: false)
            board.downloadEnded(1, 0, result: .ready(DownloadNote()))
            let jobs: [FilterJob] = board.filterBegan(1, 2)
            #expect(jobs.map(\.image) == [2, 0])
        }
        let whole = try SchedulerFixture()
        try await whole.complete(
            "x", Self.manifest(), journal: [.ended(index: 1, images[1])], outputs: former)
        #expect(whole.filtered.sorted() == ["other", "v0", "v2"])
        #expect(try Self.sums(whole) == Self.sums(former))
    }

    /// One that a process has died with is filtered alone, and takes nobody along. The others go together.
    @Test func aSuspectIsAlone() throws {
        let fixture = try SchedulerFixture()
        let crash = JournalRecord.crashed(index: 0, number: 1, .watchdog)
        try Self.ready(fixture, Self.manifest(), journal: [crash])
        #expect(Self.begin(fixture, 1) == [1, 2])
        let other = try SchedulerFixture()
        try Self.ready(other, Self.manifest(), journal: [crash])
        #expect(Self.begin(other, 0) == [0])
    }

    @Test func aSuspectEndsLikeTheOthers() async throws {
        let fixture = try SchedulerFixture()
        #expect(
            try await fixture.complete(
                "x", Self.manifest(), journal: [.crashed(index: 1, number: 1, .watchdog)]
            ).state == .completed)
    }

    // MARK: Memory

    private static func fixture() throws -> SchedulerFixture { try .withMemory(large: ["s"]) }

    /// A batch whose variants do not find the memory that they need, because another image has half of it.
    private static func shortOfMemory() throws -> SchedulerFixture {
        let fixture = try fixture()
        fixture.occupy()
        try fixture.accept("x", manifest())
        return fixture
    }

    /// They wait with the one that waits, are shown as downloaded, and go with it.
    @Test func waitTogetherForMemory() async throws {
        let fixture = try Self.shortOfMemory()
        try await fixture.wait(for: .imageFiltered)
        try await fixture.waitForWaiters()
        #expect(fixture.shown("x")?.counts.downloaded == 3)
        #expect(fixture.journal.all(.imageWaits).count == 1)
        // A hold takes all of them back, and a release begins anew.
        fixture.obey("x", .hold)
        try await fixture.finish()
        #expect(try fixture.status("x")?.state == .held)
        fixture.obey("x", .release)
        try await fixture.waitForWaiters()
        fixture.vacate()
        try await fixture.finishWithoutMemory()
        // The picture is only a header.
        let images = try #require(try fixture.status("x")).images
        #expect(images.map(\.state) == [.failed, .failed, .failed, .filtered])
    }

    @Test func areCancelledWhileTheyWait() async throws {
        let fixture = try Self.shortOfMemory()
        try await fixture.waitForWaiters()
        fixture.obey("x", .cancel)
        #expect(fixture.board { $0.pool.memory.waitingCount == 0 })
        try await fixture.finish()
        let status = try #require(try fixture.status("x"))
        #expect(status.state == .cancelled && status.counts.finished == 4)
    }

    /// The operation of one that was taken along has begun meanwhile, and finds nothing to do. It waits with the others,
    /// and goes with them.
    @Test func oneThatWasTakenAlongDoesNotWaitForItself() throws {
        let fixture = try Self.fixture()
        fixture.occupy()
        try Self.ready(fixture, Self.manifest())
        #expect(Self.begin(fixture, 0) == [0, 1, 2])
        fixture.board { board in
            board.change(1) {
                $0.filterPostponed([0, 1, 2], bytes: 100 * SchedulerFixture.mega, &$1)
            }
            board.filterNotBegun(1, 1)
            #expect(board.pool.memory.waitingCount == 1)
            board.pool.giveBackMemory(SchedulerFixture.occupant)
            #expect(board.pool.memory.waitingCount == 0)
        }
        #expect(Self.begin(fixture, 0) == [0, 1, 2])
    }

    /// Another one has been granted its memory, and has not begun: one that finds none waits with it.
    @Test func oneThatFindsNoMemoryGoesWithTheOneThatHasIt() throws {
        let fixture = try Self.fixture()
        try Self.ready(fixture, Self.manifest())
        let occupants = [0, 1].map { Work.filter(99, image: $0) }
        fixture.board { board in
            let places = FilterSlots(width: 2, keptForBatches: 0, keptForOwners: 0)
            _ = board.pool.memory.setLimits(bytes: 128 * SchedulerFixture.mega, places: places)
            for occupant in occupants {
                let isTaken = board.pool.memory.take(.least, for: occupant, owner: 1000)
                #expect(isTaken)
            }
        }
        #expect(Self.begin(fixture, 0).isEmpty && Self.begin(fixture, 1).isEmpty)
        fixture.board { board in
            board.filterNotBegun(1, 0)
            board.pool.giveBackMemory(occupants[0])
            #expect(board.pool.memory.holds(.filter(1, image: 0)))
            board.filterNotBegun(1, 1)
            #expect(board.pool.memory.waitingCount == 0)
        }
        #expect(Self.begin(fixture, 0) == [0, 1, 2])
    }

    /// If they need more together than there is, each is filtered by itself.
    @Test func areFilteredApartIfTheyNeedTooMuch() throws {
        let fixture = try SchedulerFixture()
        try Self.ready(fixture, Self.manifest())
        #expect(Self.begin(fixture, 0) == [0, 1, 2])
        let enqueued = fixture.board { board in
            board.requests { $0.change(1) { $0.filteredApart([0, 1, 2], &$1) } }.entered
        }
        #expect(enqueued == (0..<3).map { .filter(1, image: $0) })
        #expect(Self.begin(fixture, 0) == [0] && Self.begin(fixture, 1) == [1])
    }

    /// One of them meets a full disk: it alone is repeated.
    @Test func oneThatIsDeferredIsRepeatedAlone() throws {
        let fixture = try SchedulerFixture()
        try Self.ready(fixture, Self.manifest())
        #expect(Self.begin(fixture, 0) == [0, 1, 2])
        fixture.board { board in
            let failure = Failure(PictureError(.filterOutside, "outside"))
            board.filterEnded(1, 0, result: .failure(failure), share: 3)
            let requests = board.requests { $0.filterDeferred(1, 1) }
            #expect(requests.entered.contains(.filter(1, image: 1)))
            board.filterEnded(1, 2, result: .failure(failure), share: 3)
        }
        #expect(Self.begin(fixture, 1) == [1])
    }
}
