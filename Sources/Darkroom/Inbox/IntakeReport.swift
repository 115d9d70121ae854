import Dispatch
import Glibc

/// What the intake tells of the inbox: `spool/inbox.json`, and the count of files whose events were missed.
/// All of it on the intake's queue.
extension Intake {
    private static let reportFile: FileName = "inbox.json"
    private static let newReportFile: FileName = "inbox.json.new"
    /// Names remembered as refused, so that a reason is told once.
    private static let refusedCapacity = 65_536

    /// Remembers why a file is not taken, and says so for the first time.
    func refuse(_ name: FileName, _ reason: String) {
        guard refused[name] != reason else { return }
        guard refused.count < Self.refusedCapacity else { return }
        refused[name] = reason
        // Names that say "not yet" are the rule for submitters, and nothing to talk about.
        if !reason.hasPrefix("its name") { log.notTaken(name.text, because: reason) }
    }

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
        if reporter.timerIsSet, Clock.nanoseconds >= reporter.notBefore { report() }
    }

    private func reportLater(than nanoseconds: UInt64) {
        reporter.timerIsSet = true
        let now = Clock.nanoseconds
        let due = max(reporter.notBefore, now + nanoseconds)
        queue.asyncAfter(deadline: .now() + .nanoseconds(Int(clamping: due - now))) { [weak self] in
            guard let self, !isStopped else { return }
            reporter.timerIsSet = false
            report()
        }
    }

    /// Writes what is in the inbox, if that is news.
    func report() {
        let begin = Clock.nanoseconds
        guard let report = describe() else { return }
        log.metrics.setInbox(report)
        if reporter.last.map(report.isNews) ?? true { write(report) }
        reporter.finished(report, begin: begin, end: Clock.nanoseconds)
        if report.total > 0 { lookAgain() }
    }

    /// Nobody tells when a file is taken back out of the inbox, so its time of change is looked at, as long as
    /// anything is listed.
    private func lookAgain() {
        guard !isStopped, !reporter.lookIsSet else { return }
        reporter.lookIsSet = true
        queue.asyncAfter(deadline: .now() + 2) { [weak self] in
            guard let self, !isStopped else { return }
            reporter.lookIsSet = false
            if let listed = reporter.listed, listed == inbox?.identity { return lookAgain() }
            reportSoon()
        }
    }

    private func write(_ report: InboxReport) {
        do {
            // It says what can be seen in the folder too, so it is not waited for.
            try spool.root.write(
                report.encoded(), to: Self.newReportFile, replacing: true, durably: false)
            try spool.root.rename(
                Self.newReportFile, to: spool.root, as: Self.reportFile, replacing: true)
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
            self.judge($0, isBegun: begun.contains($0), obstacle)
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
        if isStopped { return .init(code: "stopped", message: "darkroomd has stopped") }
        if isBlocked {
            return .init(
                code: InboxReason.disk.rawValue,
                message: "the spool did not take what had to be written; the journal says what")
        }
        guard scheduler.hasRoom else {
            let limit = scheduler.configuration.maximumWaiting
            return .init(
                code: InboxReason.overLimit.rawValue,
                message: "\(limit) claimed batches wait, as many as batches.maxWaiting allows")
        }
        return nil
    }

    private func judge(
        _ name: FileName, isBegun: Bool, _ obstacle: InboxReport.Obstacle?
    ) -> (reason: InboxReason, message: String)? {
        if let reason = Examination.reasonToIgnore(name) { return (.ignoredName, reason) }
        if let reason = refused[name] {
            return (reason == Examination.notAFile ? .notAFile : .unreadable, reason)
        }
        if settling.contains(name) {
            return (.settling, "it may not be complete: it has not been left alone for long enough")
        }
        if isBegun { return (.beingWritten, "its writer has not closed it") }
        if let obstacle, let reason = InboxReason(rawValue: obstacle.code) {
            return (reason, obstacle.message)
        }
        return (.queued, "it has not been looked at yet")
    }

    // MARK: Missed events

    /// Counts the manifests among `names`, just listed, that no event has told of. Not in the first scan, nor
    /// where names were dropped or left for want of room: those are found again, not for the first time.
    func countMissed(_ names: [FileName]) {
        guard let watch, !isBlocked, !reporter.hasDropped, reporter.lastScan != nil else { return }
        // What was in the folder when it was listed has its event in the descriptor by now.
        let events = watch.read()
        var told: Set<FileName> = []
        for event in events {
            if case .moved(let name) = event { told.insert(name) }
            if case .closed(let name) = event { told.insert(name) }
            if case .changed(let name) = event { told.insert(name) }
            if case .made(let name) = event { told.insert(name) }
        }
        let missed = names.count { name in
            ManifestFormat(fileName: name.text) != nil && !arrivals.contains(name)
                && !settling.contains(name) && refused[name] == nil && !told.contains(name)
                && !reporter.begun.contains(name) && Examination.reasonToIgnore(name) == nil
        }
        log.metrics.scanFound.add(missed)
        if !events.isEmpty { queue.async { [weak self] in self?.handle(events) } }
    }
}

extension Directory {
    /// Tells whether entries were made, removed or renamed since; nil where that cannot be told.
    var identity: FileIdentity? {
        var information = stat()
        return fstat(number, &information) == 0 ? FileIdentity(information) : nil
    }
}
