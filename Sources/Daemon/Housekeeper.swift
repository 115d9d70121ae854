import DarkroomAnswer
import DarkroomConfiguration
import DarkroomCore
import DarkroomSpool
import Dispatch
import Foundation
import Synchronization
import SystemPackage

/// Cleans the spool while the daemon works: expired entries of the outbox, and files left in `tmp`.
///
/// It runs some time after the start, when an entry expires, and at least once an hour. If the size of all entries is
/// limited, it runs once a minute, or more rarely, so that it takes at most a hundredth of the time. All of it runs on
/// a queue of the lowest priority, in small steps.
final class Housekeeper: @unchecked Sendable {
    // @unchecked: the stored variables are used on `queue` only.

    /// In seconds.
    private static let hour = 3600.0
    private static let minute = 60.0
    /// How many expired entries that stay in the outbox are reported, each once.
    private static let keptCapacity = 100

    private let spool: Spool
    private let log: EventLog
    private let configuration: @Sendable () -> Configuration
    private let queue = DispatchQueue(label: "darkroom.housekeeping", qos: .background)
    private let stopped = Atomic(false)

    private var kept: Set<FileName> = []
    /// When the files in `tmp` were last reported, by a clock that nobody sets.
    private var uploadsTold: Double?
    /// When the folders of pictures were last looked after, by a clock that nobody sets.
    private var foldersCleared: Double?
    private var trust = ClockTrust()
    /// When that was last written into the spool, by a clock that nobody sets.
    private var notedAt: Double?
    /// The number of the present timer. Older timers do nothing.
    private var timer = 0

    init(spool: Spool, log: EventLog, configuration: @escaping @Sendable () -> Configuration) {
        self.spool = spool
        self.log = log
        self.configuration = configuration
    }

    /// Begins after `seconds`, when most of the start's own work is done.
    ///
    /// - Parameter isAfterCrash: whether the last daemon, or the machine, has crashed.
    func start(after seconds: Double, isAfterCrash: Bool) {
        spool.ended.onMove { [weak self] in self?.clearEnded($0) }
        queue.async { [self] in
            clearLeftovers()
            if isAfterCrash {
                attempt { () throws(FileError) in
                    try OutdatedProgress.remove(from: spool) { [self] in isStopped }
                }
            }
            attempt { () throws(FileError) in
                trust = try ClockNote.read(in: spool.root) ?? trust
            }
            come(in: seconds)
        }
    }

    /// Does something whose failure is only reported: it is tried again.
    private func attempt(_ body: () throws(FileError) -> Void) {
        do throws(FileError) {
            try body()
        } catch {
            log.storageFailed(error)
        }
    }

    /// Runs again because the configuration has changed.
    func update() { queue.async { [self] in come(in: 0) } }

    /// Stops after the present step.
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
        clearFolders()
        var wait = Self.hour
        // No event tells that a clock has been corrected.
        if trust.doubt != nil { wait = min(Self.minute, max(trust.remaining, 1)) }
        if let due = expire(configuration, now) {
            wait = min(wait, max(due.timeIntervalSinceNow, 1))
        }
        // An entry may finish a moment from now, and must not become older than allowed.
        if configuration.retention.age > 0 { wait = min(wait, max(configuration.retention.age, 1)) }
        if configuration.retention.bytes > 0 {
            let spent = Double(Clock.nanoseconds - begin) / 1e9
            wait = min(wait, max(Self.minute, spent * 100))
        }
        come(in: wait)
    }

    // MARK: The clock

    /// Determines whether entries may be removed because of their age, and reports a change of that.
    private func lookAtTheClock(_ configuration: Configuration) {
        let isNeeded = configuration.retention.age > 0 || configuration.uploadRetention > 0
        guard isNeeded else { return trust = ClockTrust() }
        let before = trust.doubt
        let now = ClockTrust.Moment(wall: Clock.wall, uptime: Clock.uptime, boot: Machine.bootID)
        trust.look(now, program: Machine.programTime)
        let isNews = notedAt == nil || trust.doubt != before
        if let doubt = trust.doubt, isNews {
            log.clockDoubted(doubt, program: Machine.programTime)
        } else if trust.doubt == nil, before != nil {
            log.clockBelieved()
        }
        // This function may run every second.
        if let notedAt, !isNews, now.uptime - notedAt < Self.noteInterval { return }
        attempt { () throws(FileError) in
            try ClockNote.write(trust, in: spool.root, durably: configuration.isDurable)
            notedAt = now.uptime
        }
    }

    /// Seconds between two updates of the note about the clock.
    private static let noteInterval = 600.0

    // MARK: The outbox

    /// Finishes removals that a previous daemon had begun.
    private func clearLeftovers() {
        attempt { () throws(FileError) in
            log.leftoversRemoved(try expired.clear())
        }
        clearFolders()
    }

    /// Removes what nobody needs any more, once an hour: folders of pictures of ended batches that could not be removed,
    /// and those whose submitter was killed before they were complete; and the exact manifests of answers that a user has
    /// removed.
    private func clearFolders() {
        if let foldersCleared, Clock.uptime - foldersCleared < Self.hour { return }
        foldersCleared = Clock.uptime
        attempt { () throws(FileError) in
            log.endedFoldersRemoved(try spool.ended.clear { [self] in isStopped })
        }
        attempt { () throws(FileError) in
            log.stagedFoldersRemoved(
                try StagedFolders.removeLeftovers(in: spool.tmp) { [self] in isStopped })
            try StagedFolders.removeEmptyWrappers(in: spool.tmp)
        }
        attempt { () throws(FileError) in
            log.exactManifestsRemoved(
                try ExactManifests(spool: spool).sweep { [self] in isStopped })
        }
    }

    /// Removes the folder of an ended batch. If it cannot be removed, this is tried again once an hour.
    private func clearEnded(_ name: FileName) {
        clearLater { [self] () throws(FileError) in
            try spool.ended.clear(name) { [self] in isStopped }
        }
    }

    /// Removes the files of an answer that was moved to `active` under this name.
    func clear(_ expired: FileName) {
        clearLater { [self] () throws(FileError) in try self.expired.clear(expired) }
    }

    /// Removes something, unless a look or the start has found and removed it in between.
    private func clearLater(_ body: @escaping @Sendable () throws(FileError) -> Void) {
        queue.async { [self] in
            attempt { () throws(FileError) in
                try ignoringMissing(body())
            }
        }
    }

    private var expired: Expired { Expired(spool: spool, isStopped: { [self] in isStopped }) }

    /// Returns when the next entry expires.
    private func expire(_ configuration: Configuration, _ now: Date) -> Date? {
        var limits = configuration.retention
        // The sum of the sizes does not depend on the time.
        if trust.doubt != nil { limits.age = 0 }
        let retention = Retention(
            spool: spool, limits: limits, durably: configuration.isDurable, log: log,
            isStopped: { [self] in isStopped }, tell: { [self] in tell($0, $1) })
        var due: Date?
        attempt { () throws(FileError) in due = try retention.sweep(now: now).nextDue }
        return due
    }

    private func tell(_ name: FileName, _ reason: String) {
        guard kept.count < Self.keptCapacity, kept.insert(name).inserted else { return }
        log.kept(name.text, because: reason)
    }

    // MARK: Uploads

    /// Reports files left in `tmp`, once a day, and removes those that are too old if this is configured.
    private func lookAfterUploads(_ configuration: Configuration, _ now: Date) {
        guard trust.doubt == nil else { return }
        attempt { () throws(FileError) in
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
        }
    }
}
