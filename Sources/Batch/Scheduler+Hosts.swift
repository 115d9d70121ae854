import DarkroomCore
import DarkroomSpool
import Dispatch
import Foundation
import Synchronization

/// Hosts that have asked to be left alone.
extension Scheduler {
    /// A server has asked to be left alone for so many seconds: nothing of its host begins meanwhile.
    ///
    /// - Parameters:
    ///   - source: the URL that the answer was to.
    ///   - batch: whose download it was.
    func pauseHost(
        of source: ByteString, for seconds: Double, because failure: Failure, batch: String
    ) {
        guard failure.isTransient, seconds > 0, settings.backOff.mayWait(seconds),
            let host = DownloadFairQueue.host(of: source)
        else { return }
        let now = time.now
        let end = now.saturatingAdd(UInt64(clamping: seconds * 1e9))
        let isNew = board.withLock {
            $0.admission.pause(host, until: end, now: now, at: Clock.timestamp)
        }
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
        return sources.filter { $0.texts.contains { DownloadFairQueue.host(of: $0) == host } }
            .map(\.id).sorted { ByteString($0) < ByteString($1) }
    }

    private func resumeHost(_ host: ByteString, at end: UInt64) {
        time.call(at: end, on: alarms) { [self] in
            var again: UInt64?
            advance { board in
                let outcome: Admission.Outcome
                (outcome, again) = board.admission.resume(host, now: time.now)
                return board.follow(outcome)
            }
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
        let now = time.now
        let pause = board.withLock { board in
            let sources = board.batches[key]?.sourcesWaitingOutside ?? []
            let hosts = Set(sources.compactMap(DownloadFairQueue.host))
            return hosts.isEmpty ? nil : board.admission.downloads.pause(of: hosts, now: now)
        }
        guard let pause else { return nil }
        let seconds = Double(pause.until - now) / 1e9
        return Status.Waiting(
            .hostPaused,
            message:
                "\(pause.host): the server has asked to be left alone, so nothing of it is fetched "
                + "before \(Clock.timestamp(.now + seconds))",
            since: pause.since)
    }
}
