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
/// |          | put another folder in its place (`TrustedPath`)         |                                          |
/// | failed   | the ledger or the records cannot be read                | a look can read them                     |
///
/// Between two looks the folder is not open, so that it can be unmounted. `ArrivingFiles` has the states of a picture,
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

    /// `hot/KEY` and its content.
    struct Records {
        let folder: Directory
        var ledger: PictureLedger
        var batches: [HotBatch]
        /// The batches that have ended and whose originals are not yet where they belong.
        var ended: Set<ByteString> = []
        /// When this was last tried for them.
        var lastTry: UInt64 = 0

        var unfinished: Int { batches.count { !ended.contains(ByteString($0.name)) } }
    }

    /// When the whole folder was listed.
    struct Scans {
        var last: UInt64 = 0
        /// Whether only a listing finds everything.
        var isNeeded = false
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
    /// nil until they could be read.
    var records: Records?
    var seen: FolderIdentity?
    /// Whether its pictures were taken from another folder at the same path, as the last listing has it.
    var isOther = false
    var watch: FolderTreeWatch?
    /// A program that writes a picture rarely rests for a minute. truncate(2) with a path has no event of a closing, and
    /// a writer that was stopped has none for long.
    var files = ArrivingFiles<RelativePath>(
        writers: .all(silence: 60_000_000_000), openCapacity: 100_000, capacity: 100_000)
    var refused = RefusedFiles<RelativePath, HotRefusal>()
    var scans = Scans()
    private var agenda = Agenda<Task>()
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
            if !isSame, records != nil, let root = openRoot() { scan(root) }
            publish()
        }
    }

    func start() { queue.async { [self] in look() } }

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
            plan(.look, at: time.now.saturatingAdd(UInt64(clamping: settings.poll * 1e9)))
        }
        guard openRecords() else { return }
        tend()
        if let root = openRoot() { look(at: root) }
        takeDue()
    }

    private func look(at root: Directory) {
        let now = time.now
        if watch == nil { return scan(root) }
        let rescan = UInt64(clamping: settings.rescan * 1e9)
        let hasUnreadable = refused.all.values.contains { $0.reason == .unreadable }
        if scans.isNeeded || files.hasLeft || rescan > 0 && now >= scans.last + rescan
            || hasUnreadable && now >= scans.last + 10_000_000_000
        {
            scan(root)
        }
    }

    /// Opens `hot/KEY`, reads the ledger and continues with the batches of a previous daemon.
    private func openRecords() -> Bool {
        if records != nil { return true }
        do {
            let settings = settings
            let place = try HotStations(spool).open(path)
            var ledger = try PictureLedger(in: place, durably: settings.isDurable)
            let batches = try HotBatch.recover(in: place)
            for batch in batches { try ledger.add(batch.pictures) }
            records = Records(folder: place, ledger: ledger, batches: batches)
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
            let found = FolderIdentity(try root.information())
            if seen == found {
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
            return try TrustedPath(to: root.information()).problem(root)
        } catch {
            return error.message
        }
    }

    /// - Returns: false if the folder must not be watched.
    private func begin(_ root: Directory) -> Bool {
        forgetFiles()
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
        scans.isNeeded = true
        return true
    }

    /// Continues without inotify.
    func pollInstead(_ error: FileError) {
        watch = nil
        files.eventsLost()
        log.polling(path, every: settings.poll, because: error)
        change(.polling(error))
    }

    /// The folder cannot be opened or read. Nothing is concluded about its pictures.
    func vanish(_ error: FileError) {
        seen = nil
        forgetFiles()
        records?.ledger.forgetMissing()
        if case .missing(let before) = state, before.errno == error.errno { return }
        log.folderLost(path, because: error.message)
        change(.missing(error))
    }

    private func forgetFiles() {
        watch = nil
        files.removeAll()
        refused.keep { $1.reason == .originalKept }
    }

    private func change(_ new: State) {
        state = new
        since = Clock.timestamp
    }

    // MARK: Events

    private func handle(_ events: [FolderTreeEvent]) {
        guard !isStopped, watch != nil, records != nil else { return }
        defer {
            takeDue()
            publish()
        }
        guard let root = openRoot() else { return }
        // The events may be those of the folder that was there before.
        guard watch != nil else { return scan(root) }
        var folders = OpenFolders(root)
        for event in events {
            if case .written(let path) = event, !isPicture(path) { continue }
            files.note(event, now: time.now)
            switch event {
            case .written(let path), .gone(let path): refused[path] = nil
            case .moved(let path): examine(path, &folders, isWhole: true)
            case .closed(let path), .made(let path), .changed(let path): examine(path, &folders)
            case .folder(let path): listNew(path, &folders)
            case .overflow:
                log.eventsLost(path)
                scans.isNeeded = true
            case .lost, .stationLost:
                seen = nil
                if let root = openRoot() { scan(root) }
                return
            }
            if isStopped { return }
        }
        if scans.isNeeded { scan(root) }
    }

    func forget(_ path: RelativePath) { files.move(path, .gone, now: time.now) }

    private func examine(_ path: RelativePath, _ folders: inout OpenFolders, isWhole: Bool = false)
    {
        guard let folder = folders.open(path.folder) else {
            // It was moved away, or cannot be read. It must not be due again at once; a listing shows the truth.
            scans.isNeeded = true
            return forget(path)
        }
        examine(path, in: folder, isWhole: isWhole)
    }

    // MARK: What is due

    /// Takes the batches that are due, and plans the next timer.
    func takeDue() {
        guard !isStopped, records != nil else { return }
        let settle = settleTime
        let ripe = files.toBeLookedAt(settle: settle, now: time.now)
        if !ripe.isEmpty, let root = openRoot() {
            var folders = OpenFolders(root)
            for path in ripe { examine(path, &folders) }
        }
        let folder = folder
        let most = max(1, min(folder.batch, settings.maximumPictures))
        let within = UInt64(clamping: folder.within * 1e9)
        while mayTake, let paths = files.takeBatch(most: most, within: within, now: time.now) {
            guard let root = openRoot() else { break }
            take(paths, from: root)
            publish()
        }
        guard mayTake else { return }
        let now = time.now
        let dues = [
            files.nextLook(settle: settle), files.nextBatch(most: most, within: within, now: now),
        ]
        if let due = dues.compactMap(\.self).min() { plan(.take, at: max(due, now) + 1_000_000) }
    }

    private var mayTake: Bool {
        !isStopped && scheduler.storage.mayWork && records?.unfinished ?? 0 < Self.mostBatches
    }

    /// What is done at a time.
    private enum Task { case look, take }

    private func plan(_ task: Task, at moment: UInt64) {
        guard agenda.plan(task, at: moment) else { return }
        time.call(at: moment, on: queue) { [weak self] in
            guard let self, agenda.take(task, at: moment), !isStopped else { return }
            switch task {
            case .look: look()
            case .take:
                takeDue()
                publish()
            }
        }
    }

    /// Batches have made progress. This may be called often and from any queue.
    func progressed() {
        guard !tendIsSet.exchange(true, ordering: .acquiringAndReleasing) else { return }
        time.call(in: 0.2, on: queue) { [weak self] in
            guard let self else { return }
            tendIsSet.store(false, ordering: .releasing)
            guard !isStopped, records?.batches.isEmpty == false else { return }
            tend()
            takeDue()
            publish()
        }
    }

    // MARK: The ledger

    /// Changes the ledger. An error concerns the spool.
    func inLedger(_ body: (inout PictureLedger) throws(FileError) -> Void) {
        // While it is changed, it is nowhere else: a second owner would have it copied.
        guard var records = records.take() else { return }
        defer { self.records = records }
        do throws(FileError) {
            try body(&records.ledger)
        } catch {
            scheduler.storage.writeRefused(error)
        }
    }
}
