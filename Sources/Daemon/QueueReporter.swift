import DarkroomAnswer
import DarkroomCore
import DarkroomSpool
import DarkroomWork
import Dispatch
import Glibc
import Synchronization

/// Writes `spool/queue.json`: what the daemon does, and the unfinished batches.
///
/// A change of the daemon's state is written at once. A change of batches is written at most once a second, and so
/// rarely that it takes at most a hundredth of the time. Without any change the file is written every ten seconds, so
/// that its age shows whether the daemon lives.
final class QueueReporter: @unchecked Sendable {
    // @unchecked: the stored variables are used on `queue` only, except the atomic one.

    private let scheduler: Scheduler
    private let log: EventLog
    private let limits: @Sendable () -> QueueReport.Limits
    private let time: TimeSource
    let queue = DispatchQueue(label: "darkroom.queue", qos: .utility)
    private let pacer: Pacer<FileName>
    /// Whether the pacer knows that batches have changed.
    private let isDue = Atomic(false)
    private var file: ReportWriter<QueueReport>

    private let daemon = QueueReport.Daemon(
        version: Release.version, process: getpid(), started: Clock.timestamp, uid: geteuid())
    private var meter = ProgressMeter()
    private var hasEnded = false
    /// Whether the daemon is paused, and will be after a restart.
    private var isPaused = false

    /// - Parameter limits: the present limits for submitters.
    init(
        spool: Spool, scheduler: Scheduler, log: EventLog, time: TimeSource = .system,
        limits: @escaping @Sendable () -> QueueReport.Limits
    ) {
        self.scheduler = scheduler
        self.log = log
        self.time = time
        self.limits = limits
        pacer = Pacer(
            interval: 1_000_000_000,
            limits: .init(share: .each(100), heartbeat: UInt64(QueueReport.heartbeat * 1e9)),
            queue: queue, time: time)
        file = ReportWriter(root: spool.root, log: log)
    }

    /// Reports now, so that whoever waits for the start can read it, and from now on.
    func start(isPaused: Bool) {
        queue.sync {
            self.isPaused = isPaused
            pacer.write(QueueReport.fileName, write)
        }
    }

    /// A pause or its end is on record, so that it is not reported before a kill could still undo it.
    func marked(isPaused: Bool) {
        queue.async { [self] in self.isPaused = isPaused }
        stateChanged()
    }

    /// The daemon does something else now, for example it stops.
    func stateChanged() {
        queue.async { [self] in
            if !hasEnded { pacer.write(QueueReport.fileName, write) }
        }
    }

    /// Batches have changed. This is called after every step of an image, so the pacer is told once.
    func progressed() {
        guard !isDue.exchange(true, ordering: .acquiringAndReleasing) else { return }
        pacer.changed(QueueReport.fileName, now: time.now, write: write)
    }

    /// Reports that the daemon has stopped, and nothing afterwards.
    func end() {
        pacer.end(QueueReport.fileName) { [self] _, now in
            hasEnded = true
            return file.write(describe(now))
        }
    }

    // MARK: The report

    private var write: Pacer<FileName>.Write {
        { [weak self] _, now in
            guard let self else { return .over }
            isDue.store(false, ordering: .releasing)
            return file.write(describe(now))
        }
    }

    private func describe(_ now: UInt64) -> QueueReport {
        let state = state
        var report = QueueReport(
            written: Clock.timestamp, state: state, daemon: daemon, limits: limits())
        if state == .waiting { report.waiting = scheduler.storage.report?.waiting }
        scheduler.describeBatches(in: &report)
        report.results = scheduler.results?.report
        meter.add(
            time: now, images: log.metrics.images.all.values.reduce(0, +),
            bytes: log.metrics.writtenBytes.value,
            mayWork: state == .running && report.counts.processing > 0)
        report.imagesPerSecond = meter.imagesPerSecond?.shortened
        report.bytesPerSecond = meter.bytesPerSecond?.shortened
        return report
    }

    /// In the order of the reasons in a status: a disk that accepts no writes matters more than a pause.
    private var state: QueueReport.State {
        if hasEnded { return .stopped }
        if scheduler.gate.isStopping { return .stopping }
        if scheduler.storage.report != nil { return .waiting }
        return isPaused ? .paused : .running
    }
}
