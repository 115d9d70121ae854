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
/// that its age shows whether the daemon lives. Nothing waits for this file, so its refusal does not concern the
/// `StorageGuard`.
final class QueueReporter: @unchecked Sendable {
    // @unchecked: the stored variables are used on `queue` only, except the atomic one.

    /// The shortest time between two reports about batches, in nanoseconds.
    private static let interval: UInt64 = 1_000_000_000
    /// Reports take at most this part of the time.
    private static let share: UInt64 = 100

    private let spool: Spool
    private let scheduler: Scheduler
    private let log: EventLog
    private let limits: @Sendable () -> QueueReport.Limits
    private let time: TimeSource
    let queue = DispatchQueue(label: "darkroom.queue", qos: .utility)
    /// Whether a report about batches is planned.
    private let isDue = Atomic(false)

    private let daemon = QueueReport.Daemon(
        version: Release.version, process: getpid(), started: Clock.timestamp, uid: geteuid())
    private var meter = ProgressMeter()
    /// No report about batches is written before this time, in nanoseconds.
    private var notBefore: UInt64 = 0
    /// The number of the present heartbeat. Earlier ones do nothing.
    private var heartbeat = 0
    private var hasEnded = false
    /// Whether the daemon is paused, and will be after a restart.
    private var isPaused = false
    /// Whether the last report could not be written. This is logged once.
    private var hasFailed = false

    /// - Parameter limits: the present limits for submitters.
    init(
        spool: Spool, scheduler: Scheduler, log: EventLog, time: TimeSource = .system,
        limits: @escaping @Sendable () -> QueueReport.Limits
    ) {
        self.spool = spool
        self.scheduler = scheduler
        self.log = log
        self.time = time
        self.limits = limits
    }

    /// Reports now, so that whoever waits for the start can read it, and from now on.
    func start(isPaused: Bool) {
        queue.sync {
            self.isPaused = isPaused
            report()
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
            if !hasEnded { report() }
        }
    }

    /// Batches have changed. This is called after every step of an image, so it returns at once.
    func progressed() {
        guard !isDue.exchange(true, ordering: .acquiringAndReleasing) else { return }
        queue.async { [self] in
            time.call(at: max(time.now, notBefore), on: queue) { [self] in
                isDue.store(false, ordering: .releasing)
                if !hasEnded { report() }
            }
        }
    }

    /// Reports that the daemon has stopped, and nothing afterwards. Does not wait longer than three seconds: a disk may
    /// hang.
    func end() {
        let ended = DispatchSemaphore(value: 0)
        queue.async { [self] in
            hasEnded = true
            report()
            ended.signal()
        }
        _ = ended.wait(timeout: .now() + .seconds(3))
    }

    // MARK: The report

    private func report() {
        let begin = time.now
        do {
            try ReportFile(root: spool.root).write(describe(begin))
            hasFailed = false
        } catch {
            if !hasFailed { log.reportFailed(error, of: QueueReport.fileName) }
            hasFailed = true
        }
        let end = time.now
        notBefore = end + max(Self.interval, (end - begin) * Self.share)
        if !hasEnded { reportLater() }
    }

    /// Reports again even if nothing changes.
    private func reportLater() {
        heartbeat += 1
        let number = heartbeat
        let seconds = hasFailed ? StorageGuard.singleFileRetry : QueueReport.heartbeat
        time.call(in: seconds, on: queue) { [weak self] in
            guard let self, number == heartbeat, !hasEnded else { return }
            report()
        }
    }

    private func describe(_ now: UInt64) -> QueueReport {
        let state = state
        var report = QueueReport(
            written: Clock.timestamp, state: state, daemon: daemon, limits: limits())
        if state == .waiting, let trouble = scheduler.storage.report {
            report.waiting = Status.Waiting(
                code: trouble.code, message: trouble.message, since: trouble.since)
        }
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
