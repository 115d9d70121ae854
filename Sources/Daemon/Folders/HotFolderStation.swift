import DarkroomAnswer
import DarkroomCore
import DarkroomSpool
import DarkroomWork
import Dispatch
import Glibc
import Synchronization
import SystemPackage

/// Takes the pictures of one hot folder, on a queue of its own: a network file system may not answer.
///
/// | state    | why                                                     | until                                    |
/// |----------|---------------------------------------------------------|------------------------------------------|
/// | starting | nothing is known yet                                    | the first look                           |
/// | watching | inotify reports what happens; listings find the rest    | the folder is lost                       |
/// | polling  | inotify does not work there; it is listed at each look  | the folder is lost                       |
/// | missing  | it cannot be opened; nothing is concluded from that     | a look finds it                          |
/// | refused  | it contains the spool or is part of it, or others could | a look finds no problem                  |
/// |          | put another folder in its place (`FolderWay`)           |                                          |
/// | failed   | the ledger or the records cannot be read                | a look can read them                     |
///
/// Between two looks the folder is not open, so that it can be unmounted. `HotArrivals` has the states of a picture,
/// `HotBatch` those of a batch.
final class HotFolderStation: @unchecked Sendable {
    // @unchecked: the stored variables are used on `queue` only, except those in a mutex and the flag.

    enum State {
        case starting
        case watching
        case polling(FileError)
        case missing(FileError)
        case refused(String)
        case failed(FileError)
    }

    /// How many batches of the folder may be unfinished. Their pictures are in the spool twice, as copies and as
    /// outputs.
    private static let mostBatches = 4

    private struct Current {
        var folder: HotFolder
        var settings: HotFolderSettings
    }

    let spool: Spool
    let scheduler: Scheduler
    let log: EventLog
    let time: TimeSource
    /// Called after each change of the report.
    let onReport: @Sendable () -> Void
    let queue: DispatchQueue
    let stopped = CancellationFlag()
    private let current: Mutex<Current>
    let report: Mutex<FoldersReport.Folder?> = Mutex(nil)
    /// For the metrics: whether pictures of the right folder are taken, and how many were since the start.
    let isUp = Atomic(false)
    let taken = Counter()

    var state = State.starting
    var since = Clock.timestamp
    /// `hot/KEY`, and its content; nil until it could be read.
    var station: Directory?
    var ledger: PictureLedger?
    var batches: [HotBatch] = []
    /// The batches that have ended and whose originals are not yet where they belong.
    var ended: Set<ByteString> = []
    /// The device and the inode of the folder at the last look.
    var seen: (device: UInt64, root: UInt64)?
    /// Whether its pictures were taken from another folder at the same path, as the last listing has it.
    var isOther = false
    var watch: FolderTreeWatch?
    var arrivals = HotArrivals()
    var refused: [RelativePath: (reason: HotFileReason, message: String)] = [:]
    var notices = NoticeLimit()
    /// Whether only a listing finds everything.
    var mustScan = false
    var lastScan: UInt64 = 0
    var lastTry: UInt64 = 0
    /// The time of the next timer, in nanoseconds, and its number. Earlier timers do nothing.
    private var timer: (moment: UInt64, number: Int)?
    private var timerNumber = 0
    private let tendIsSet = Atomic(false)
    var publishIsSet = false

    init(
        _ folder: HotFolder, _ settings: HotFolderSettings, spool: Spool, scheduler: Scheduler,
        log: EventLog, time: TimeSource = .system, onReport: @escaping @Sendable () -> Void
    ) {
        self.spool = spool
        self.scheduler = scheduler
        self.log = log
        self.time = time
        self.onReport = onReport
        current = Mutex(Current(folder: folder, settings: settings))
        queue = DispatchQueue(label: "darkroom.folder", qos: .utility)
    }

    var folder: HotFolder { current.withLock(\.folder) }
    var settings: HotFolderSettings { current.withLock(\.settings) }
    var path: String { folder.path }
    var settleTime: UInt64 { UInt64(clamping: settings.settle * 1e9) }
    var isStopped: Bool { stopped.isSet }

    func update(_ folder: HotFolder, _ settings: HotFolderSettings) {
        let isSame = current.withLock { current in
            defer { current = Current(folder: folder, settings: settings) }
            return current.settings.ignored == settings.ignored
        }
        queue.async { [self] in
            // Other files are pictures now, and some are none any more.
            if !isSame, ledger != nil, let root = openRoot() { scan(root) }
            publish()
        }
    }

    func start() {
        queue.async { [self] in look() }
    }

    /// Takes nothing more. What it is doing is like after a kill, which every step survives.
    func stop() { stopped.set() }

    /// The present report; nil before the first look.
    var lastReport: FoldersReport.Folder? { report.withLock { $0 } }

    // MARK: Looks

    /// Looks whether the folder is there, does what is due, and plans the next look.
    private func look() {
        guard !isStopped else { return }
        defer {
            publish()
            time.call(in: settings.poll, on: queue) { [weak self] in self?.look() }
        }
        guard openStation() else { return }
        tend()
        if let root = openRoot() { look(at: root) }
        takeDue()
    }

    private func look(at root: Directory) {
        let now = time.now
        if watch == nil { return scan(root) }
        let rescan = UInt64(clamping: settings.rescan * 1e9)
        let hasUnreadable = refused.values.contains { $0.reason == .unreadable }
        if mustScan || arrivals.hasLeft || rescan > 0 && now >= lastScan + rescan
            || hasUnreadable && now >= lastScan + 10_000_000_000
        {
            scan(root)
        }
    }

    /// Opens `hot/KEY`, reads the ledger and continues with the batches of a previous daemon.
    private func openStation() -> Bool {
        if station != nil { return true }
        do {
            let settings = settings
            let place = try HotStations(spool).open(path)
            var ledger = try PictureLedger(in: place, durably: settings.isDurable)
            let batches = try HotBatch.recover(in: place)
            for batch in batches { try ledger.add(batch.pictures) }
            self.ledger = ledger
            self.batches = batches
            station = place
            if case .failed = state { change(.starting) }
            return true
        } catch {
            if case .failed(let before) = state, before == error { return false }
            log.storageFailed(error)
            change(.failed(error))
            return false
        }
    }

    /// Opens the folder. If it is not the same as before, the watch begins again.
    func openRoot() -> Directory? {
        do {
            let root = try Directory(path: path)
            let information = try root.information()
            let found = (device: UInt64(information.st_dev), root: UInt64(information.st_ino))
            if let seen, seen == found {
                guard case .refused(let before) = state else { return root }
                if let words = problem(of: root) {
                    if words != before { change(.refused(words)) }
                    return nil
                }
            }
            seen = found
            return begin(root) ? root : nil
        } catch {
            vanish(error)
            return nil
        }
    }

    /// Why the folder must not be watched.
    private func problem(of root: Directory) -> String? {
        if let words = SpoolLoop.problem(between: root, and: spool.root) { return words }
        do throws(FileError) {
            return try FolderWay(to: root.information()).problem(root)
        } catch {
            return error.message
        }
    }

    /// - Returns: false if the folder must not be watched.
    private func begin(_ root: Directory) -> Bool {
        watch = nil
        arrivals.removeAll()
        refused = refused.filter { $0.value.reason == .originalKept }
        if let problem = problem(of: root) {
            log.folderLost(path, because: problem)
            change(.refused(problem))
            return false
        }
        do throws(FileError) {
            if let kind = InboxWatch.filesystemWithoutEvents(root) {
                throw FileError(.watch, path, .notSupported, detail: "it (\(kind) has no events)")
            }
            let watch = try FolderTreeWatch(queue: queue) { [weak self] in self?.handle($0) }
            try watch.add(root, at: .root)
            self.watch = watch
            log.watching(path)
            change(.watching)
        } catch {
            pollInstead(error)
        }
        mustScan = true
        return true
    }

    /// Continues without inotify.
    func pollInstead(_ error: FileError) {
        watch = nil
        arrivals.forgetWriters()
        log.polling(path, every: settings.poll, because: error)
        change(.polling(error))
    }

    /// The folder cannot be opened or read. Nothing is concluded about its pictures.
    func vanish(_ error: FileError) {
        watch = nil
        seen = nil
        arrivals.removeAll()
        refused = refused.filter { $0.value.reason == .originalKept }
        ledger?.forgetMissing()
        if case .missing(let before) = state, before.errno == error.errno { return }
        log.folderLost(path, because: error.message)
        change(.missing(error))
    }

    private func change(_ new: State) {
        state = new
        since = Clock.timestamp
    }

    // MARK: Events

    private func handle(_ events: [FolderTreeEvent]) {
        guard !isStopped, watch != nil, ledger != nil else { return }
        defer {
            takeDue()
            publish()
        }
        guard let root = openRoot() else { return }
        // The events may be those of the folder that was there before.
        guard watch != nil else { return scan(root) }
        var folders = OpenFolders(root)
        for event in events {
            switch event {
            case .written(let path) where isPicture(path):
                arrivals.begunToBeWritten(path, now: time.now)
                refused[path] = nil
            case .written: break
            case .closed(let path):
                arrivals.closed(path)
                examine(path, &folders)
            case .moved(let path):
                arrivals.forget(path)
                examine(path, &folders, isWhole: true)
            case .made(let path), .changed(let path): examine(path, &folders)
            case .gone(let path):
                arrivals.forget(path)
                refused[path] = nil
            case .folder(let path): listNew(path, &folders)
            case .overflow:
                log.eventsLost(path)
                arrivals.forgetWriters()
                mustScan = true
            case .lost:
                seen = nil
                if let root = openRoot() { scan(root) }
                return
            }
            if isStopped { return }
        }
        if mustScan { scan(root) }
    }

    private func examine(_ path: RelativePath, _ folders: inout OpenFolders, isWhole: Bool = false)
    {
        guard let folder = folders.open(path.folder) else {
            // It was moved away, or cannot be read. It must not be due again at once; a listing shows the truth.
            mustScan = true
            return arrivals.forget(path)
        }
        examine(path, in: folder, isWhole: isWhole)
    }

    // MARK: What is due

    /// Takes the batches that are due, and plans the next timer.
    func takeDue() {
        guard !isStopped, ledger != nil else { return }
        let settle = settleTime
        let ripe = arrivals.toBeLookedAt(settle: settle, now: time.now)
        if !ripe.isEmpty, let root = openRoot() {
            var folders = OpenFolders(root)
            for path in ripe { examine(path, &folders) }
        }
        let folder = folder
        let most = max(1, min(folder.batch, settings.maximumPictures))
        let within = UInt64(clamping: folder.within * 1e9)
        while mayTake, let paths = arrivals.takeDue(most: most, within: within, now: time.now) {
            guard let root = openRoot() else { break }
            take(paths, from: root)
            publish()
        }
        guard mayTake else { return }
        let now = time.now
        if let due = arrivals.due(settle: settle, most: most, within: within, now: now) {
            wake(at: max(due, now) + 1_000_000)
        }
    }

    private var mayTake: Bool {
        !isStopped && scheduler.storage.mayWork && batches.count { !isEnded($0) } < Self.mostBatches
    }

    private func wake(at moment: UInt64) {
        if let timer, timer.moment <= moment { return }
        timerNumber += 1
        let number = timerNumber
        timer = (moment, number)
        time.call(at: moment, on: queue) { [weak self] in
            guard let self, !isStopped, timer?.number == number else { return }
            timer = nil
            takeDue()
            publish()
        }
    }

    /// Batches have made progress. This may be called often and from any queue.
    func progressed() {
        guard !tendIsSet.exchange(true, ordering: .acquiringAndReleasing) else { return }
        time.call(in: 0.2, on: queue) { [weak self] in
            guard let self else { return }
            tendIsSet.store(false, ordering: .releasing)
            guard !isStopped, !batches.isEmpty else { return }
            tend()
            takeDue()
            publish()
        }
    }

    // MARK: The ledger

    /// Changes the ledger. An error concerns the spool.
    func inLedger(_ body: (inout PictureLedger) throws(FileError) -> Void) {
        guard var ledger else { return }
        do throws(FileError) {
            try body(&ledger)
        } catch {
            scheduler.storage.writeRefused(error)
        }
        self.ledger = ledger
    }
}
