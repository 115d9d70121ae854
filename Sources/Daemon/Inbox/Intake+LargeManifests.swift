import DarkroomAnswer
import DarkroomCore
import DarkroomSpool
import DarkroomWork
import Dispatch
import Glibc

/// Large manifests. To take one takes so long that it would delay other manifests, and also control files, which must
/// take effect at once. Large manifests are examined, claimed and answered on their own queue, one after the other. The
/// rest of the intake gets the results. Owners take turns here too: one who submits many delays another by one
/// manifest.
///
/// Nothing else uses a name in `large` or `largeInHand`: no event or scan has it examined, and a control file for it
/// waits.
extension Intake {
    /// About three thousand images. The largest manifest that is not large takes one step of the intake.
    private static let largeBytes = 256 << 10

    /// What is read of a manifest that is taken with the others. When the intake tests whether the spool accepts writes
    /// again, it takes one group, which may contain large ones.
    var effortAtOnce: Examination.Effort { refusals.isTrying ? .whole : .quick(Self.largeBytes) }

    /// Has a manifest wait for its turn. If there is no room for its name, a scan finds it later.
    func queueLarge(_ name: FileName, isWhole: Bool) {
        _ = large.add(name, isWhole: isWhole, owner: look(at: name)?.st_uid)
    }

    var canTakeLarge: Bool {
        largeInHand == nil && !isBlocked && !isStopped && !refusals.isTrying
            && large.hasNext(where: scheduler.hasRoom)
    }

    /// Takes the next one, unless one is being taken: it counts as a batch only when that is finished.
    func takeNextLarge(_ examination: Examination, _ inbox: Directory) {
        guard canTakeLarge, let next = large.next(where: scheduler.hasRoom) else { return }
        let name = next.name
        let isWhole = next.isWhole || hasSettled(name, examination.settle)
        largeInHand = name
        largeManifests.async { [weak self] in
            guard let self, !isStopped else { return }
            let verdict = examination.examine(name, in: inbox, isWhole: isWhole)
            var outcome: Acceptance.Outcome?
            if case .ready(let candidate) = verdict {
                outcome = acceptance(examination, inbox, isLarge: true).take([candidate])
            }
            queue.async { [outcome] in self.tookLarge(name, verdict, outcome) }
        }
    }

    private func tookLarge(_ name: FileName, _ verdict: Verdict, _ outcome: Acceptance.Outcome?) {
        putDownLarge()
        if let candidate = note(verdict, name), let outcome { note(outcome, of: [candidate]) }
        drain()
    }

    /// Ends the work on the manifest in hand. A file that has come with its name meanwhile gets its turn.
    func putDownLarge() {
        guard let name = largeInHand else { return }
        largeInHand = nil
        guard let isWhole = largeCameAgain else { return }
        largeCameAgain = nil
        arrived(name, isWhole: isWhole)
    }
}
