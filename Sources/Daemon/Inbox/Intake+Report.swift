import DarkroomBatch
import DarkroomCore
import DarkroomManifest
import DarkroomSpool
import Dispatch
import Glibc
import Synchronization

/// What the intake tells of the inbox: `spool/inbox.json`, and the journal of what is not taken. All of it on the
/// intake's queue.
extension Intake {
    /// The queues have been suspended, which the report says.
    package func suspensionChanged() {
        queue.async { [self] in reportSoon() }
    }

    /// The inbox may not be any more what the file says.
    func reportSoon() {
        guard !isStopped, !reporter.timerIsSet else { return }
        reportLater(than: 0)
    }

    /// Between the steps of something long, which would keep the timer waiting.
    func reportIfDue() {
        if reporter.timerIsSet, time.now >= reporter.notBefore { report() }
    }

    private func reportLater(than nanoseconds: UInt64) {
        reporter.timerIsSet = true
        schedule(at: max(reporter.notBefore, time.now + nanoseconds)) { intake in
            intake.reporter.timerIsSet = false
            intake.report()
        }
    }

    /// Writes what is in the inbox, if that is news.
    func report() {
        let begin = time.now
        guard let report = describe() else { return }
        log.metrics.setInbox(isClaiming: report.claiming, counts: report.counts)
        if reporter.last.map(report.isNews) ?? true { write(report) }
        tellStatus(of: report)
        reporter.finished(report, begin: begin, end: time.now)
        if report.total > 0 { lookAgain() }
    }

    /// Has the status line say what somebody has to see to.
    private func tellStatus(of report: InboxReport) {
        let backlog = InboxBacklog(report)
        let isNews = publishedBacklog.withLock { last in
            defer { last = backlog }
            return last != backlog
        }
        if isNews { scheduler.progressed() }
    }

    /// What lies in the inbox and does not pass by itself.
    package var backlog: InboxBacklog { publishedBacklog.withLock { $0 } }

    /// Nobody tells when a file is taken back out of the inbox, so its time of change is looked at, as long as
    /// anything is listed.
    private func lookAgain() {
        guard !isStopped, !reporter.lookIsSet else { return }
        reporter.lookIsSet = true
        schedule(in: 2) { intake in
            intake.reporter.lookIsSet = false
            if let listed = intake.reporter.listed, listed == intake.inbox?.identity {
                return intake.lookAgain()
            }
            intake.reportSoon()
        }
    }

    private func write(_ report: InboxReport) {
        do {
            try ReportFile(root: spool.root).write(report)
            reporter.hasFailed = false
        } catch {
            if !reporter.hasFailed { log.reportFailed(error) }
            reporter.hasFailed = true
            if !isStopped, !reporter.timerIsSet { reportLater(than: 5_000_000_000) }
        }
    }

    /// nil where the inbox cannot be listed, which is told elsewhere.
    private func describe() -> InboxReport? {
        guard let inbox else { return nil }
        let identity = inbox.identity
        // A change in the moment of the listing leaves no later time: the clock of a file system ticks slowly.
        reporter.listed = identity.flatMap { $0.age > 0.1 ? $0 : nil }
        guard let names = try? inbox.names() else { return nil }
        let obstacle = obstacle
        let begun = reporter.begun
        var report = reporter.report(names, at: Clock.timestamp) {
            self.judge($0, begun, obstacle)
        }
        report.scanned = reporter.lastScan
        report.claiming = obstacle == nil
        report.why = obstacle
        report.paused = scheduler.gate.isSuspended
        report.watch = watch == nil ? .polling : .inotify
        return report
    }

    /// What keeps every manifest from being taken now.
    private var obstacle: InboxReport.Obstacle? {
        if hasEnded { return .init(code: "stopped", message: "darkroomd has stopped") }
        if isStopped {
            return .init(
                code: "stopping",
                message: "darkroomd is stopping: it ends with what runs, or after stop.timeout")
        }
        if isBlocked {
            return .init(
                code: InboxReason.disk.rawValue,
                message: scheduler.storage.report?.message
                    ?? "the spool did not take what had to be written; the journal says what")
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
        _ name: FileName, _ begun: BegunFiles, _ obstacle: InboxReport.Obstacle?
    ) -> (reason: InboxReason, message: String)? {
        if name == largeInHand { return (.queued, "it is large, and is just being read") }
        if let why = Examination.reasonToIgnore(name) ?? refused[name] {
            return (why.reason, why.words)
        }
        if settling.contains(name) {
            return (.settling, "it may not be complete: it has not been left alone for long enough")
        }
        if begun.isWritten(name) { return (.beingWritten, "its writer has not closed it") }
        if begun.contains(name) {
            return (.settling, "it may not be complete: it has just appeared")
        }
        if let obstacle, let reason = InboxReason(rawValue: obstacle.code) {
            return (reason, obstacle.message)
        }
        if let owner = arrivals.owner(of: name) ?? large.owner(of: name),
            scheduler.crowd(of: owner) == .held
        {
            let limit = settings.maximumWaiting
            let batches = Words.count(limit, "batch", "batches")
            return (
                .overLimit,
                "\(batches) of its owner \(limit == 1 ? "is" : "are") held, as many as "
                    + "batches.maxWaiting allows"
            )
        }
        if large.contains(name) { return (.queued, "it is large, and waits for others that are") }
        return (.queued, "it has not been looked at yet")
    }

    // MARK: The journal

    /// Names remembered as refused, so that a reason is told once.
    private static let refusedCapacity = 65_536

    /// Remembers why a file is not taken, and tells of it.
    func refuse(_ name: FileName, _ why: SkipReason) {
        guard refused[name] != why, refused.count < Self.refusedCapacity else { return }
        refused[name] = why
        guard why.isTold else { return }
        if notices.take(at: time.now) {
            return log.notTaken(name.text, because: why.words)
        }
        if notices.withheld == 1 { tellRestLater() }
    }

    private func tellRestLater() {
        schedule(at: time.now + NoticeAllowance.interval) { $0.tellRest() }
    }

    /// Tells of those of which not each was told.
    func tellRest() {
        let count = notices.takeWithheld()
        if count > 0 { log.notTaken(more: count) }
    }
}

extension Directory {
    /// Tells whether entries were made, removed or renamed since; nil where that cannot be told.
    var identity: FileIdentity? {
        var information = stat()
        return fstat(number, &information) == 0 ? FileIdentity(information) : nil
    }
}
