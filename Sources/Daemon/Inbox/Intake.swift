import DarkroomBatch
import DarkroomCore
import DarkroomSpool
import Dispatch
import Glibc
import Synchronization
import SystemPackage

/// Watches the inbox and takes manifests out of it: the first station.
///
/// The folder is the truth and events are hints, so every name is looked at again when its turn comes. A
/// name is in one of these places:
///
/// | place      | why it is there                                   | leaves it when                     |
/// |------------|---------------------------------------------------|------------------------------------|
/// | `arrivals` | an event or a scan named it                       | it is examined                     |
/// | `settling` | it may not be complete                            | it was left alone for the time     |
/// | `refused`  | it is ignored or cannot be taken, and that was said | an event or a scan names it again |
/// | `large`    | it is a very large manifest: see `LargeManifests` | its turn has come                  |
/// | `largeInHand` | its turn has come                              | it is claimed, or has been examined |
/// | `controlFiles` | it is a control file: see `ControlFileQueue`  | it has acted, whatever waits       |
/// | (inbox)    | too many batches wait, or more names than fit here| there is room: a scan finds it     |
///
/// All state belongs to `queue`.
package final class Intake: @unchecked Sendable {
    // @unchecked: every stored variable but the atomic ones, and that behind a mutex, is touched on `queue` only.

    /// Bytes of manifests held between reading and claiming, above which a group is cut short.
    private static let groupBytes = 4 << 20
    /// Nanoseconds after which neither a further control file nor a further manifest is begun with before the others
    /// have had their turn.
    static let turn: UInt64 = 100_000_000
    /// How long after the moment that a file is looked at for, in nanoseconds: clocks tick.
    private static let moment: UInt64 = 1_000_000

    let spool: Spool
    let scheduler: Scheduler
    let log: EventLog
    private let currentSettings: Mutex<IntakeSettings>
    /// Called when the inbox is gone and cannot be put back.
    private let onLoss: @Sendable (FileError) -> Void
    let time: TimeSource
    let queue = DispatchQueue(label: "darkroom.intake", qos: .userInitiated)
    /// Whether something is left in the folder for want of room.
    private let waitsForRoom = Atomic(false)

    private(set) var inbox: Directory?
    private(set) var watch: InboxWatch?
    var arrivals = Arrivals()
    var settling = SettlingFiles()
    var controlFiles = ControlFileQueue()
    var refused: [FileName: SkipReason] = [:]
    /// Finished batches that are just being taken up again, by who has asked for it.
    var reopening: [UInt32: Int] = [:]
    var large = Arrivals()
    var largeInHand: FileName?
    /// Where those are taken.
    let largeManifests = DispatchQueue(label: "darkroom.intake.large", qos: .userInitiated)
    /// How many of those have been told of lately.
    var notices = NoticeAllowance()
    /// What the spool has refused; nothing more is claimed until it takes it.
    var refusals = IntakeRefusals()
    private var mustScan = false
    private var recheckIsSet = false
    /// Asked between manifests and while one is read, so that a stop waits neither for a full inbox nor for a manifest.
    let stopped = CancellationFlag()
    /// Unfinished batches that the start has found, and how many of them are still to be read.
    let found = Atomic(0)
    let unread = Atomic(0)
    /// For the status line.
    let publishedBacklog = Mutex(InboxBacklog())
    private var timerIsSet = false
    private var linkedTimerIsSet = false
    private var drainIsSet = false
    var controlTimerIsSet = false
    /// What `inbox.json` tells; see IntakeReport.swift.
    var reporter = InboxReporter()
    /// Whether nothing runs any more, after a stop.
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

    /// The settings that hold now.
    var settings: IntakeSettings { currentSettings.withLock { $0 } }

    func update(_ settings: IntakeSettings) {
        currentSettings.withLock { $0 = settings }
    }

    /// Begins to watch, and returns when the watch stands; what a former daemon left unfinished and what
    /// lies in the folder follow.
    ///
    /// - Parameter watching: called when the watch stands, before anything is taken.
    package func start(watching: () -> Void) throws(FileError) {
        let settings = settings
        let recovery = Recovery(
            spool: spool, examination: settings.examination.asking(stopped),
            durably: settings.isDurable)
        scheduler.queueWatch.add(queue, "the intake")
        scheduler.queueWatch.add(largeManifests, "the reader of large manifests")
        try tellOfOrphans()
        // Before the watch stands, for an event may have something claimed before the rest is recovered.
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

    /// One after the other, so that what happens meanwhile, a control file say, does not wait for all.
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

    /// Looks at everything that is there, as after a resumption.
    package func rescan() {
        queue.async { [self] in scan() }
    }

    /// Scans now and then although events tell of everything, for events are hints.
    private func rescanLater() {
        let seconds = settings.rescanInterval
        guard seconds > 0 else { return }
        schedule(in: seconds) { intake in
            intake.scan()
            intake.rescanLater()
        }
    }

    /// How long a stop waits for the step that the intake is at.
    private static let lastStep: DispatchTimeInterval = .seconds(3)

    /// Ends the intake. What it reads is broken off and stays in the inbox; what it has claimed gets its receipt now or
    /// after the next start. A step that a disk holds up is as good as broken off by a kill, which every step survives.
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
            // No event tells of it: begins to poll anew, or to watch.
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
                // What is open leads into a folder that nobody sees any more. A new start makes another.
                return onLoss(
                    FileError(
                        "use: it was removed or renamed", spool.root.path(of: name),
                        .noSuchFileOrDirectory))
            case .lost:
                reopen()
                return
            }
        }
        // A large file is written in many pieces, which by themselves are nothing to look at.
        if events.allSatisfy(\.isOfAWriter) { return }
        if mustScan { scan() } else { drain() }
    }

    /// Puts the inbox back after it was removed, renamed or unmounted.
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

    /// Looks at everything that is there, the oldest first.
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
        // One that cannot be looked at has its turn too, in which that is told.
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

    /// Whether a file waits for its turn, or has it.
    func isQueued(_ name: FileName) -> Bool {
        arrivals.contains(name) || large.contains(name) || name == largeInHand
    }

    /// The scheduler has let go of a batch: there may be more in the folder than could be taken.
    private func roomAppeared() {
        guard waitsForRoom.exchange(false, ordering: .acquiringAndReleasing) else { return }
        queue.async { [weak self] in
            guard let self, !isStopped else { return }
            if arrivals.isEmpty, large.isEmpty { scan() } else { drain() }
        }
    }

    // MARK: Taking

    /// Examines what has arrived, and claims what can be, in groups.
    func drain() {
        guard let inbox, !isStopped else { return }
        reportSoon()
        let examination = settings.examination.asking(stopped)
        takeControlFiles(examination, inbox)
        if canTake { takeGroup(examination, inbox) }
        takeNextLarge(examination, inbox)
        // One group at a time, so that what happens meanwhile, a control file say, does not wait for all. An attempt
        // whether the spool takes writes again is one group.
        if controlFiles.hasNext || canTake && !refusals.isTrying { return drainSoon() }
        // Where the spool refuses, the next attempt looks at everything.
        guard !isBlocked else { return }
        setTimer(examination.settle)
        if mustScan && arrivals.hasLeft(where: scheduler.hasRoom)
            || large.hasLeft(where: scheduler.hasRoom)
        {
            queue.async { [weak self] in self?.scan() }
        } else if mustScan || !arrivals.isEmpty || !large.isEmpty {
            waitsForRoom.store(true, ordering: .releasing)
            // It may have appeared before the flag was set.
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

    /// Takes as many as share the waits for the disk, or fewer where reading them takes long: who comes meanwhile has
    /// the next turn.
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

    /// Whether a file is open to its writer, so that its closing will be told. One that nobody has changed for half
    /// a minute is looked at by a scan all the same: its writer may keep it open for good.
    func isBeingWritten(_ name: FileName, _ identity: FileIdentity) -> Bool {
        watch != nil && reporter.begun.contains(name) && identity.age < 30
    }

    /// Whether a name that has just been made is that of a file being written, whose closing will be told; or seems so.
    private func willBeClosed(_ name: FileName) -> Bool {
        // One that cannot be looked at now is found by its closing or by a scan.
        look(at: name).map(Examination.willBeClosed) ?? true
    }

    /// nil where there is no such file, or where it cannot be looked at, which is told.
    func look(at name: FileName) -> stat? {
        do {
            return try inbox?.information(of: name)
        } catch {
            _ = note(.unreadable(error), name)
            return nil
        }
    }

    /// Remembers why a file is not taken, or gives it to be taken.
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

    /// Remembers what became of those that were to be claimed.
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
        // One that cannot be looked at now goes on settling, and is looked at again.
        guard settling.contains(name), let information = look(at: name) else { return false }
        return settling.hasSettled(
            name, FileIdentity(information), for: seconds, now: time.now)
    }

    /// Comes back to the files that settle, when the first of them may have, and to those that may have been linked.
    func setTimer(_ settle: Double) {
        // Those that wait for their turn are looked at then.
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

    /// Does something at a moment, unless the intake has been stopped by then.
    func schedule(at moment: UInt64, _ body: @escaping @Sendable (Intake) -> Void) {
        time.call(at: moment, on: queue) { [weak self] in
            guard let self, !isStopped else { return }
            body(self)
        }
    }

    /// The same in so many seconds.
    func schedule(in seconds: Double, _ body: @escaping @Sendable (Intake) -> Void) {
        schedule(at: time.now.saturatingAdd(UInt64(clamping: seconds * 1e9)), body)
    }

    /// Finds the files that were linked into the inbox, which nobody closes.
    private func findLinked() {
        // That of a write may be there and not have been delivered.
        if let watch {
            let events = watch.read()
            for event in events { reporter.note(event) }
            if !events.isEmpty { queue.async { [weak self] in self?.handle(events) } }
        }
        // Of a control file the name is all that counts.
        let linked = reporter.begun.takeLinked(now: time.now) {
            ControlFile($0) != nil || (look(at: $0)?.st_size ?? 0) > 0
        }
        for name in linked { arrived(name, isWhole: false) }
    }

    /// Looks again at what cannot be read or moved. No event tells when that has passed: a folder's
    /// permissions may have been changed, or another process have closed its files.
    func recheckLater() {
        guard !recheckIsSet else { return }
        recheckIsSet = true
        schedule(in: 10) { intake in
            intake.recheckIsSet = false
            intake.scan()
        }
    }
}
