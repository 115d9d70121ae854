import DarkroomBatch
import DarkroomCore
import DarkroomSpool
import Dispatch
import Synchronization

/// How manifests are taken, in groups: examined, claimed, answered and handed to the scheduler.
extension Intake {
    /// Bytes of manifests held between reading and claiming, above which a group is cut short.
    private static let groupBytes = 4 << 20

    /// Examines what has arrived, and claims what can be, in groups.
    func drain() {
        guard let inbox, !isStopped else { return }
        reportSoon()
        let examination = settings.examination.asking(stopped)
        takeControlFiles(examination, inbox)
        if canTake { takeGroup(examination, inbox) }
        takeNextLarge(examination, inbox)
        // One group at a time, so that what happens meanwhile, a control file say, does not wait for all. An attempt
        // whether the spool takes writes again is one group.
        if controlFiles.hasNext || canTake && !refusals.isTrying { return drainSoon() }
        // Where the spool refuses, the next attempt looks at everything.
        guard !isBlocked else { return }
        setTimer(examination.settle)
        if mustScan && arrivals.hasLeft(where: scheduler.hasRoom)
            || large.hasLeft(where: scheduler.hasRoom)
        {
            queue.async { [weak self] in self?.scan() }
        } else if mustScan || !arrivals.isEmpty || !large.isEmpty {
            waitsForRoom.store(true, ordering: .releasing)
            // It may have appeared before the flag was set.
            if canTake || canTakeLarge { roomAppeared() }
        }
    }

    private var canTake: Bool {
        !isBlocked && !isStopped && arrivals.hasNext(where: scheduler.hasRoom)
    }

    private func drainSoon() {
        guard !drainIsSet else { return }
        drainIsSet = true
        queue.async { [weak self] in
            guard let self else { return }
            drainIsSet = false
            drain()
        }
    }

    /// The scheduler has let go of a batch: there may be more in the folder than could be taken.
    func roomAppeared() {
        guard waitsForRoom.exchange(false, ordering: .acquiringAndReleasing) else { return }
        queue.async { [weak self] in
            guard let self, !isStopped else { return }
            if arrivals.isEmpty, large.isEmpty { scan() } else { drain() }
        }
    }

    /// Takes as many as share the waits for the disk, or fewer where reading them takes long: who comes meanwhile has
    /// the next turn.
    private func takeGroup(_ examination: Examination, _ inbox: Directory) {
        reportIfDue()
        let begin = time.now
        var candidates: [Candidate] = []
        var bytes = 0
        var count = 0
        while count < Arrivals.groupSize, time.now - begin < Self.turn,
            let arrival = arrivals.next(where: scheduler.hasRoom)
        {
            count += 1
            let isWhole = arrival.isWhole || hasSettled(arrival.name, examination.settle)
            let verdict = examination.examine(
                arrival.name, in: inbox, isWhole: isWhole, largest: largestAtOnce)
            if case .large = verdict {
                queueLarge(arrival.name, isWhole: isWhole)
            } else if let candidate = note(verdict, arrival.name) {
                candidates.append(candidate)
                bytes += candidate.reading.bytes?.count ?? 0
            }
            if bytes > Self.groupBytes {
                claim(candidates, examination, inbox)
                candidates = []
                bytes = 0
            }
            if isBlocked || isStopped { return arrivals.leave() }
        }
        claim(candidates, examination, inbox)
    }

    /// Remembers why a file is not taken, or gives it to be taken.
    func note(_ verdict: Verdict, _ name: FileName) -> Candidate? {
        if case .settling = verdict {} else { settling.forget(name) }
        switch verdict {
        case .gone, .control, .large:
            refused[name] = nil
        case .interrupted: break
        case .ignored(let reason):
            refuse(name, reason)
        case .unreadable(let error) where error.fault != nil:
            scheduler.storage.writeRefused(error)
        case .unreadable(let error):
            refuse(name, .unreadable(error))
            recheckLater()
        case .settling(let identity):
            settling.note(name, identity, now: time.now)
        case .ready(let candidate):
            return candidate
        }
        return nil
    }

    func claim(
        _ candidates: [Candidate], _ examination: Examination, _ inbox: Directory
    ) {
        guard !candidates.isEmpty else { return }
        let claim = Claim(
            spool: spool, inbox: inbox, examination: examination,
            durably: settings.isDurable)
        let outcome = claim.take(candidates)
        note(outcome, of: candidates)
        answer(outcome.claimed)
    }

    /// Remembers what became of those that were to be claimed.
    func note(_ outcome: Claim.Outcome, of candidates: [Candidate]) {
        let stillRefused = Set(outcome.refused.map(\.name))
        for candidate in candidates where !stillRefused.contains(candidate.name) {
            refused[candidate.name] = nil
        }
        for (name, error) in outcome.refused {
            refuse(name, .unreadable(error))
            recheckLater()
        }
        putInOrder(outcome.stranded)
        refusals.unanswered += outcome.unsynced
        if let failure = outcome.failure {
            scheduler.storage.writeRefused(failure)
            arrivals.leave()
        }
    }

    /// Gives the manifests, whose claims are on the disk, their receipts. One whose receipt cannot be written is
    /// kept, for it is in the inbox no more.
    func answer(_ claimed: [ClaimedManifest]) {
        let reception = ReceiptIssuer(
            spool: spool, storage: scheduler.storage, log: log,
            durably: settings.isDurable, stop: stopped, accept: accept)
        note(reception.answer(claimed))
    }

    /// Keeps what the spool has refused of an answer.
    func note(_ rest: ReceiptIssuer.Rest) {
        refusals.unanswered += rest.unanswered
        refusals.unrecovered += rest.uncleared
    }
}
