import DarkroomBatch
import DarkroomCore
import DarkroomSpool
import Dispatch

/// Manifests so large that taking one would keep the others waiting, and control files, which are to act at once.
/// They are examined, claimed and answered on a queue of their own, one after the other; the rest of the intake
/// sees them when they are done.
///
/// A name in `largeInHand` is nobody else's: no event or scan has it examined, and a control that means it waits.
extension Intake {
    /// Some three thousand images. One step of the intake takes as long as the largest that is not large.
    private static let largeBytes = 256 << 10
    /// What is above stays in the folder until one is done, for each counts as a batch only then.
    private static let largeAtOnce = 4

    /// What became of one, in `Claim` and `Reception`.
    struct Taken: Sendable {
        let candidate: Candidate
        let claim: Claim.Outcome
        var answered: [PreparedBatch] = []
        var rest = Reception.Rest()
    }

    /// Bytes of a manifest that is taken with the others. A try whether the spool takes writes again is of one
    /// group, large or not.
    var largestAtOnce: Int { refusals.isTrying ? .max : Self.largeBytes }

    func takeLarge(_ name: FileName, isWhole: Bool, _ examination: Examination, _ inbox: Directory)
    {
        guard largeInHand.count < Self.largeAtOnce else { return arrivals.leave() }
        largeInHand.insert(name)
        largeManifests.async { [weak self] in
            guard let self, !isStopped else { return }
            let verdict = examination.examine(name, in: inbox, isWhole: isWhole)
            queue.async { [taken = takeIfReady(verdict, examination, inbox)] in
                self.tookLarge(name, verdict, taken)
            }
        }
    }

    private func takeIfReady(
        _ verdict: Verdict, _ examination: Examination, _ inbox: Directory
    ) -> Taken? {
        guard case .ready(let candidate) = verdict else { return nil }
        return take(candidate, examination, inbox)
    }

    private func take(_ candidate: Candidate, _ examination: Examination, _ inbox: Directory)
        -> Taken
    {
        let durably = settings.isDurable
        let claim = Claim(spool: spool, inbox: inbox, examination: examination, durably: durably)
        var taken = Taken(candidate: candidate, claim: claim.take([candidate]))
        let reception = Reception(
            spool: spool, storage: scheduler.storage, log: log, durably: durably, stop: stopped,
            accept: { taken.answered.append($0) })
        taken.rest = reception.answer(taken.claim.claimed)
        return taken
    }

    private func tookLarge(_ name: FileName, _ verdict: Verdict, _ taken: Taken?) {
        largeInHand.remove(name)
        if note(verdict, name) != nil, let taken {
            note(taken.claim, of: [taken.candidate])
            note(taken.rest)
            for prepared in taken.answered { accept(prepared) }
        }
        if arrivals.hasLeft { scan() } else { drain() }
    }
}
