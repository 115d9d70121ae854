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

    /// Nanoseconds after which neither a further control file nor a further manifest is begun with before the others
    /// have had their turn.
    static let turn: UInt64 = 100_000_000

    let spool: Spool
    let scheduler: Scheduler
    let log: EventLog
    private let currentSettings: Mutex<IntakeSettings>
    /// Called when the inbox is gone and cannot be put back.
    let onLoss: @Sendable (FileError) -> Void
    let time: TimeSource
    let queue = DispatchQueue(label: "darkroom.intake", qos: .userInitiated)
    /// Whether something is left in the folder for want of room.
    let waitsForRoom = Atomic(false)

    var inbox: Directory?
    var watch: InboxWatch?
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
    /// Whether there is something in the folder that only a scan finds.
    var mustScan = false
    /// Asked between manifests and while one is read, so that a stop waits neither for a full inbox nor for a manifest.
    let stopped = CancellationFlag()
    /// Unfinished batches that the start has found, and how many of them are still to be read.
    let found = Atomic(0)
    let unread = Atomic(0)
    /// For the status line.
    let publishedBacklog = Mutex(InboxBacklog())
    /// Whether a block of the queue is to come: to look at what settles, what was linked, what could not be read and what
    /// control files mean, and to take the next group.
    var settlingTimerIsSet = false
    var linkedTimerIsSet = false
    var recheckIsSet = false
    var controlTimerIsSet = false
    var drainIsSet = false
    /// What `inbox.json` tells; see Intake+Report.swift.
    var reporter = InboxReporter()
    /// Whether nothing runs any more, after a stop.
    var hasEnded = false

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
}
