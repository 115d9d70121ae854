import DarkroomAnswer
import DarkroomCore
import DarkroomSpool
import DarkroomWork
import Dispatch
import Synchronization

/// Manifests whose turn has come are examined, claimed, answered and passed to the scheduler, in groups.
extension Intake {
    /// Bytes of manifests that are held between reading and claiming. At this size a group ends early.
    private static let groupBytes = 4 << 20

    /// Examines the names that have arrived, and claims manifests in groups.
    func drain() {
        guard let inbox, !isStopped else { return }
        reportSoon()
        let examination = settings.examination.asking(stopped)
        takeControlFiles(examination, inbox)
        if canTake { takeGroup(examination, inbox) }
        takeNextLarge(examination, inbox)
        // It takes one group at a time, so that other events, such as a control file, do not wait for all. A test
        // whether the spool accepts writes again takes only one group.
        if controlFiles.hasNext || canTake && !refusals.isTrying { return drainSoon() }
        // If the spool refuses writes, the next test examines everything.
        guard !isBlocked else { return }
        planLook(examination.settle)
        if mustScan && arrivals.hasLeft(where: scheduler.hasRoom)
            || large.hasLeft(where: scheduler.hasRoom)
        {
            queue.async { [weak self] in self?.scan() }
        } else if mustScan || !arrivals.isEmpty || !large.isEmpty {
            waitsForRoom.store(true, ordering: .releasing)
            // There may have been room before the flag was set.
            if canTake || canTakeLarge { roomAppeared() }
        }
    }

    private var canTake: Bool {
        !isBlocked && !isStopped && arrivals.hasNext(where: scheduler.hasRoom)
    }

    private func drainSoon() { plan(.drain, at: time.now) }

    /// The scheduler has finished a batch. The folder may contain files for which there was no room.
    func roomAppeared() {
        guard waitsForRoom.exchange(false, ordering: .acquiringAndReleasing) else { return }
        queue.async { [weak self] in
            guard let self, !isStopped else { return }
            if arrivals.isEmpty, large.isEmpty { scan() } else { drain() }
        }
    }

    /// Takes as many manifests as share the waits for the disk, or fewer if reading takes long, so that files that
    /// arrive in the meantime get the next turn.
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
                arrival.name, in: inbox, isWhole: isWhole, effort: effortAtOnce)
            if case .large = verdict {
                queueLarge(arrival.name, isWhole: isWhole)
            } else if let candidate = note(verdict, arrival.name) {
                candidates.append(candidate)
                bytes += candidate.reading.bytes?.count ?? 0
            }
            if bytes > Self.groupBytes {
                take(candidates, examination, inbox)
                candidates = []
                bytes = 0
            }
            if isBlocked || isStopped { return arrivals.leave() }
        }
        take(candidates, examination, inbox)
    }

    /// Remembers why a file is not taken, or returns it as a candidate.
    func note(_ verdict: Verdict, _ name: FileName) -> Candidate? {
        if case .settling = verdict {} else { files.move(name, .judged, now: time.now) }
        switch verdict {
        case .gone, .control, .large:
            refused[name] = nil
        case .interrupted: break
        case .ignored(let reason):
            refuse(name, reason)
            // No event tells what happens in a folder.
            if case .folder = reason { recheckLater() }
        case .unreadable(let error) where error.storageFailure != nil:
            scheduler.storage.writeRefused(error)
        case .unreadable(let error):
            refuse(name, .unreadable(error))
            recheckLater()
        case .settling(let identity):
            files.move(name, .seen(identity, isWhole: false), now: time.now)
        case .ready(let candidate):
            return candidate
        }
        return nil
    }

    func take(_ candidates: [Candidate], _ examination: Examination, _ inbox: Directory) {
        guard !candidates.isEmpty else { return }
        note(acceptance(examination, inbox).take(candidates), of: candidates)
    }

    /// What claims and answers manifests, and hands their batches to the scheduler. Several are handed over in their order.
    ///
    /// - Parameter isLarge: whether it works on the queue of large manifests. The control files are on the intake's.
    func acceptance(
        _ examination: Examination, _ inbox: Directory, isLarge: Bool = false
    ) -> Acceptance {
        Acceptance(
            spool: spool, inbox: inbox, examination: examination, storage: scheduler.storage,
            log: log, durably: settings.isDurable, stop: stopped
        ) { [self] batch in
            guard isLarge else { return scheduler.accept(batch, commandsOf: self) }
            queue.async { [self] in scheduler.accept(batch, commandsOf: self) }
        }
    }

    /// Remembers what must be done again.
    func note(_ outcome: Acceptance.Outcome, of candidates: [Candidate] = []) {
        let unreadable = Set(outcome.unreadable.map(\.name))
        for candidate in candidates where !unreadable.contains(candidate.name) {
            refused[candidate.name] = nil
        }
        for (name, error) in outcome.unreadable {
            refuse(name, .unreadable(error))
            recheckLater()
        }
        putInOrder(outcome.stranded)
        refusals.unanswered += outcome.unanswered
        refusals.unrecovered += outcome.uncleared
        if outcome.hasLeft { arrivals.leave() }
    }
}
