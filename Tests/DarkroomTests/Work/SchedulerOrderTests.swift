import Testing

@testable import DarkroomBoard
@testable import DarkroomFetch
@testable import DarkroomManifest
@testable import DarkroomWork

/// Who is given the next place: by priority and quality of service, and in turns of owners and batches.
struct SchedulerOrderTests {
    /// A fixture in which nothing begins before the test has said what there is to be done.
    private func held(
        window: Int = 4, board: Board.Bounds = Board.Bounds(),
        settings: (inout BatchSettings) -> Void = { _ in }
    ) throws -> SchedulerFixture {
        let fixture = try SchedulerFixture(window: window, board: board, settings: settings)
        fixture.holdOperations()
        return fixture
    }

    private func finish(_ fixture: SchedulerFixture, batches: Int) async throws {
        fixture.releaseOperations()
        try await fixture.finish()
        #expect(try fixture.finished.count == batches)
        #expect(fixture.board { $0.imagesOfOwner.allSatisfy { $0.value == 0 } })
        #expect(
            fixture.board {
                $0.pool.placesOfOwner.allSatisfy { $0.values.allSatisfy { $0 == 0 } }
            })
    }

    /// Without levels, both would go on equally. How much of the lower one goes by depends on the threads.
    @Test func letsAHigherPriorityGoFirst() async throws {
        let fixture = try held(board: Board.Bounds(placesPerLevel: 4)) {
            $0.downloadConcurrency = 1
            $0.filterConcurrency = 1
        }
        let images = 200
        try fixture.accept("low", images: images, priority: .low)
        try fixture.accept("high", images: images, priority: .high)
        try await finish(fixture, batches: 2)
        let order = fixture.filteredBatches
        let high = order.indices.filter { order[$0] == "high" }
        let most = images - 20
        #expect(order[..<high[most]].count { $0 == "low" } < most * 3 / 4)
        #expect(fixture.finishedOrder == ["high", "low"])
    }

    /// While images of a higher quality of service have enough places, none of a lower one begins. The two queues go on in
    /// turns, so that the order does not depend on threads. Then the only images that surely have places are the two whose
    /// sources are looked for, so two must be enough. The batches share no sources: one would take the other's images along.
    @Test func letsAHigherQualityOfServiceGoFirst() async throws {
        let fixture = try held(window: 8) { $0.downloadConcurrency = 2 }
        let enough = fixture.board { board in
            var settings = board.pool.settings
            defer {
                settings.saturation = 2
                board.pool.setLimits(settings)
            }
            return settings.saturation
        }
        #expect(enough == 4)
        let images = 120
        let own = (0..<images).map { SourceReference("low\($0)") }
        try fixture.accept("low", .of(own, quality: .background))
        let begun = fixture.board { board in board.batches.values.reduce(0) { $0 + $1.live.count } }
        #expect((1..<images / 3).contains(begun))
        try fixture.accept("high", images: images, quality: .userInteractive)
        var filtered = 0
        while filtered < images {
            fixture.releaseOperations(filters: false)
            try await fixture.wait(for: "the sources") {
                fixture.fetched.count > filtered && fixture.scheduler.queues.downloadCount == 0
                    && fixture.scheduler.runningCount == 0
            }
            let found = fixture.fetched.count
            fixture.holdOperations(filters: false)
            fixture.scheduler.queues.filters.setSuspended(false)
            try await fixture.wait(for: .imageFiltered, count: found)
            fixture.scheduler.queues.filters.setSuspended(true)
            filtered = found
        }
        let order = fixture.filteredBatches
        #expect(order.prefix(images).count { $0 == "low" } == begun, "\(order)")
        try await finish(fixture, batches: 2)
    }

    @Test func letsASmallBatchPassALargeOneInWork() async throws {
        let fixture = try held()
        try fixture.accept("large", images: 2000)
        fixture.releaseOperations(filters: false)
        // All of its places are taken.
        try await fixture.wait(for: .imageDownloaded, count: 4)
        try fixture.accept("small", images: 1)
        try await finish(fixture, batches: 2)
        let small = try #require(fixture.filteredBatches.firstIndex(of: "small"))
        #expect(small < 100)
        #expect(fixture.finishedOrder == ["small", "large"])
    }

    @Test func keepsNoMoreThanTheBudgetInWorkButLetsOneLargeBatchIn() async throws {
        let fixture = try held(board: Board.Bounds(imageBudget: 100))
        for (id, count) in [("a", 80), ("b", 500), ("c", 300), ("d", 10)] {
            try fixture.accept(id, images: count)
        }
        #expect(fixture.scheduler.summary.batchesInWork == 2)
        try await finish(fixture, batches: 4)
    }

    @Test func letsAnUrgentSmallBatchInBesideAFullHouse() throws {
        let fixture = try held(board: Board.Bounds(imageBudget: 4000))
        for index in 0..<4 { try fixture.accept("full\(index)", images: 1000) }
        try fixture.accept("large", images: 3000)
        try fixture.accept("urgent", images: 1, priority: .veryHigh)
        #expect(fixture.scheduler.summary.batchesWaiting == 0)
    }

    /// However many small batches there are, few of each level are in work; others of a higher level are not
    /// kept waiting by them.
    @Test func keepsFewBatchesOfALevelInWork() async throws {
        let fixture = try held(board: Board.Bounds(batchesPerLevel: 8))
        for index in 0..<50 { try fixture.accept("b\(index)", images: 1) }
        #expect(fixture.scheduler.summary.batchesInWork == 8)
        try fixture.accept("urgent", images: 1, priority: .veryHigh)
        #expect(fixture.scheduler.summary.batchesInWork == 9)
        for index in 0..<50 where index % 7 == 0 { fixture.obey("b\(index)", .hold) }
        for index in 0..<50 where index % 14 == 0 { fixture.obey("b\(index)", .cancel) }
        for index in 0..<50 where index % 14 == 7 { fixture.obey("b\(index)", .release) }
        try await finish(fixture, batches: 51)
        fixture.holdOperations()
        for index in 0..<50 { try fixture.accept("c\(index)", images: 1) }
        #expect(fixture.scheduler.summary.batchesInWork == 8)
    }

    // MARK: Owners

    /// A full house: its batches, as an owner, how many, and their images; and how many places they take, if that is known.
    typealias House = (
        window: Int, bounds: Board.Bounds, batches: [(UInt32, Int, Int)],
        places: Int?
    )

    private static let houses: [House] = [
        // Of one owner, who has many manifests, and of several who have all there is.
        (4, Board.Bounds(placesPerLevel: 16), [(2, 10, 10)], 12),
        (64, Board.Bounds(placesPerLevel: 16), (2..<8).map { ($0, 4, 16) }, nil),
        // One in which there is no room for batches.
        (4, Board.Bounds(batchesPerLevel: 16), (2..<8).map { ($0, $0 == 2 ? 30 : 1, 1) }, nil),
    ]

    /// Whatever others have in work, one who has nothing is given a place.
    @Test(arguments: houses) func leavesPlacesToOtherOwners(house: House) async throws {
        let fixture = try held(window: house.window, board: house.bounds)
        for (owner, count, images) in house.batches {
            for number in 0..<count {
                try fixture.accept("\(owner)-\(number)", images: images, owner: owner)
            }
        }
        if let places = house.places {
            #expect(fixture.board { $0.pool.places.reduce(0, +) } == places)
        }
        try fixture.accept("other", images: 3, owner: 9)
        #expect(fixture.shown("other")?.state == .processing)
        try await finish(fixture, batches: house.batches.reduce(1) { $0 + $1.1 })
    }

    /// Nor do his manifests, many as they are, keep another's from being worked on, be that one of a lower priority.
    @Test(arguments: [DarkroomManifest.Priority.normal, .veryLow])
    func leavesRoomToOtherOwners(priority: DarkroomManifest.Priority) async throws {
        let fixture = try held(board: Board.Bounds(imageBudget: 160, batchesPerLevel: 8))
        for index in 0..<100 { try fixture.accept("many\(index)", images: 30) }
        let waiting = fixture.scheduler.summary.batchesWaiting
        #expect(waiting > 90)
        try fixture.accept("other", images: 10, priority: priority, owner: 2)
        #expect(fixture.shown("other") != nil)
        #expect(fixture.scheduler.summary.batchesWaiting == waiting)
        // Room for those who have little is not for whom it makes have much.
        try fixture.accept("another", images: 15, priority: priority, owner: 2)
        #expect(fixture.shown("another") == nil)
        try await finish(fixture, batches: 102)
    }

    /// Nor does a higher quality of service keep another owner's out.
    @Test func leavesPlacesToOthersBesideAHigherQualityOfService() async throws {
        let fixture = try SchedulerFixture(window: 64)
        fixture.holdOperations(downloads: false)
        try fixture.accept("urgent", images: 200, quality: .userInteractive)
        try await fixture.wait(for: .imageDownloaded, count: 64)
        try fixture.accept("own", images: 3)
        try fixture.accept("other", images: 3, owner: 2)
        #expect(fixture.shown("other")?.state == .processing)
        #expect(fixture.shown("own")?.state == .pending)
        try await finish(fixture, batches: 3)
    }

    /// The owner who has the fewest images in work is next where there is room again.
    @Test func worksOnOwnersInTurns() async throws {
        let fixture = try held(board: Board.Bounds(imageBudget: 400, batchesPerLevel: 4))
        for index in 0..<20 { try fixture.accept("a\(index)", images: 100) }
        for index in 0..<4 { try fixture.accept("b\(index)", images: 100, owner: 2) }
        try await finish(fixture, batches: 24)
        let last = try #require(fixture.finishedOrder.lastIndex { $0.hasPrefix("b") })
        #expect(last < 14, "\(fixture.finishedOrder)")
    }
}
