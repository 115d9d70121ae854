import DarkroomAnswer
import TestPictures

@testable import DarkroomBoard
@testable import DarkroomCore
@testable import DarkroomFetch
@testable import DarkroomManifest
@testable import DarkroomSpool
@testable import DarkroomWork

/// Plays the scheduler for a board, without threads, files and clocks: a generator decides what happens next.
///
/// A step is what a thread of the scheduler does while it holds the board's lock, or between two such times. So any
/// order of steps is one that the threads may have. The effects of a call are carried out later too, in their order,
/// while other threads go on. What waits to be done is in lists:
///
/// | list          | what it is in the daemon                                                             |
/// |---------------|--------------------------------------------------------------------------------------|
/// | `threads`     | threads that have called the board and have not carried out all effects              |
/// | `operations`  | operations in the queues of downloads and filters                                    |
/// | `entries`     | what the committer has to write into journals                                        |
/// | `moving`      | ended batches whose originals are being moved                                        |
/// | `afterwards`  | what waits until the committer has written a batch's entries                         |
/// | `parking`     | held batches whose status is to be written                                           |
/// | `finishing`   | ended batches whose last status is to be written                                     |
/// | `preparation` | the queue on which folders of batches are read                                       |
/// | `retries`     | timers of next attempts                                                              |
/// | `pauses`      | timers of hosts that have asked for a pause                                          |
/// | `tells`       | news of the storage guard for its clients                                            |
/// | `freed`       | scratch files that are removed because the disk is full                              |
///
/// `Folder` has what is on the disk: a batch's journal, its scratch files and the pixels for other images.
///
/// The same seed gives the same steps, so a failure is repeatable.
final class BoardMachine {
    /// What must not be.
    struct Fault: Error, CustomStringConvertible {
        let description: String
    }

    struct Limits {
        var window = 4
        var places = 4
        var perHost = 2
        var filters = FilterSlots(width: 2, keptForOwners: 1)
        var memory = 64 << 20
    }

    let seed: UInt64
    var random: SplitMix64
    var board: Board
    let bounds: Board.Bounds
    var limits = Limits()
    /// The most of each that was allowed, until so many have ended.
    var allowed = Allowance()
    /// The keys in the cache; without entries nothing is cached.
    var cacheKeys: [SourceReference: CacheKey] = [:]

    // The daemon's other parts.
    var now: UInt64 = 1
    var breaker = StorageBreaker()
    var isDiskWorking = true
    var isSuspended = false
    var isDraining = false

    // What waits to be done.
    var threads: [[Effect]] = []
    var operations: [Operation] = []
    var entries: [Entry] = []
    var deliveries: [DeliveryJob] = []
    var moving: [BatchKey] = []
    var afterwards: [Afterward] = []
    var parking: [BatchKey] = []
    var finishing: [Finishing] = []
    var preparation: [Preparation] = []
    var retries: [(work: Work, number: Int)] = []
    var pauses: [(host: ByteString, end: UInt64)] = []
    var tells = 0
    var freed: [Freed] = []
    /// The batches whose operations know that they were cancelled.
    var cancelled: Set<BatchKey> = []
    /// Batches whose folders are read when the disk works again.
    var unprepared: [BatchKey] = []

    // What is on the disk.
    var folders: [Folder] = []
    var folderOfKey: [BatchKey: Folder] = [:]
    /// The keys of batches in work, and of others whose work may not have left the admission.
    var knownKeys: [BatchKey] = []

    // What has been seen.
    var started: Set<Admission.Ticket> = []
    var stopped: Set<Admission.Ticket> = []
    var finished: Set<BatchKey> = []
    private var lastNumber = 0
    /// The situations that have come up, see `BoardMachineTests`.
    var seen: Set<String> = []
    /// The steps, if somebody wants to read them.
    var trace: [String]?

    init(seed: UInt64, isTraced: Bool = false) {
        self.seed = seed
        random = SplitMix64(seed: seed)
        trace = isTraced ? [] : nil
        bounds = Board.Bounds(
            placesPerLevel: Int.random(in: 1...8, using: &random),
            imageBudget: Int.random(in: 6...40, using: &random),
            batchesPerLevel: Int.random(in: 1...4, using: &random),
            preparedBudget: Int.random(in: 0...20, using: &random))
        board = Board(Self.settings.board, bounds)
        limits = randomLimits()
        if chance(60) { cacheKeys = Self.allCacheKeys[0] }
        makeBoard()
    }

    private static let settings: BatchSettings = {
        var settings = BatchSettings(
            examination: Examination(limits: ManifestLimits(), defaultFilters: [], settle: 0))
        // Otherwise each board asks for the cores, which takes longer than the rest.
        settings.filterConcurrency = 2
        return settings
    }()

    /// A board without batches, as that of a new daemon.
    func makeBoard() {
        var settings = Self.settings
        settings.retryPolicy = DownloadRetryPolicy(
            retries: Int.random(in: 0...3, using: &random), longestRetryAfter: 50)
        board = Board(settings.board, bounds)
        board.pool.jitter = { 1 }
        setLimits(of: &board)
        cancelled = []
        allowed = Allowance()
    }

    func setLimits(of board: inout Board) {
        let keys = cacheKeys
        board.cacheKey = { keys[$0] }
        board.setLimits(
            BoardSettings(
                window: limits.window, saturation: limits.places + limits.filters.width,
                retryPolicy: board.pool.settings.retryPolicy,
                downloads: .init(places: limits.places, perHost: limits.perHost, keptForOwners: 1),
                filters: limits.filters, memory: limits.memory))
    }

    // MARK: The generator

    func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &random) < percent }

    func number(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &random) }

    func pick<Element>(_ elements: [Element]) -> Element? {
        elements.randomElement(using: &random)
    }

    func nextNumber() -> Int {
        lastNumber += 1
        return lastNumber
    }

    func note(_ words: @autoclosure () -> String) {
        if trace != nil { trace?.append(words()) }
    }

    func see(_ situation: String) { seen.insert(situation) }

    // MARK: Calls of the board

    /// Changes the board and gives out the free places, as `Scheduler.advance`.
    func advance(_ change: (inout Board) -> Void) throws(Fault) {
        try settle(admits: true, change)
    }

    /// Changes the board, as `Scheduler.settle`. The effects are carried out now or later.
    ///
    /// - Parameter takesAlong: whether variants may be admitted beyond the window.
    func settle(
        admits: Bool = false, takesAlong: Bool = false, _ change: (inout Board) -> Void
    ) throws(Fault) {
        board.admission.isStorageWorking = breaker.mayWork
        let before = board.batches.mapValues(\.live)
        change(&board)
        let effects = board.settle(admits: admits && !isSuspended && breaker.mayWork)
        for effect in effects { try check(effect) }
        try checkAdmitted(since: before, takesAlong: takesAlong)
        if chance(isDraining ? 10 : 25) {
            let rest = effects.filter(Self.matters)
            if !rest.isEmpty { threads.append(rest) }
        } else {
            for effect in effects { try perform(effect) }
        }
    }

    /// Whether the board or what waits to be done depends on an effect.
    private static func matters(_ effect: Effect) -> Bool {
        switch effect {
        case .statusChanged, .amendStatus: false
        default: true
        }
    }

    /// Carries out the next effect of a thread.
    func performOne() throws(Fault) -> Bool {
        guard let index = threads.indices.randomElement(using: &random) else { return false }
        let effect = threads[index].removeFirst()
        if threads[index].isEmpty { threads.remove(at: index) }
        note("late: \(Self.words(effect))")
        try perform(effect)
        return true
    }

    private func perform(_ effect: Effect) throws(Fault) {
        switch effect {
        case .begun(let beginning): folder(beginning.id)?.hasStarted = true
        case .enterLater(let work, let retry):
            endedUndecided(work)
            retries.append((work, retry.number))
        case .start(let start): operations.append(Operation(start: start))
        case .stop(let ticket): stop(ticket)
        case .storageUndecided: change { $0.probeInconclusive(now: now) }
        case .record(let key, let id, let index, let status, _):
            let handsOver = status.state == .filtered && board.isHandedOver(key, index)
            add(.image(key, index, status, handsOver: handsOver), of: id)
        case .deliver(let job): deliveries.append(job)
        case .moveOriginals(let key, _): moving.append(key)
        case .endAgain(let key, let index, let image):
            add(.again(key, index, image), of: board.batches[key]?.id ?? "")
        case .dropHandOver(let id, let image): folder(id)?.pixels.remove(image)
        case .recordCommand(let id, let command): add(.command(command), of: id)
        case .setCancelled(let key): cancelled.insert(key)
        case .amendStatus, .statusChanged: break
        case .park(let key, let id):
            afterwards.append(Afterward(id: id, key: key, number: nextNumber(), isEnd: false))
        case .dropDownloads(let key, _): preparation.append(.dropDownloads(key))
        case .prepare(let key, _): preparation.append(.prepare(key))
        case .finish(let key, let id):
            afterwards.append(Afterward(id: id, key: key, number: nextNumber(), isEnd: true))
        }
    }

    private func add(_ kind: Entry.Kind, of id: String) {
        entries.append(Entry(id: id, kind: kind, number: nextNumber()))
    }

    func folder(_ id: String) -> Folder? { folders.first { $0.id == id } }

    static func words(_ effect: Effect) -> String {
        switch effect {
        case .start(let start): "start \(start.ticket.work.name) #\(start.ticket.number)"
        case .stop(let ticket): "stop \(ticket.work.name) #\(ticket.number)"
        case .record(let key, _, let index, let status, _):
            "record \(key)/\(index) \(status.state)"
        case .endAgain(let key, let index, _): "end again \(key)/\(index)"
        case .enterLater(let work, let retry): "retry \(work.name) wait \(retry.number)"
        case .dropHandOver(let id, let image): "drop pixels \(id)/\(image)"
        case .park(let key, _): "park \(key)"
        case .prepare(let key, _): "prepare \(key)"
        case .moveOriginals(let key, _): "move originals \(key)"
        case .finish(let key, _): "finish \(key)"
        default: "\(effect)".prefix { $0 != "(" }.description
        }
    }
}

extension BoardMachine {
    /// A batch's folder in `active`, with what its answer has.
    final class Folder {
        enum State { case inWork, lost, finished }

        let id: String
        let manifest: Manifest
        let owner: UInt32?
        /// The memory that each image needs, in bytes.
        let needs: [Int]
        var state = State.inWork
        /// According to the journal.
        var images: [ImageStatus]
        /// How often each was written into the journal since the batch was opened.
        var recorded: [Int]
        /// The images whose pixels are there for others.
        var pixels: Set<Int> = []
        /// Those that a restart delivers.
        var undelivered: [Int: UndeliveredImage] = [:]
        /// The source whose bytes each scratch file has; -1 for a part of them.
        var scratch: [Int: Int] = [:]
        var crashes: [Int: Crashes] = [:]
        var control = ControlState.free
        var commands: [ControlRecord] = []
        var hasStarted = false
        var reopenings = 0

        init(_ id: String, _ manifest: Manifest, owner: UInt32?, needs: [Int]) {
            self.id = id
            self.manifest = manifest
            self.owner = owner
            self.needs = needs
            images = ImageStatus.initial(of: manifest)
            recorded = images.map { _ in 0 }
        }
    }

    struct Operation {
        enum Phase {
            case queued
            /// It may not do its work, and is about to say so.
            case back
            case begun(RequestCoalescer.Turn)
            case downloads(DownloadJob, RequestCoalescer.Turn)
            /// The disk has refused its bytes.
            case refused(DownloadJob)
            /// Its filter has not begun.
            case notBegun
            case filters([FilterJob], Obstacle?, hasAsked: Bool)
            /// Its filter has ended, which the board does not know yet. The images are those that still are its own.
            case filtered([Int], givenBack: [Int], [(inout Board) -> Void])
        }

        let start: Admission.Start
        var phase = Phase.queued
        var isCancelled = false

        var ticket: Admission.Ticket { start.ticket }
    }

    struct Obstacle {
        let answer: MemoryAnswer
        let bytes: Int
    }

    struct Entry {
        enum Kind {
            case image(BatchKey, Int, ImageStatus, handsOver: Bool)
            case again(BatchKey, Int, ImageStatus)
            case command(ControlRecord)
        }

        let id: String
        let kind: Kind
        let number: Int
        /// Whether the disk has refused it.
        var isKept = false
    }

    struct Afterward {
        let id: String
        let key: BatchKey
        let number: Int
        /// Whether the batch has ended; else it is parked.
        let isEnd: Bool
    }

    struct Finishing {
        let key: BatchKey
        var isKept = false
    }

    enum Preparation {
        case prepare(BatchKey)
        case dropDownloads(BatchKey)
    }

    struct Freed {
        let key: BatchKey
        let slots: [Int]
    }

    /// Limits that were lowered: what had begun before may go on.
    struct Allowance {
        var downloads = 0
        var local = 0
        var hosts: [ByteString: Int] = [:]
        var grants = 0
        var memory = 0
    }
}
