import TestPictures
import Testing

@testable import DarkroomBoard
@testable import DarkroomCore
@testable import DarkroomWork

/// Images that wait for memory.
extension SchedulerFixture {
    static let mega = 1 << 20
    /// Whoever has the memory that others wait for.
    static let occupant = Work.filter(99, image: 0)

    /// - Parameters:
    ///   - megabytes: what there is, an eighth of which is kept for idle owners.
    ///   - large: sources whose pictures take 60 MB; small ones take 12.
    ///   - huge: those whose pictures take 120 MB.
    static func withMemory(
        megabytes: Int = 128, width: Int = 4, large: [ByteString] = [], huge: [ByteString] = []
    ) throws -> SchedulerFixture {
        let fixture = try SchedulerFixture(window: 64) {
            $0.memory = megabytes * mega
            $0.filterConcurrency = width
            $0.downloadConcurrency = 1
        }
        for (names, side) in [(large, 6000), (huge, 10_000)] {
            // Interlaced, so that its reader holds all of it.
            let bytes = PNGMaker.interlacedHeader(side: side)
            for name in names { try fixture.setSource(name, bytes) }
        }
        return fixture
    }

    func setMemory(megabytes: Int) {
        var settings = scheduler.settings
        settings.memory = megabytes * Self.mega
        scheduler.update(settings)
    }

    /// Has another picture of the owner take 64 MB, for as long as the test wants.
    func occupy() {
        let isTaken = board { board in
            board.pool.memory.take(.bytes(64 * Self.mega), for: Self.occupant, owner: 1000)
        }
        #expect(isTaken)
    }

    /// - Returns: the numbers of the images that get the memory, in their order.
    @discardableResult
    func vacate() -> [Int] {
        var images: [Int] = []
        scheduler.advance { board in
            board.pool.giveBackMemory(Self.occupant)
            for case .filter(let key, let image) in board.pool.takeRequests().entered {
                images.append(image)
                board.pool.enter(.filter(key, image: image))
            }
        }
        return images
    }

    func waitForWaiters(_ count: Int = 1) async throws {
        try await wait(for: "\(count) that wait for memory") {
            scheduler.summary.imagesWaitingForMemory == count && scheduler.runningCount == 0
        }
    }

    /// Waits until nothing is left to be done, and no memory is in use.
    func finishWithoutMemory() async throws {
        try await finish()
        #expect(board { $0.pool.memory.held == 0 && $0.pool.memory.waitingCount == 0 })
    }
}

extension PNGMaker {
    /// The beginning of an interlaced gray picture, whose reader asks for memory for the whole of it and then finds that
    /// the rest is missing.
    static func interlacedHeader(side: Int) -> [UInt8] {
        var maker = PNGMaker(
            width: 1, height: 1, colourType: .gray, depth: 8, interlaced: true, samples: [0])
        let stream = maker.stream(of: maker.filteredRows())
        (maker.width, maker.height) = (side, side)
        return PNGChunk.file(maker.chunks(around: stream))
    }
}
