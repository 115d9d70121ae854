import DarkroomAnswer
import Testing

@testable import DarkroomBoard
@testable import DarkroomCore
@testable import DarkroomFetch
@testable import DarkroomManifest
@testable import DarkroomSpool
@testable import DarkroomWork

/// The board alone, called as the scheduler calls it: what the random sequences of `BoardMachineTests` have found.
struct BoardTests {
    private static let key = CacheKey(bytes: [UInt8](repeating: 1, count: 32))

    private func board(_ bounds: Board.Bounds = Board.Bounds()) -> Board {
        var settings = BatchSettings(
            examination: Examination(limits: ManifestLimits(), defaultFilters: [], settle: 0))
        settings.filterConcurrency = 4
        settings.memory = 1 << 30
        settings.retryPolicy.retries = 0
        return Board(settings.board, bounds)
    }

    /// A batch of images of these sources.
    private func batch(
        _ id: String, _ sources: [SourceReference], owner: UInt32? = 1
    ) -> PreparedBatch {
        .new(id, .of(sources), owner: owner)
    }

    private func settle(
        _ board: inout Board, _ change: (inout Board) -> Void
    ) -> [Effect] {
        change(&board)
        return board.settle(admits: true)
    }

    private func give(_ command: ControlCommand, to id: String, _ board: inout Board) -> [Effect] {
        settle(&board) {
            _ = $0.obey(id, ControlRecord(command, uid: 0), isPrivileged: true)
        }
    }

    private func tickets(_ effects: [Effect]) -> [Admission.Ticket] {
        effects.compactMap { if case .start(let start) = $0 { start.ticket } else { nil } }
    }

    /// What becomes of one copy does not concern another one.
    @Test func aBoardIsAValue() {
        var board = board()
        _ = settle(&board) { $0.accept(batch("a", ["s", "t"])) }
        var other = board
        _ = give(.cancel, to: "a", &other)
        #expect(other.batches[1]?.status.counts.cancelled == 2)
        #expect(board.batches[1]?.status.counts.cancelled == 0)
        #expect(board.batches[1]?.isCancelled == false)
    }

    // MARK: Turns

    /// Statuses of former versions may not name the owner.
    @Test(arguments: [[nil], [nil, 1], [1, nil], [nil, nil, 2]] as [[UInt32?]])
    func ownersWhoAreNotKnownGetTurns(owners: [UInt32?]) {
        var board = board()
        var begun = 0
        for (index, owner) in owners.enumerated() {
            let effects = settle(&board) { $0.accept(batch("b\(index)", ["s"], owner: owner)) }
            begun += effects.count { if case .begun = $0 { true } else { false } }
        }
        #expect(begun == owners.count)
    }

    /// It is put away while it waits for its turn, and comes back.
    @Test func aBatchThatComesBackHasOneTurn() {
        var board = board(Board.Bounds(placesPerLevel: 1))
        for id in ["a", "b"] { _ = settle(&board) { $0.accept(batch(id, ["s", "t"])) } }
        #expect(board.pool.rotation.flatMap(\.keys).sorted() == [1, 2])
        _ = give(.hold, to: "b", &board)
        _ = settle(&board) { $0.parked(2) }
        #expect(board.pool.rotation.flatMap(\.keys) == [1])
        _ = give(.release, to: "b", &board)
        _ = settle(&board) { $0.prepared(2, batch("b", ["s", "t"])) }
        #expect(board.pool.rotation.flatMap(\.keys).sorted() == [1, 2])
    }

    // MARK: Counts

    /// A download that has failed with another one does not wait for it any more.
    @Test func aSharedFailureDoesNotWait() throws {
        var board = board()
        board.cacheKey = { _ in Self.key }
        let leader = settle(&board) { $0.accept(batch("a", ["http://h/s"])) }
        let ticket = try #require(tickets(leader).first)
        let beginning = board.begin(ticket, key: Self.key)
        #expect(beginning == .goes(.leads))
        let job = board.downloadBegan(ticket, isTransfer: true)
        #expect(job != nil)
        _ = settle(&board) { $0.accept(batch("b", ["http://h/s"])) }
        #expect(board.pool.waitingPlaces.reduce(0, +) == 1)
        board.left(ticket, isShared: false) {
            $0.downloadEnded(1, 0, result: .failed(.late))
        }
        let ended = board.settle(admits: false)
        #expect(ended.count { if case .record = $0 { true } else { false } } == 2)
        #expect(board.pool.waitingPlaces.reduce(0, +) == 0)
        #expect(board.batches[2]?.sources[0].waitsOutside == false)
    }

    /// An image with an operation waits for memory only if that one says so.
    @Test func anOperationOfBeforeLetsNoImageWait() throws {
        var board = board()
        board.setLimits(
            BoardSettings(
                window: 8, saturation: 8, retryPolicy: DownloadRetryPolicy(),
                downloads: DownloadFairQueue.Limits(places: 8, perHost: 8),
                filters: FilterSlots(width: 4, keptForOwners: 0), memory: MemoryBudget.share))
        _ = settle(&board) { $0.accept(batch("a", ["s", "t"])) }
        for source in 0...1 {
            _ = board.downloadBegan(1, source, isTransfer: false)
            _ = settle(&board) { $0.downloadEnded(1, source, result: .ready(DownloadNote())) }
        }
        let begun = [0, 1].filter { board.filterBegan(1, $0) != nil }
        #expect(begun == [0])
        let requests = board.requests { $0.filterNotBegun(1, 1) }
        #expect(requests.isEmpty)
        #expect(board.pool.memory.waitingCount == 0)
        #expect(board.admission.place(of: .filter(1, image: 1)) == .queued)
    }

    // MARK: Operations of former entries

    /// What an operation does whose work was taken back after the admission had let it go, and is requested again.
    @Test(arguments: [Work.download(1, source: 0), .filter(1, image: 0)])
    func anOperationOfAFormerEntryBeginsNothing(work: Work) throws {
        var board = board()
        var effects = settle(&board) { $0.accept(batch("a", ["s", "t"])) }
        // The other image keeps the batch in work.
        _ = board.downloadBegan(1, 1, isTransfer: false)
        if case .filter = work {
            _ = board.downloadBegan(1, 0, isTransfer: false)
            effects = settle(&board) { $0.downloadEnded(1, 0, result: .ready(DownloadNote())) }
        }
        let former = try #require(tickets(effects).first { $0.work == work })
        let goes = board.begin(former, key: nil)
        #expect(goes == .goes(.alone))
        _ = give(.hold, to: "a", &board)
        effects = give(.release, to: "a", &board)
        let present = try #require(tickets(effects).first { $0.work == work })
        let formerBegins = begins(former, &board)
        #expect(!formerBegins)
        let goesAgain = board.begin(present, key: nil)
        #expect(goesAgain == .goes(.alone))
        let presentBegins = begins(present, &board)
        #expect(presentBegins)
        // Nor does it put anything back.
        let late = board.requests {
            $0.deferred(former) { board in
                switch work {
                case .download(let key, let source): board.downloadDeferred(key, source)
                case .filter(let key, let image): board.filterDeferred(key, image)
                }
            }
        }
        #expect(late.isEmpty && board.admission.place(of: work) == .running)
    }

    private func begins(_ ticket: Admission.Ticket, _ board: inout Board) -> Bool {
        switch ticket.work {
        case .download: board.downloadBegan(ticket, isTransfer: false) != nil
        case .filter: !board.filterBegan(ticket).isEmpty
        }
    }
}
