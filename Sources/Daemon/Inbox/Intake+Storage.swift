import DarkroomAnswer
import DarkroomCore
import DarkroomSpool
import DarkroomWork
import Dispatch
import SystemPackage

/// Work that the intake has begun and that the spool has refused, until the spool accepts writes again.
struct IntakeRefusals {
    /// Claimed manifests without a receipt. Their claims may not be on the disk either.
    var unanswered: [ClaimedManifest] = []
    /// The IDs of folders in `active` that must be recovered as at a start.
    var unrecovered: [String] = []
    /// Control files that have taken effect and must be removed.
    var unconsumed: [ControlRequest] = []
    /// Whether one group of manifests is taken to test whether writes are accepted again.
    var isTrying = false

    var isEmpty: Bool { unanswered.isEmpty && unrecovered.isEmpty && unconsumed.isEmpty }
}

extension Intake {
    /// Whether nothing is claimed because the spool accepts no writes.
    var isBlocked: Bool { !refusals.isTrying && !scheduler.storage.mayWork }

    /// Repeats what the spool has refused.
    ///
    /// - Returns: false if the spool refuses it again.
    private func answerRefused(_ inbox: Directory) -> Bool {
        let refused = refusals
        refusals = IntakeRefusals(isTrying: refused.isTrying)
        let examination = settings.examination.asking(stopped)
        note(acceptance(examination, inbox).answer(refused.unanswered))
        let recovery = makeRecovery()
        for id in refused.unrecovered { recover(id, recovery) }
        for request in refused.unconsumed { consume(request) }
        return refusals.isEmpty
    }

    /// Writes as much as a receipt needs, and removes it. There may be nothing else to try, and an empty inbox does not
    /// prove that the disk works.
    private func probe() -> Bool {
        let name: FileName = "probe"
        do throws(FileError) {
            try spool.root.write(
                [UInt8](repeating: 0, count: 16 << 10), to: name, replacing: true,
                durably: settings.isDurable)
            try spool.root.remove(name)
            return true
        } catch {
            scheduler.storage.writeRefused(error)
            // A part of it may have been written.
            try? spool.root.remove(name)
            return false
        }
    }
}

extension Intake: StorageClient {
    package func tryStorage() -> Bool {
        guard !isStopped else { return false }
        queue.async { [self] in
            guard !isStopped, let inbox else { return scheduler.storage.probeInconclusive() }
            refusals.isTrying = true
            let isWell = probe() && answerRefused(inbox)
            // One group is taken, which may contain large manifests.
            large = Arrivals()
            if isWell { scan() }
            refusals.isTrying = false
            // A failure in the meantime has been reported, and prevails.
            if isWell { scheduler.storage.writeSucceeded() }
        }
        return true
    }

    package func storageChanged() {
        guard scheduler.storage.mayWork else { return }
        queue.async { [self] in
            guard !isStopped, !isBlocked, let inbox, answerRefused(inbox) else { return }
            scan()
        }
    }
}
