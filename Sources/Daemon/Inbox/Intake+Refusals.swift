import DarkroomBatch
import DarkroomCore
import DarkroomSpool
import Dispatch
import SwiftGlibc
import SystemPackage

/// Work that the intake has begun and that the spool has refused, until the spool accepts writes again.
struct IntakeRefusals {
    /// Claimed manifests without a receipt. Their claims may not be on the disk either.
    var unanswered: [ClaimedManifest] = []
    /// The IDs of folders in `active` that must be recovered as at a start.
    var unrecovered: [String] = []
    /// Whether one group of manifests is taken to test whether writes are accepted again.
    var isTrying = false
}

extension Intake {
    /// Whether nothing is claimed because the spool accepts no writes.
    var isBlocked: Bool { !refusals.isTrying && !scheduler.storage.mayWork }

    /// Recovers what a previous daemon, or a failed claim, has left in `active`.
    func recover(_ id: String, _ recovery: Recovery) {
        guard !isBlocked else { return refusals.unrecovered.append(id) }
        do {
            switch try recovery.recover(id) {
            case .empty, .finished(nil): break
            case .finished(let name?): log.givenBack(id: id, name)
            case .putBack(let name): refuse(name, Examination.reasonToIgnore(name) ?? .notAFile)
            case .rejected(let status, let givenBack):
                log.rejected(status)
                if let givenBack { log.givenBack(id: id, givenBack) }
            case .removed(let status): log.batchRemoved(status)
            case .unfinished(let prepared):
                log.resumed(prepared)
                log.suspected(prepared)
                accept(prepared)
            }
        } catch  where error.errno == .canceled {
            // The daemon stops. The next start recovers it.
        } catch  where error.fault != nil {
            scheduler.storage.writeRefused(error, batch: id)
            refusals.unrecovered.append(id)
        } catch {
            // It stays in place for the next start. The others continue.
            log.storageFailed(error, batch: id)
        }
    }

    /// Recovers manifests that could be claimed, but neither read nor moved back into the inbox.
    func putInOrder(_ ids: [String]) {
        guard !ids.isEmpty else { return }
        queue.async { [weak self] in
            guard let self, !isStopped else { return }
            let recovery = recovery(settings)
            for id in ids { recover(id, recovery) }
        }
    }

    private func recovery(_ settings: IntakeSettings) -> Recovery {
        Recovery(
            spool: spool, examination: settings.examination.asking(stopped),
            durably: settings.isDurable)
    }

    /// Gives receipts to manifests whose claims are on the disk. If a receipt cannot be written, its manifest is
    /// remembered, because it is not in the inbox any more.
    func answer(_ claimed: [ClaimedManifest]) {
        let reception = ReceiptIssuer(
            spool: spool, storage: scheduler.storage, log: log,
            durably: settings.isDurable, stop: stopped, accept: accept)
        note(reception.answer(claimed))
    }

    /// Remembers the parts of an answer that the spool has refused.
    func note(_ rest: ReceiptIssuer.Rest) {
        refusals.unanswered += rest.unanswered
        refusals.unrecovered += rest.uncleared
    }

    /// Repeats what the spool has refused.
    ///
    /// - Returns: false if the spool refuses it again.
    private func answerRefused(_ inbox: Directory) -> Bool {
        let settings = settings
        let examination = settings.examination.asking(stopped)
        let unanswered = refusals.unanswered
        let unrecovered = refusals.unrecovered
        refusals.unanswered = []
        refusals.unrecovered = []
        let claim = Claim(
            spool: spool, inbox: inbox, examination: examination, durably: settings.isDurable)
        do {
            if claim.durably { try claim.sync(unanswered) }
            answer(unanswered)
        } catch {
            scheduler.storage.writeRefused(error)
            refusals.unanswered = unanswered
        }
        let recovery = recovery(settings)
        for id in unrecovered { recover(id, recovery) }
        return refusals.unanswered.isEmpty && refusals.unrecovered.isEmpty
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

    /// Whether the inbox is not the folder that is open any more, or does not exist.
    var isReplaced: Bool {
        guard let inbox else { return true }
        do {
            guard let there = try spool.root.information(of: "inbox") else { return true }
            let here = try inbox.information()
            return there.st_dev != here.st_dev || there.st_ino != here.st_ino
        } catch {
            // A later call may be able to examine it.
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
