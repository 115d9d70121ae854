import DarkroomCore
import DarkroomSpool
import Dispatch
import Foundation
import Synchronization

/// Keeps the spool tidy beside the work: finished entries that have expired, and files left in `tmp`.
///
/// It looks some time after the start, when an entry comes of age, and once an hour at least; once a minute where
/// the entries' size is limited, or so seldom that looking takes a hundredth of the time. All of it is done
/// on a queue of the lowest quality, in small steps.
final class Housekeeper: @unchecked Sendable {
    // @unchecked: the stored variables are touched on `queue` only.

    /// In seconds.
    private static let hour = 3600.0
    private static let minute = 60.0
    /// What stays in the outbox although it is old is told for so many, and for each once.
    private static let keptCapacity = 100

    private let spool: Spool
    private let log: EventLog
    private let configuration: @Sendable () -> Configuration
    private let queue = DispatchQueue(label: "darkroom.housekeeping", qos: .background)
    private let stopped = Atomic(false)

    private var kept: Set<FileName> = []
    /// When the files in `tmp` were told of last, by the clock that nobody sets.
    private var uploadsTold: Double?
    private var trust = ClockTrust()
    /// When that was written into the spool, by the clock that nobody sets.
    private var notedAt: Double?
    /// The number of the timer that counts.
    private var timer = 0

    init(
        spool: Spool, log: EventLog, configuration: @escaping @Sendable () -> Configuration
    ) {
        self.spool = spool
        self.log = log
        self.configuration = configuration
    }

    /// Begins `seconds` from now, when the start's own work is mostly done.
    func start(after seconds: Double) {
        queue.async { [self] in
            clearLeftovers()
            readNote()
            come(in: seconds)
        }
    }

    private func readNote() {
        do {
            trust = try ClockNote(folder: spool.root).read() ?? trust
        } catch {
            log.storageFailed(error)
        }
    }

    /// Looks again, for the configuration has changed.
    func update() {
        queue.async { [self] in come(in: 0) }
    }

    /// Ends it after the step it is at.
    func stop() {
        stopped.store(true, ordering: .releasing)
        queue.sync {}
    }

    private var isStopped: Bool { stopped.load(ordering: .acquiring) }

    private func come(in seconds: Double) {
        timer += 1
        let number = timer
        queue.asyncAfter(deadline: .now() + seconds) { [weak self] in
            guard let self, !isStopped, number == timer else { return }
            look()
        }
    }

    private func look() {
        let configuration = configuration()
        let now = Date.now
        let begin = Clock.nanoseconds
        lookAtTheClock(configuration)
        lookAfterUploads(configuration, now)
        var wait = Self.hour
        // Nobody says when a clock is put right.
        if trust.doubt != nil { wait = min(Self.minute, max(trust.remaining, 1)) }
        if let due = expire(configuration, now) {
            wait = min(wait, max(due.timeIntervalSinceNow, 1))
        }
        // An entry that is finished a moment from now must not become older than it may.
        if configuration.retention.age > 0 { wait = min(wait, max(configuration.retention.age, 1)) }
        if configuration.retention.bytes > 0 {
            let spent = Double(Clock.nanoseconds - begin) / 1e9
            wait = min(wait, max(Self.minute, spent * 100))
        }
        come(in: wait)
    }

    // MARK: The clock

    /// Asks whether anything may be removed for its age, and says so where that has changed.
    private func lookAtTheClock(_ configuration: Configuration) {
        let isNeeded = configuration.retention.age > 0 || configuration.uploadRetention > 0
        guard isNeeded else { return trust = ClockTrust() }
        let before = trust.doubt
        let now = ClockTrust.Moment(
            wall: Clock.wall, uptime: Clock.uptime, boot: Machine.bootID)
        trust.look(now, program: Machine.programTime)
        let isNews = notedAt == nil || trust.doubt != before
        if let doubt = trust.doubt, isNews {
            log.clockDoubted(doubt, program: Machine.programTime)
        } else if trust.doubt == nil, before != nil {
            log.clockBelieved()
        }
        // Looks may come every second.
        if let notedAt, !isNews, now.uptime - notedAt < Self.noteInterval { return }
        do {
            try ClockNote(folder: spool.root).write(trust, durably: configuration.isDurable)
            notedAt = now.uptime
        } catch {
            log.storageFailed(error)
        }
    }

    /// Between two writings of what is known of the clock, in seconds.
    private static let noteInterval = 600.0

    // MARK: The outbox

    /// Ends what a former daemon had begun to remove.
    private func clearLeftovers() {
        do {
            let expired = Expired(spool: spool, isStopped: { [self] in isStopped })
            let count = try expired.clear()
            if count > 0 { log.leftoversRemoved(count) }
        } catch {
            log.storageFailed(error)
        }
    }

    /// Gives the moment at which the next entry comes of age.
    private func expire(_ configuration: Configuration, _ now: Date) -> Date? {
        var limits = configuration.retention
        // How large all of them are does not depend on the time.
        if trust.doubt != nil { limits.age = 0 }
        let retention = Retention(
            spool: spool, limits: limits, durably: configuration.isDurable, log: log,
            isStopped: { [self] in isStopped }, tell: { [self] in tell($0, $1) })
        do {
            return try retention.sweep(now: now).nextDue
        } catch {
            log.storageFailed(error)
            return nil
        }
    }

    private func tell(_ name: FileName, _ reason: String) {
        guard kept.count < Self.keptCapacity, kept.insert(name).inserted else { return }
        log.kept(name.text, because: reason)
    }

    // MARK: Uploads

    /// Tells of files left in `tmp`, once a day, and removes those that are too old, if any are to be.
    private func lookAfterUploads(_ configuration: Configuration, _ now: Date) {
        guard trust.doubt == nil else { return }
        do {
            if configuration.uploadRetention > 0 {
                let removed = try StaleUploads.find(
                    in: spool.tmp, olderThan: configuration.uploadRetention, now: now, remove: true,
                    isStopped: { [self] in isStopped })
                if removed.count > 0 { log.uploadsRemoved(removed.count, bytes: removed.bytes) }
            }
            let stale = try StaleUploads.find(
                in: spool.tmp, olderThan: StaleUploads.age, now: now,
                isStopped: { [self] in isStopped })
            log.metrics.setUploads(count: stale.count, bytes: stale.bytes)
            let isDue = uploadsTold.map { Clock.uptime - $0 >= 24 * Self.hour } ?? true
            guard isDue, stale.count > 0 else { return }
            uploadsTold = Clock.uptime
            log.staleUploads(stale, hours: Int(StaleUploads.age / Self.hour))
        } catch {
            log.storageFailed(error)
        }
    }
}
