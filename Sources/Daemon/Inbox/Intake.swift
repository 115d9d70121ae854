import DarkroomBatch
import DarkroomCore
import DarkroomSpool
import Dispatch
import Glibc
import Synchronization
import SystemPackage

/// Watches the inbox and takes manifests out of it: the first station.
///
/// Events are hints. Only the folder shows the truth, so every name is examined when its turn comes. A name is in one
/// of these places:
///
/// | place          | why it is there                                     | until                                 |
/// |----------------|-----------------------------------------------------|---------------------------------------|
/// | `arrivals`     | an event or a scan reported it                      | it is examined                        |
/// | `settling`     | it may not be complete                              | it has not changed for `inbox.settle` |
/// | `refused`      | it is ignored or cannot be taken; this was reported | an event or a scan reports it again   |
/// | `large`        | it is a very large manifest: see `LargeManifests`   | its turn has come                     |
/// | `largeInHand`  | its turn has come                                   | it is claimed, or has been examined   |
/// | `controlFiles` | it is a control file: see `ControlFileQueue`        | it takes effect; manifests may wait   |
/// | (inbox)        | too many batches wait, or no room for the name      | there is room: a scan finds it        |
///
/// All state is used on `queue` only.
package final class Intake: @unchecked Sendable {
    // @unchecked: the stored variables are used on `queue` only, except the atomic ones and the one in a mutex.

    /// Bytes of manifests that are held between reading and claiming. At this size a group ends early.
    private static let groupBytes = 4 << 20
    /// After this time, in nanoseconds, no further control file or manifest is begun before the others have had their
    /// turn.
    static let turn: UInt64 = 100_000_000
    /// Files are examined this long after the calculated time, in nanoseconds, because clocks have a resolution.
    private static let moment: UInt64 = 1_000_000

    let spool: Spool
    let scheduler: Scheduler
    let log: EventLog
    private let currentSettings: Mutex<IntakeSettings>
    /// Called when the inbox does not exist and cannot be created again.
    private let onLoss: @Sendable (FileError) -> Void
    let time: TimeSource
    let queue = DispatchQueue(label: "darkroom.intake", qos: .userInitiated)
    /// Whether files were left in the folder because there was no room.
    private let waitsForRoom = Atomic(false)

    private(set) var inbox: Directory?
    private(set) var watch: InboxWatch?
    var arrivals = Arrivals()
    var settling = SettlingFiles()
    var controlFiles = ControlFileQueue()
    var refused: [FileName: SkipReason] = [:]
    /// The number of finished batches that are being resumed, for each user who requested it.
    var reopening: [UInt32: Int] = [:]
    var large = Arrivals()
    var largeInHand: FileName?
    /// The queue on which large manifests are taken.
    let largeManifests = DispatchQueue(label: "darkroom.intake.large", qos: .userInitiated)
    /// How many refused files were reported recently.
    var notices = NoticeAllowance()
    /// What the spool has refused. Nothing more is claimed until the spool accepts it.
    var refusals = IntakeRefusals()
    private var mustScan = false
    private var recheckIsSet = false
    /// Checked between manifests and while one is read, so that a stop does not wait for a full inbox or a manifest.
    let stopped = CancellationFlag()
    /// The number of unfinished batches that the start found, and how many of them have not been read yet.
    let found = Atomic(0)
    let unread = Atomic(0)
    /// For the status line.
    let publishedBacklog = Mutex(InboxBacklog())
    private var timerIsSet = false
    private var linkedTimerIsSet = false
    private var drainIsSet = false
    var controlTimerIsSet = false
    /// The content of `inbox.json`; see `Intake+Report.swift`.
    var reporter = InboxReporter()
    /// Whether nothing runs any more after a stop.
    private(set) var hasEnded = false

    package init(
        spool: Spool, scheduler: Scheduler, settings: IntakeSettings, log: EventLog,
        time: TimeSource = .system, onLoss: @escaping @Sendable (FileError) -> Void
    ) {
        self.spool = spool
        self.scheduler = scheduler
        self.log = log
        currentSettings = Mutex(settings)
        self.onLoss = onLoss
        self.time = time
    }

    /// The present settings.
    var settings: IntakeSettings { currentSettings.withLock { $0 } }

    func update(_ settings: IntakeSettings) {
        currentSettings.withLock { $0 = settings }
    }

    /// Begins to watch, and returns when the watch exists. Then unfinished batches of a previous daemon and the content
    /// of the folder follow.
    ///
    /// - Parameter watching: called when the watch exists, before anything is taken.
    package func start(watching: () -> Void) throws(FileError) {
        let settings = settings
        let recovery = Recovery(
            spool: spool, examination: settings.examination.asking(stopped),
            durably: settings.isDurable)
        scheduler.queueWatch.add(queue, "the intake")
        scheduler.queueWatch.add(largeManifests, "the reader of large manifests")
        try tellOfOrphans()
        // This precedes the watch, because an event may cause a claim before the other batches are recovered.
        let unfinished = try recovery.ids()
        found.store(unfinished.count, ordering: .relaxed)
        unread.store(unfinished.count, ordering: .relaxed)
        spool.attempts.settle(allBut: unfinished)
        var failure: FileError?
        queue.sync {
            do throws(FileError) {
                try open()
                report()
                watching()
            } catch {
                failure = error
            }
        }
        if let failure { throw failure }
        scheduler.onRoom { [weak self] in self?.roomAppeared() }
        scheduler.storage.add(self)
        queue.async { [self] in
            findControlFiles()
            recover(unfinished[...], recovery)
        }
    }

    /// Recovers one batch after the other, so that other events, such as a control file, do not wait for all of them.
    private func recover(_ ids: ArraySlice<String>, _ recovery: Recovery) {
        guard let id = ids.first, !isStopped else {
            scan()
            return rescanLater()
        }
        recover(id, recovery)
        unread.subtract(1, ordering: .relaxed)
        scheduler.progressed()
        queue.async { [weak self] in self?.recover(ids.dropFirst(), recovery) }
    }

    /// Examines the whole folder, for example after a resumption.
    package func rescan() {
        queue.async { [self] in scan() }
    }

    /// Scans at intervals although events report everything, because events are hints.
    private func rescanLater() {
        let seconds = settings.rescanInterval
        guard seconds > 0 else { return }
        schedule(in: seconds) { intake in
            intake.scan()
            intake.rescanLater()
        }
    }

    /// How long a stop waits for the present step of the intake.
    private static let lastStep: DispatchTimeInterval = .seconds(3)

    /// Ends the intake. A manifest that is being read stays in the inbox. A claimed one gets its receipt now or after
    /// the next start. If the disk delays a step, the stop does not wait for it. This is like a kill, which every step
    /// survives.
    package func stop() {
        stopped.set()
        let ended = DispatchSemaphore(value: 0)
        largeManifests.async { [self] in
            queue.async { [self] in
                report()
                tellRest()
                watch = nil
                ended.signal()
            }
        }
        _ = ended.wait(timeout: .now() + Self.lastStep)
    }

    /// Has the report say that the daemon has stopped: nothing runs any more.
    package func end() {
        let ended = DispatchSemaphore(value: 0)
        queue.async { [self] in
            hasEnded = true
            report()
            ended.signal()
        }
        _ = ended.wait(timeout: .now() + Self.lastStep)
    }

    var isStopped: Bool { stopped.isSet }

    // MARK: The folder

    private func open() throws(FileError) {
        let folder = try spool.openInbox()
        inbox = folder
        do {
            watch = try InboxWatch(folder: folder, named: "inbox", in: spool.root, queue: queue) {
                [weak self] events in
                self?.handle(events)
            }
            log.watching(folder.path)
        } catch {
            watch = nil
            let interval = settings.pollInterval
            log.polling(folder.path, every: interval, because: error)
            poll(every: interval)
        }
    }

    private func poll(every seconds: Double) {
        schedule(in: seconds) { intake in
            guard intake.watch == nil else { return }
            // No event reports this, so it begins again to watch or to poll.
            if intake.isReplaced { return intake.reopen() }
            intake.scan()
            intake.poll(every: seconds)
        }
    }

    func handle(_ events: [InboxEvent]) {
        guard !isStopped else { return }
        for event in events {
            reporter.note(event)
            switch event {
            case .moved(let name): arrived(name, isWhole: true)
            case .written: break
            case .made(let name) where willBeClosed(name):
                reporter.begun.appeared(name, now: time.now)
            case .closed(let name), .changed(let name), .made(let name):
                arrived(name, isWhole: false)
            case .overflow:
                log.eventsLost(inbox?.path ?? "inbox")
                mustScan = true
            case .stationLost(let name):
                // The open folder is not visible any more. A new start creates another one.
                return onLoss(
                    FileError(
                        "use: it was removed or renamed", spool.root.path(of: name),
                        .noSuchFileOrDirectory))
            case .lost:
                reopen()
                return
            }
        }
        // A large file is written in many pieces. A write alone does not require an examination.
        if events.allSatisfy(\.isOfAWriter) { return }
        if mustScan { scan() } else { drain() }
    }

    /// Opens the inbox again after it was removed, renamed or unmounted.
    private func reopen() {
        log.inboxLost(inbox?.path ?? "inbox")
        watch = nil
        do {
            try open()
            scan()
        } catch {
            onLoss(error)
        }
    }

    /// Examines the whole folder, the oldest file first.
    func scan() {
        guard !isStopped, let inbox else { return }
        mustScan = false
        do {
            let names = try inbox.names()
            let present = Set(names)
            refused = refused.filter { present.contains($0.key) }
            countMissed(names)
            reporter.scanned(present)
            var found: [(FileName, FileIdentity, owner: UInt32)] = []
            for name in names where !isQueued(name) {
                if let reason = Examination.reasonToIgnore(name) {
                    refuse(name, reason)
                } else if let information = try inbox.information(of: name) {
                    let identity = FileIdentity(information)
                    if !isBeingWritten(name, identity) {
                        found.append((name, identity, information.st_uid))
                    }
                }
            }
            found.sort { $0.1.isOlder(than: $1.1, $0.0.bytes, $1.0.bytes) }
            for (name, _, owner) in found { arrived(name, isWhole: false, owner: owner) }
        } catch  where error.fault != nil {
            scheduler.storage.writeRefused(error)
        } catch {
            log.storageFailed(error)
        }
        drain()
    }

    func arrived(_ name: FileName, isWhole: Bool) {
        // A file that cannot be examined gets its turn too. The error is reported then.
        arrived(name, isWhole: isWhole, owner: look(at: name)?.st_uid)
    }

    private func arrived(_ name: FileName, isWhole: Bool, owner: UInt32?) {
        if let file = ControlFile(name) {
            controlFiles.add(file, owner: owner, isUrgent: scheduler.knows(file.ids))
        } else if large.contains(name) {
            _ = large.add(name, isWhole: isWhole, owner: owner)
        } else if name != largeInHand, !arrivals.add(name, isWhole: isWhole, owner: owner) {
            mustScan = true
        }
    }

    /// Whether a file waits for its turn, or is being processed.
    func isQueued(_ name: FileName) -> Bool {
        arrivals.contains(name) || large.contains(name) || name == largeInHand
    }

    /// The scheduler has finished a batch. The folder may contain files for which there was no room.
    private func roomAppeared() {
        guard waitsForRoom.exchange(false, ordering: .acquiringAndReleasing) else { return }
        queue.async { [weak self] in
            guard let self, !isStopped else { return }
            if arrivals.isEmpty, large.isEmpty { scan() } else { drain() }
        }
    }

    // MARK: Taking

    /// Examines the names that have arrived, and claims manifests in groups.
    func drain() {
        guard let inbox, !isStopped else { return }
        reportSoon()
        let examination = settings.examination.asking(stopped)
        takeControlFiles(examination, inbox)
        if canTake { takeGroup(examination, inbox) }
        takeNextLarge(examination, inbox)
        // It takes one group at a time, so that other events, such as a control file, do not wait for all. A test
        // whether the spool accepts writes again takes only one group.
        if controlFiles.hasNext || canTake && !refusals.isTrying { return drainSoon() }
        // If the spool refuses writes, the next test examines everything.
        guard !isBlocked else { return }
        setTimer(examination.settle)
        if mustScan && arrivals.hasLeft(where: scheduler.hasRoom)
            || large.hasLeft(where: scheduler.hasRoom)
        {
            queue.async { [weak self] in self?.scan() }
        } else if mustScan || !arrivals.isEmpty || !large.isEmpty {
            waitsForRoom.store(true, ordering: .releasing)
            // There may have been room before the flag was set.
            if canTake || canTakeLarge { roomAppeared() }
        }
    }

    private var canTake: Bool {
        !isBlocked && !isStopped && arrivals.hasNext(where: scheduler.hasRoom)
    }

    private func drainSoon() {
        guard !drainIsSet else { return }
        drainIsSet = true
        queue.async { [weak self] in
            guard let self else { return }
            drainIsSet = false
            drain()
        }
    }

    /// Takes as many manifests as share the waits for the disk, or fewer if reading takes long, so that files that
    /// arrive in the meantime get the next turn.
    private func takeGroup(_ examination: Examination, _ inbox: Directory) {
        reportIfDue()
        let begin = time.now
        var candidates: [Candidate] = []
        var bytes = 0
        var count = 0
        while count < Arrivals.groupSize, time.now - begin < Self.turn,
            let arrival = arrivals.next(where: scheduler.hasRoom)
        {
            count += 1
            let isWhole = arrival.isWhole || hasSettled(arrival.name, examination.settle)
            let verdict = examination.examine(
                arrival.name, in: inbox, isWhole: isWhole, largest: largestAtOnce)
            if case .large = verdict {
                queueLarge(arrival.name, isWhole: isWhole)
            } else if let candidate = note(verdict, arrival.name) {
                candidates.append(candidate)
                bytes += candidate.reading.bytes?.count ?? 0
            }
            if bytes > Self.groupBytes {
                claim(candidates, examination, inbox)
                candidates = []
                bytes = 0
            }
            if isBlocked || isStopped { return arrivals.leave() }
        }
        claim(candidates, examination, inbox)
    }

    /// Whether a writer has the file open, so that an event will report its closing. If the file has not changed for
    /// half a minute, a scan examines it nevertheless: its writer may never close it.
    func isBeingWritten(_ name: FileName, _ identity: FileIdentity) -> Bool {
        watch != nil && reporter.begun.contains(name) && identity.age < 30
    }

    /// Whether a new name is that of a file being written, so that an event will report its closing, or may be one.
    private func willBeClosed(_ name: FileName) -> Bool {
        // If it cannot be examined now, its closing or a scan reports it.
        look(at: name).map(Examination.willBeClosed) ?? true
    }

    /// nil if there is no such file, or if it cannot be examined, which is reported.
    func look(at name: FileName) -> stat? {
        do {
            return try inbox?.information(of: name)
        } catch {
            _ = note(.unreadable(error), name)
            return nil
        }
    }

    /// Remembers why a file is not taken, or returns it as a candidate.
    func note(_ verdict: Verdict, _ name: FileName) -> Candidate? {
        if case .settling = verdict {} else { settling.forget(name) }
        switch verdict {
        case .gone, .control, .large:
            refused[name] = nil
        case .interrupted: break
        case .ignored(let reason):
            refuse(name, reason)
        case .unreadable(let error) where error.fault != nil:
            scheduler.storage.writeRefused(error)
        case .unreadable(let error):
            refuse(name, .unreadable(error))
            recheckLater()
        case .settling(let identity):
            settling.note(name, identity, now: time.now)
        case .ready(let candidate):
            return candidate
        }
        return nil
    }

    func claim(
        _ candidates: [Candidate], _ examination: Examination, _ inbox: Directory
    ) {
        guard !candidates.isEmpty else { return }
        let claim = Claim(
            spool: spool, inbox: inbox, examination: examination,
            durably: settings.isDurable)
        let outcome = claim.take(candidates)
        note(outcome, of: candidates)
        answer(outcome.claimed)
    }

    /// Remembers the results of a claim.
    func note(_ outcome: Claim.Outcome, of candidates: [Candidate]) {
        let stillRefused = Set(outcome.refused.map(\.name))
        for candidate in candidates where !stillRefused.contains(candidate.name) {
            refused[candidate.name] = nil
        }
        for (name, error) in outcome.refused {
            refuse(name, .unreadable(error))
            recheckLater()
        }
        putInOrder(outcome.stranded)
        refusals.unanswered += outcome.unsynced
        if let failure = outcome.failure {
            scheduler.storage.writeRefused(failure)
            arrivals.leave()
        }
    }

    // MARK: Time

    func hasSettled(_ name: FileName, _ seconds: Double) -> Bool {
        // A file that cannot be examined now continues to settle, and is examined again.
        guard settling.contains(name), let information = look(at: name) else { return false }
        return settling.hasSettled(
            name, FileIdentity(information), for: seconds, now: time.now)
    }

    /// Sets timers for the settling files, when the first of them may have settled, and for files that may have been
    /// linked.
    func setTimer(_ settle: Double) {
        // Files that wait for their turn are examined then.
        if !timerIsSet, let first = settling.first(where: { !isQueued($0) }) {
            timerIsSet = true
            let settled = first.saturatingAdd(UInt64(clamping: settle * 1e9))
            schedule(at: settled.saturatingAdd(Self.moment)) { intake in
                intake.timerIsSet = false
                for name in intake.settling.names { intake.arrived(name, isWhole: false) }
                intake.drain()
            }
        }
        if !linkedTimerIsSet, let due = reporter.begun.due {
            linkedTimerIsSet = true
            schedule(at: due.saturatingAdd(Self.moment)) { intake in
                intake.linkedTimerIsSet = false
                intake.findLinked()
                intake.drain()
            }
        }
    }

    /// Calls a function at a time, unless the intake has been stopped by then.
    func schedule(at moment: UInt64, _ body: @escaping @Sendable (Intake) -> Void) {
        time.call(at: moment, on: queue) { [weak self] in
            guard let self, !isStopped else { return }
            body(self)
        }
    }

    /// The same, after some seconds.
    func schedule(in seconds: Double, _ body: @escaping @Sendable (Intake) -> Void) {
        schedule(at: time.now.saturatingAdd(UInt64(clamping: seconds * 1e9)), body)
    }

    /// Finds the files that were linked into the inbox. No process closes them.
    private func findLinked() {
        // The event of a write may be pending.
        if let watch {
            let events = watch.read()
            for event in events { reporter.note(event) }
            if !events.isEmpty { queue.async { [weak self] in self?.handle(events) } }
        }
        // Of a control file only the name counts, so it may be empty.
        let linked = reporter.begun.takeLinked(now: time.now) {
            ControlFile($0) != nil || (look(at: $0)?.st_size ?? 0) > 0
        }
        for name in linked { arrived(name, isWhole: false) }
    }

    /// Examines again later what cannot be read or moved. No event reports the end of the cause: the permissions of a
    /// folder may have changed, or another process may have closed its files.
    func recheckLater() {
        guard !recheckIsSet else { return }
        recheckIsSet = true
        schedule(in: 10) { intake in
            intake.recheckIsSet = false
            intake.scan()
        }
    }
}
