import DarkroomAnswer
import DarkroomBoard
import DarkroomCore
import DarkroomManifest
import DarkroomSpool
import Dispatch

/// Images that wait, and the ends of all.
extension DeliveryStation {
    /// An image waits, alone or with all others, or fails.
    ///
    /// - Parameter forgetting: whether its promise is not in the journal.
    func refuse(
        _ job: Deliveries.Job, _ refusal: DeliveryFolder.Refusal, forgetting: Bool = false
    ) {
        var job = job
        if forgetting { forget(&job) }
        let failure = Failure(refusal.error)
        if refusal.endsImage { return giveUp(job, failure) }
        guard case .folder = refusal else { return waitAlone(job, failure) }
        self.refusal = failure
        keepWaiting(job, failure, since: trouble?.since ?? Clock.timestamp)
    }

    /// Keeps an image until the next attempt of all. A restart continues with it.
    func keepWaiting(_ job: Deliveries.Job, _ failure: Failure, since: String) {
        if let job = waiting(job, failure, since: since) { pending.append(job, of: job.job.owner) }
    }

    /// Keeps an image until its own next attempt. A restart continues with it.
    func waitAlone(_ job: Deliveries.Job, _ failure: Failure) {
        var job = job
        let trouble = Outage(failure, after: job.trouble, now: shared.time.now)
        guard let kept = waiting(job, failure, since: trouble.since) else { return }
        let isFirst = job.trouble == nil
        job = kept
        job.trouble = trouble
        alone.append(job)
        if isFirst { countAlone(failure, since: trouble.since) }
        if attemptAlone.time.map({ trouble.next < $0 }) ?? true { planAlone(at: trouble.next) }
    }

    private func countAlone(_ failure: Failure, since: String) {
        if refusedAlone == nil {
            shared.log.folderWaits(path, "some outputs cannot be delivered", of: "images", failure)
            refusedAlone = (0, failure, since)
        }
        refusedAlone?.count += 1
    }

    private func planAlone(at time: UInt64?) {
        guard let tick = attemptAlone.plan(at: time) else { return }
        shared.time.call(at: tick.time, on: queue) { [weak self] in
            guard let self, attemptAlone.hasCome(tick) else { return }
            let now = max(shared.time.now, tick.time)
            for job in alone where job.isDue(at: now) { pending.append(job, of: job.job.owner) }
            alone.removeAll { $0.isDue(at: now) }
            planAlone(at: alone.lazy.compactMap(\.trouble?.next).min())
            passSoon()
        }
    }

    /// Makes sure that a restart knows of an image that waits, and that its status says why; nil if it does not wait.
    private func waiting(
        _ job: Deliveries.Job, _ failure: Failure, since: String
    ) -> Deliveries.Job? {
        var job = job
        if job.cancellation.isSet {
            giveUp(job, .cancelled)
            return nil
        }
        if !job.isKept, keep(&job) == nil {
            if job.hasEnded { return nil }
            shared.committer.record(job.record, of: job.folders) {}
        }
        let reason = StationShared.Reason(
            subject: job.job.image.status.name, message: failure.message, since: since)
        if shared.note(reason, for: job.job.key, job.job.index) { job.changed() }
        return job
    }

    func endCancelled() {
        for job in pending.takeAll(where: \.cancellation.isSet) { giveUp(job, .cancelled) }
    }

    /// Fails an image. Its copy is removed when no promise says any more that a missing copy may be placed.
    func giveUp(_ job: Deliveries.Job, _ failure: Failure) {
        var job = job
        forget(&job)
        guard job.isPromised else { return remove(job, failure) }
        shared.committer.record(job.record, of: job.folders) { [self, job] in
            queue.async { [self] in remove(job, failure) }
        }
    }

    private func remove(_ job: Deliveries.Job, _ failure: Failure) {
        // If the folder is away, a copy may stay in it.
        var opened = OpenedDeliveries()
        if let output = job.output, let folder = try? opened.folder(for: job) {
            try? folder.discard(output)
        }
        end(job, .failure(failure))
    }

    func end(_ job: Deliveries.Job, _ result: Result<ImageStatus, Failure>) {
        _ = shared.note(nil, for: job.job.key, job.job.index)
        if job.trouble != nil {
            refusedAlone?.count -= 1
            if refusedAlone?.count == 0 { refusedAlone = nil }
        }
        job.ended(result)
    }
}

extension Deliveries.Job {
    fileprivate func isDue(at time: UInt64) -> Bool { trouble.map { $0.next <= time } ?? true }
}

extension DeliveryFolder.Refusal {
    /// Whether no other attempt can help.
    fileprivate var endsImage: Bool {
        switch self {
        case .source(let error): error.storageFailure == nil
        case .output(let error): PlaceFolder.concernsOneName(error)
        case .folder: false
        }
    }

    fileprivate var error: FileError {
        switch self {
        case .source(let error), .output(let error), .folder(let error): error
        }
    }
}
