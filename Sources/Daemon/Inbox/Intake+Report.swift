import DarkroomAnswer
import DarkroomBoard
import DarkroomCore
import DarkroomManifest
import DarkroomSpool
import DarkroomWork
import Dispatch
import Glibc
import Synchronization

/// What the intake reports about the inbox: `spool/inbox.json`, and the journal's records of files that are not taken.
/// All of it runs on the intake's queue.
extension Intake {
    /// The queues have been paused. The report says so.
    package func suspensionChanged() { queue.async { [self] in reportSoon() } }

    /// The inbox may have changed since the file was written.
    func reportSoon() {
        if !isStopped {
            reportPacer.changed(InboxReport.fileName, now: time.now, write: reportWrite)
        }
    }

    /// Called between the steps of a long operation, which would delay the timer.
    func reportIfDue() {
        if reportPacer.isDue(InboxReport.fileName) { report() }
    }

    /// Writes the content of the inbox now if it has changed.
    func report() { reportPacer.write(InboxReport.fileName, reportWrite) }

    private var reportWrite: Pacer<FileName>.Write {
        { [weak self] _, _ in self?.writeReport() ?? .over }
    }

    func writeReport() -> PacedWrite {
        guard let report = describe() else { return .done }
        log.metrics.setInbox(isClaiming: report.claiming, counts: report.counts)
        var outcome = PacedWrite.done
        if reporter.last.map(report.isNews) ?? true { outcome = reportFile.write(report) }
        if outcome == .done { reporter.last = report }
        tellStatus(of: report)
        if report.total > 0 { lookAgain() }
        return outcome
    }

    /// Updates the part of the status line about files on which somebody must act.
    private func tellStatus(of report: InboxReport) {
        let backlog = InboxBacklog(report)
        let isNews = publishedBacklog.withLock { exchange(&$0, with: backlog) != backlog }
        if isNews { scheduler.progressed() }
    }

    /// The files in the inbox that stay there until somebody acts.
    package var backlog: InboxBacklog { publishedBacklog.withLock { $0 } }

    /// No event reports that a file was removed from the inbox. So the inbox's modification time is checked while a
    /// file is listed.
    private func lookAgain() {
        if !isStopped { plan(.removal, in: 2) }
    }

    func lookForRemovals() {
        if let listed = reporter.listed, listed == inbox?.identity { return lookAgain() }
        reportSoon()
    }

    /// nil if the inbox cannot be listed, which is reported elsewhere.
    private func describe() -> InboxReport? {
        guard let inbox else { return nil }
        let identity = inbox.identity
        // A change during the listing may have the same modification time: file systems update their time in steps.
        reporter.listed = identity.flatMap { $0.age > 0.1 ? $0 : nil }
        guard let names = try? inbox.names() else { return nil }
        let obstacle = obstacle
        var report = reporter.report(names, at: Clock.timestamp) { self.judge($0, obstacle) }
        report.scanned = reporter.lastScan
        report.claiming = obstacle == nil
        report.why = obstacle
        report.paused = scheduler.gate.isSuspended
        report.watch = watch == nil ? .polling : .inotify
        return report
    }

    /// The reason why no manifest at all is taken now.
    private var obstacle: InboxReport.Obstacle? {
        if hasEnded { return .init(code: "stopped", message: "darkroomd has stopped") }
        if isStopped {
            return .init(
                code: "stopping",
                message:
                    "darkroomd is stopping: it ends when running operations have finished, or after stop.timeout"
            )
        }
        if isBlocked {
            return .init(
                code: InboxReason.disk.rawValue,
                message: scheduler.storage.report?.message
                    ?? "a write to the spool was refused; the journal has the details")
        }
        guard scheduler.hasRoom else {
            let limit = settings.maximumWaiting
            return .init(
                code: InboxReason.overLimit.rawValue,
                message: "\(limit) claimed batches wait, as many as batches.maxWaiting allows")
        }
        return nil
    }

    private func judge(
        _ name: FileName, _ obstacle: InboxReport.Obstacle?
    ) -> (reason: InboxReason, message: String)? {
        if name == largeInHand { return (.queued, "it is large, and is being read") }
        // Names that are examined nevertheless are those of folders.
        let stage = files.stage(of: name)
        let isExamined = isQueued(name) || stage == .settling
        if let why = refused[name] ?? (isExamined ? nil : Examination.reasonToIgnore(name)) {
            return (why.reason, why.words)
        }
        switch stage {
        case .appeared: return (.settling, "it may not be complete: it has just appeared")
        case .written: return (.beingWritten, "its writer has not closed it")
        case .settling: return (.settling, "it may not be complete: it changed too recently")
        case .ready, nil: break
        }
        let owner = arrivals.owner(of: name) ?? large.owner(of: name)
        if let obstacle, let reason = InboxReason(rawValue: obstacle.code) {
            // An owner without a waiting batch has room even then.
            let isNext = reason == .overLimit && owner.map(scheduler.hasRoom) ?? false
            if !isNext { return (reason, obstacle.message) }
        }
        if let owner, scheduler.crowd(of: owner) == .held {
            let limit = settings.maximumWaiting
            let batches = Words.count(limit, "batch", "batches")
            return (
                .overLimit,
                "\(batches) of its owner \(limit == 1 ? "is" : "are") held, as many as "
                    + "batches.maxWaiting allows"
            )
        }
        if large.contains(name) {
            return (.queued, "it is large, and waits for other large manifests")
        }
        return (.queued, "it has not been examined yet")
    }

    // MARK: The journal

    /// Remembers why a file is not taken, and reports it.
    func refuse(_ name: FileName, _ why: SkipReason) {
        switch refused.refuse(name, why, now: time.now) {
        case .yes: log.notTaken(name.text, because: why.words)
        case .sumLater: plan(.sum, at: time.now + NoticeLimit.interval)
        case .no: break
        }
    }

    /// Reports the number of files that were not reported one by one.
    func tellRest() {
        let count = refused.takeWithheld()
        if count > 0 { log.notTaken(more: count) }
    }
}

extension Directory {
    /// Changes when entries are created, removed or renamed; nil if it cannot be read.
    var identity: FileIdentity? { (try? information()).map { FileIdentity($0) } }
}
