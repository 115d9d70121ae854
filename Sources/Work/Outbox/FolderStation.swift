import DarkroomAnswer
import DarkroomBoard
import DarkroomCore
import Dispatch
import Synchronization

/// An outage of a folder, or of what is to be placed in it. The wait for the next attempt is twice as long after each one.
struct Outage: Sendable {
    let failure: Failure
    /// When it began, RFC 3339.
    let since: String
    /// In seconds.
    private let delay: Double
    /// The time of the next attempt, in nanoseconds.
    let next: UInt64
    /// Whether this time has not come.
    var isWaiting = true

    /// In seconds.
    private static let firstDelay = 1.0
    private static let longestDelay = 60.0

    /// - Parameter former: the outage until this attempt; nil if it begins now.
    init(_ failure: Failure, after former: Outage?, now: UInt64) {
        self.failure = failure
        since = former?.since ?? Clock.timestamp
        delay = former.map { min($0.delay * 2, Self.longestDelay) } ?? Self.firstDelay
        next = now.saturatingAdd(UInt64(delay * 1e9))
    }
}

/// Brings something into a folder in passes, on a queue of its own: the server of one folder may not answer.
protocol FolderStation: AnyObject, Sendable {
    var shared: StationShared { get }
    var queue: DispatchQueue { get }
    /// The outage of the folder, from its report until something shows its end, or nothing waits any more.
    var trouble: Outage? { get set }
    var attempt: PlannedTick { get set }
    var passIsSet: Bool { get set }
    var isEmpty: Bool { get }

    func pass()
    /// What waits for an attempt of its own takes part in the next pass.
    func takeBack()
    /// Keeps nothing any more.
    func clear()
}

extension FolderStation {
    func passSoon() {
        guard !passIsSet, !isEmpty else { return }
        passIsSet = true
        queue.async { [self] in
            passIsSet = false
            pass()
        }
    }

    /// The folder has refused everything, so that what is there waits for the next attempt.
    func wait(because failure: Failure) {
        let outage = Outage(failure, after: trouble, now: shared.time.now)
        trouble = outage
        guard let tick = attempt.plan(at: outage.next) else { return }
        shared.time.call(at: tick.time, on: queue) { [weak self] in
            guard let self, attempt.hasCome(tick) else { return }
            trouble?.isWaiting = false
            passSoon()
        }
    }

    /// A folder has refused everything, or the first thing, so that images or batches wait.
    func refused(_ failure: Failure, by folder: String, _ what: String, of waiting: String) {
        if trouble == nil { shared.log.folderWaits(folder, what, of: waiting, failure) }
        wait(because: failure)
    }

    func worksAgain(_ folder: String, _ what: String) {
        guard let trouble = trouble.take() else { return }
        shared.log.folderWorksAgain(folder, what, since: trouble.since, trouble.failure)
    }

    fileprivate func tryAgain() {
        queue.async { [self] in
            trouble?.isWaiting = false
            takeBack()
            passSoon()
        }
    }
}

/// What the stations of deliveries share, or those of originals.
final class StationShared: Sendable {
    struct Reason: Sendable, Equatable {
        /// What waits: the name of an image, or a number of originals.
        let subject: String
        let message: String
        let since: String
    }

    let committer: Committer
    let log: EventLog
    let time: TimeSource
    let stopped = CancellationFlag()
    /// By batches, and the numbers of their images.
    private let waiting = Mutex<[BatchKey: [Int: Reason]]>([:])

    init(committer: Committer, log: EventLog, time: TimeSource) {
        self.committer = committer
        self.log = log
        self.time = time
    }

    /// Notes why an image waits; nil if it does not wait any more. The originals of a batch are one image.
    ///
    /// - Returns: whether this is new.
    func note(_ reason: Reason?, for key: BatchKey, _ image: Int = 0) -> Bool {
        waiting.withLock { waiting in
            guard waiting[key]?[image] != reason else { return false }
            waiting[key, default: [:]][image] = reason
            if waiting[key]?.isEmpty == true { waiting[key] = nil }
            return true
        }
    }

    func reasons(of key: BatchKey) -> [Int: Reason] { waiting.withLock { $0[key] ?? [:] } }
}

/// The stations of deliveries, or those of originals.
final class Stations<Place: Hashable & Sendable, Station: FolderStation>: Sendable {
    let shared: StationShared
    private let stations = Mutex<[Place: Station]>([:])

    init(_ shared: StationShared) { self.shared = shared }

    func station(_ place: Place, _ make: (StationShared) -> Station) -> Station {
        stations.withLock { stations in
            let station = stations[place] ?? make(shared)
            stations[place] = station
            return station
        }
    }

    private var all: [Station] { stations.withLock { Array($0.values) } }

    /// Begins nothing any more. What is being done is like after a kill, which every step survives.
    func stop() {
        shared.stopped.set()
        for station in all { station.queue.async { station.clear() } }
    }

    /// A batch was cancelled, or somebody says that a folder may be back.
    func tryAgain() {
        for station in all { station.tryAgain() }
    }
}
