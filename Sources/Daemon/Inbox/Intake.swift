import DarkroomAnswer
import DarkroomCore
import DarkroomSpool
import DarkroomWork
import Dispatch
import Synchronization

/// Watches the inbox and takes manifests out of it: the first station.
///
/// Events are hints. Only the folder shows the truth, so every name is examined when its turn comes. A name is in one
/// of these places:
///
/// | place          | why it is there                                     | until                                 |
/// |----------------|-----------------------------------------------------|---------------------------------------|
/// | `arrivals`     | an event or a scan reported it                      | it is examined                        |
/// | `files`        | it may not be complete: see `ArrivingFiles`         | it is closed or has not changed       |
/// | `refused`      | it is ignored or cannot be taken; this was reported | an event or a scan reports it again   |
/// | `large`        | it is a very large manifest: `takeNextLarge`        | its turn has come                     |
/// | `largeInHand`  | its turn has come                                   | it is claimed, or has been examined   |
/// | `controlFiles` | it is a control file: see `ControlFileQueue`        | it takes effect; manifests may wait   |
/// | (inbox)        | too many batches wait, or no room for the name      | there is room: a scan finds it        |
///
/// All state is used on `queue` only.
package final class Intake: @unchecked Sendable {
    // @unchecked: the stored variables are used on `queue` only, except the atomic ones and the one in a mutex.

    /// After this time, in nanoseconds, no further control file or manifest is begun before the others have had their
    /// turn.
    static let turn: UInt64 = 100_000_000

    let spool: Spool
    let scheduler: Scheduler
    let log: EventLog
    private let currentSettings: Mutex<IntakeSettings>
    /// Called when the inbox does not exist and cannot be created again.
    let onLoss: @Sendable (FileError) -> Void
    /// Called when an answer was moved to `active` under this name, to be removed.
    let onRemoval: @Sendable (FileName) -> Void
    let time: TimeSource
    let queue = DispatchQueue(label: "darkroom.intake", qos: .userInitiated)
    /// Whether files were left in the folder because there was no room.
    let waitsForRoom = Atomic(false)

    var inbox: Directory?
    var watch: InboxWatch?
    var arrivals = Arrivals()
    var files = ArrivingFiles<FileName>(writers: .ofNewFiles, openCapacity: 16_384)
    var controlFiles = ControlFileQueue()
    var refused = RefusedFiles<FileName, SkipReason>()
    /// Commands to finished batches that are being carried out.
    var inHand = FinishedCommands()
    var large = Arrivals()
    var largeInHand: FileName?
    /// Whether a file with this name has come meanwhile, and whether it is whole: one that was moved back may come again
    /// before its refusal is noted here.
    var largeCameAgain: Bool?
    let largeManifests = DispatchQueue(label: "darkroom.intake.large", qos: .userInitiated)
    /// What the spool has refused. Nothing more is claimed until the spool accepts it.
    var refusals = IntakeRefusals()
    /// Events that a scan has read and that have not been handled yet.
    var unhandled: [InboxEvent] = []
    /// Whether the folder contains something that only a scan finds.
    var mustScan = false
    /// Checked between manifests and while one is read, so that a stop does not wait for a full inbox or a manifest.
    let stopped = CancellationFlag()
    /// The number of unfinished batches that the start found, and how many of them have not been read yet.
    let found = Atomic(0)
    let unread = Atomic(0)
    /// For the status line.
    let publishedBacklog = Mutex(InboxBacklog())
    var agenda = Agenda<Task>()
    /// The content of `inbox.json`, its file, and when it is written; see `Intake+Report.swift`.
    var reporter = InboxReporter()
    var reportFile: ReportWriter<InboxReport>
    let reportPacer: Pacer<FileName>
    /// Whether nothing runs any more after a stop.
    private(set) var hasEnded = false

    package init(
        spool: Spool, scheduler: Scheduler, settings: IntakeSettings, log: EventLog,
        time: TimeSource = .system, onLoss: @escaping @Sendable (FileError) -> Void,
        onRemoval: @escaping @Sendable (FileName) -> Void
    ) {
        self.spool = spool
        self.scheduler = scheduler
        self.log = log
        currentSettings = Mutex(settings)
        self.onLoss = onLoss
        self.onRemoval = onRemoval
        self.time = time
        reportFile = ReportWriter(root: spool.root, log: log)
        reportPacer = Pacer(
            interval: 500_000_000, limits: .init(share: .each(20)), queue: queue, time: time)
    }

    var settings: IntakeSettings { currentSettings.withLock { $0 } }

    func update(_ settings: IntakeSettings) { currentSettings.withLock { $0 = settings } }

    /// Begins to watch, and returns when the watch exists. Then unfinished batches of a previous daemon and the content
    /// of the folder follow.
    ///
    /// - Parameter watching: called when the watch exists, before anything is taken.
    package func start(watching: () -> Void) throws(FileError) {
        let recovery = makeRecovery()
        scheduler.queueWatch.add(queue, "the intake")
        scheduler.queueWatch.add(largeManifests, "the reader of large manifests")
        try tellOfOrphans()
        // This precedes the watch, because an event may cause a claim before the other batches are recovered.
        let unfinished = try recovery.ids()
        found.store(unfinished.count, ordering: .relaxed)
        unread.store(unfinished.count, ordering: .relaxed)
        spool.crashRecords.clearCrashes(exceptOf: unfinished)
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

    /// How long a stop waits for the present step of the intake.
    private static let lastStep: DispatchTimeInterval = .seconds(3)

    /// Ends the intake. A manifest that is being read stays in the inbox. A claimed one gets its receipt now or after
    /// the next start. If the disk delays a step, the stop does not wait for it. This is like a kill, which every step
    /// survives.
    package func stop() {
        stopped.set()
        reportPacer.close()
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
        reportPacer.end(InboxReport.fileName) { [self] _, _ in
            hasEnded = true
            return writeReport()
        }
    }

    var isStopped: Bool { stopped.isSet }
}
