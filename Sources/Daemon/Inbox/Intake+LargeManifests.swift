import DarkroomBatch
import DarkroomCore
import DarkroomSpool
import Dispatch
import Glibc

/// Manifests so large that taking one would keep the others waiting, and control files, which are to act at once.
/// They are examined, claimed and answered on a queue of their own, one after the other; the rest of the intake
/// sees them when they are done. Owners take turns here, too: whoever drops many keeps another's waiting for one.
///
/// A name in `large` or `largeInHand` is nobody else's: no event or scan has it examined, and a control file that means it
/// waits.
extension Intake {
    /// Some three thousand images. One step of the intake takes as long as the largest that is not large.
    private static let largeBytes = 256 << 10

    /// What became of one, in `Claim` and `ReceiptIssuer`.
    struct Taken: Sendable {
        let candidate: Candidate
        let claim: Claim.Outcome
        var answered: [PreparedBatch] = []
        var rest = ReceiptIssuer.Rest()
    }

    /// Bytes of a manifest that is taken with the others. An attempt whether the spool takes writes again is of one
    /// group, large or not.
    var largestAtOnce: Int { refusals.isTrying ? .max : Self.largeBytes }

    /// Has one wait for its turn. Where there is no room for its name, a scan finds it later.
    func queueLarge(_ name: FileName, isWhole: Bool) {
        _ = large.add(name, isWhole: isWhole, owner: look(at: name)?.st_uid)
    }

    var canTakeLarge: Bool {
        largeInHand == nil && !isBlocked && !isStopped && !refusals.isTrying
            && large.hasNext(where: scheduler.hasRoom)
    }

    /// Has the next one taken, if none is: it counts as a batch only when it is done.
    func takeNextLarge(_ examination: Examination, _ inbox: Directory) {
        guard canTakeLarge, let next = large.next(where: scheduler.hasRoom) else { return }
        let name = next.name
        let isWhole = next.isWhole || hasSettled(name, examination.settle)
        largeInHand = name
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
        let reception = ReceiptIssuer(
            spool: spool, storage: scheduler.storage, log: log, durably: durably, stop: stopped,
            accept: { taken.answered.append($0) })
        taken.rest = reception.answer(taken.claim.claimed)
        return taken
    }

    private func tookLarge(_ name: FileName, _ verdict: Verdict, _ taken: Taken?) {
        largeInHand = nil
        if note(verdict, name) != nil, let taken {
            note(taken.claim, of: [taken.candidate])
            note(taken.rest)
            for prepared in taken.answered { accept(prepared) }
        }
        drain()
    }
}
