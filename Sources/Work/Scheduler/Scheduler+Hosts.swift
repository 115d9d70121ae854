import DarkroomAnswer
import DarkroomBoard
import DarkroomCore
import DarkroomFetch
import DarkroomSpool
import Foundation

/// Hosts that have asked for a pause.
extension Scheduler {
    /// A server has asked for a pause of some seconds. No download from its host begins during it.
    ///
    /// - Parameters:
    ///   - source: the URL of the answer.
    ///   - batch: the batch of the download.
    func pauseHost(
        of source: ByteString, for seconds: Double, because failure: Failure, batch: String
    ) {
        guard failure.isTransient, seconds > 0, settings.retryPolicy.mayWait(seconds),
            let host = SourceReference.host(of: source)
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
            waitingChanged()
            resumeHost(host, at: end)
        }
    }

    /// The batches in work that need downloads from a host.
    private func batches(waitingFor host: ByteString) -> [String] {
        let sources = board.withLock { board in
            board.batches.values.map { (id: $0.id, texts: $0.sourcesToBegin) }
        }
        return sources.filter { $0.texts.contains { SourceReference.host(of: $0) == host } }
            .map(\.id).sorted { ByteString($0) < ByteString($1) }
    }

    private func resumeHost(_ host: ByteString, at end: UInt64) {
        time.call(at: end, on: alarms) { [self] in
            var again: UInt64?
            advance { board in
                let outcome: Admission.Outcome
                (outcome, again) = board.admission.resume(host, now: time.now)
                board.follow(outcome)
            }
            // It has asked for a longer pause since.
            if let again { resumeHost(host, at: again) }
            waitingChanged()
        }
    }

    /// Updates the statuses of the batches in work: the reason why they wait has changed.
    func waitingChanged() {
        for key in board.withLock({ Array($0.batches.keys) }) { statusChanged(key) }
    }

    /// The part of a batch's status about hosts that have asked for a pause, if its images wait for them.
    func hostsPause(_ key: BatchKey) -> Status.Waiting? {
        let now = time.now
        let pause = board.withLock { board in
            let sources = board.batches[key]?.sourcesWaitingOutside ?? []
            let hosts = Set(sources.compactMap(SourceReference.host))
            return hosts.isEmpty ? nil : board.admission.downloads.pause(of: hosts, now: now)
        }
        guard let pause else { return nil }
        let seconds = Double(pause.until - now) / 1e9
        return Status.Waiting(
            .hostPaused,
            message:
                "\(pause.host): the server has asked for a pause; no download from it begins before "
                + "\(Clock.timestamp(.now + seconds))",
            since: pause.since)
    }
}
