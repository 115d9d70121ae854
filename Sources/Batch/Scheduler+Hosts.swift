import DarkroomCore
import DarkroomSpool
import Dispatch
import Foundation
import Synchronization

/// What comes before a download's operation: its turn, its host's permission, and the wait for its next try.
extension Scheduler {
    // MARK: Places

    /// Whether a download may be put into the queue; if not it waits for its turn or its host. Work of other kinds may.
    func takePlace(_ item: StorageWaits.Item) -> Bool {
        guard case .download(let key, let source) = item.work,
            let (text, owner) = board.withLock({ board in
                board.sourceText(key, source).map { ($0, board.owner(of: key)) }
            })
        else { return true }
        let host = DownloadTurns.host(of: text)
        var served =
            host == nil
            ? localTurns.withLock { $0.add(item, owner: owner, host: nil) }
            : hosts.withLock { $0.add(item, owner: owner, host: host) }
        let isServed = served.contains { $0.work == item.work }
        served.removeAll { $0.work == item.work }
        start(served)
        if isServed { return true }
        board.withLock { $0.downloadWaits(key, source) }
        // If the disk was to be tried with it, that may take longer than anything else.
        endedUndecided(item.work)
        return false
    }

    /// Whether a download that has its place may begin.
    func hostAllows(_ work: Work) -> Bool { hosts.withLock { $0.mayBegin(work) } }

    /// Gives back the place that a download has, if it has one, to others.
    ///
    /// - Parameter waiting: whether it is not to wait for one any more either.
    func leavePlace(_ work: Work, waiting: Bool = false) {
        start(takeBackPlace(work, waiting: waiting))
    }

    /// Gives those that go into the queues now. Which turns the download had, or waits for, they know themselves.
    private func takeBackPlace(_ work: Work, waiting: Bool = false) -> [StorageWaits.Item] {
        let remote = hosts.withLock { waiting ? $0.remove(work) : $0.leave(work) }
        return remote + localTurns.withLock { waiting ? $0.remove(work) : $0.leave(work) }
    }

    func setDownloadLimits(_ limits: DownloadTurns.Limits) {
        start(
            hosts.withLock { $0.setLimits(limits) } + localTurns.withLock { $0.setLimits(limits) })
    }

    /// Puts those into the queue that have got places.
    private func start(_ items: [StorageWaits.Item]) {
        var rest = items
        var next = 0
        while next < rest.count {
            let item = rest[next]
            next += 1
            if storageAllows(item.work) {
                start(item)
            } else {
                rest += takeBackPlace(item.work)
                waitForStorage(item.work, item.priority, item.quality)
            }
        }
    }

    // MARK: Pauses

    /// A server has asked to be left alone for so many seconds: nothing of its host begins meanwhile.
    ///
    /// - Parameters:
    ///   - source: the URL that the answer was to.
    ///   - batch: whose download it was.
    func pauseHost(
        of source: ByteString, for seconds: Double, because failure: Failure, batch: String
    ) {
        guard failure.isTransient, seconds > 0, settings.backOff.mayWait(seconds),
            let host = DownloadTurns.host(of: source)
        else { return }
        let now = Clock.nanoseconds
        let end = now.saturatingAdd(UInt64(clamping: seconds * 1e9))
        let isNew = hosts.withLock { $0.pause(host, until: end, now: now, at: Clock.timestamp) }
        if isNew {
            log.hostPaused(
                source, seconds: seconds, because: failure,
                batches: [batch]
                    + batches(waitingFor: host).filter { ByteString($0) != ByteString(batch) })
            pausesChanged()
            resumeHost(host, at: end)
        }
    }

    /// Those in work that have something to fetch from a host.
    private func batches(waitingFor host: ByteString) -> [String] {
        let sources = board.withLock { board in
            board.batches.values.map { (id: $0.folders.id, texts: $0.sourcesToBegin) }
        }
        return sources.filter { $0.texts.contains { DownloadTurns.host(of: $0) == host } }
            .map(\.id).sorted { ByteString($0) < ByteString($1) }
    }

    private func resumeHost(_ host: ByteString, at end: UInt64) {
        let now = Clock.nanoseconds
        let wait = Int(clamping: end > now ? end - now : 0)
        alarms.asyncAfter(deadline: .now() + .nanoseconds(wait)) { [self] in
            let (items, again) = hosts.withLock { $0.resume(host, now: Clock.nanoseconds) }
            start(items)
            // It has asked for more meanwhile.
            if let again { resumeHost(host, at: again) }
            pausesChanged()
        }
    }

    /// The statuses of the batches in work are to say so.
    private func pausesChanged() {
        for key in board.withLock({ Array($0.batches.keys) }) { statusChanged(key) }
    }

    /// What a batch's status is to say of hosts that have asked to be left alone and that images of it wait for.
    func hostsPause(_ key: BatchKey) -> Status.Waiting? {
        let hosts = board.withLock { board in
            Set(board.batches[key]?.sourcesWaitingOutside.compactMap(DownloadTurns.host) ?? [])
        }
        let now = Clock.nanoseconds
        guard !hosts.isEmpty,
            let pause = self.hosts.withLock({ $0.pause(of: hosts, now: now) })
        else { return nil }
        let seconds = Double(pause.until - now) / 1e9
        return Status.Waiting(
            .hostPaused,
            message:
                "\(pause.host): the server has asked to be left alone, so nothing of it is fetched "
                + "before \(Clock.timestamp(.now + seconds))",
            since: pause.since)
    }

    // MARK: Next tries

    /// Has a download that failed tried again; whether it is still wanted then, the board knows. It waits without
    /// an operation, and whatever stops the daemon does not wait for it.
    func enqueueLater(_ work: Work, _ retry: Retry) {
        guard case .download(let key, let source) = work else { return }
        log.retried(retry)
        endedUndecided(work)
        alarms.asyncAfter(deadline: .now() + retry.delay) { [self] in
            advance { $0.retryDue(key, source, number: retry.number) }
        }
    }
}
