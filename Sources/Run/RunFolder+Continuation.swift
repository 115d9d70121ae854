import DarkroomAnswer
import DarkroomCore
import DarkroomManifest
import DarkroomSpool
import Glibc
import Synchronization
import SystemPackage

/// A run that continues what an earlier one has begun.
extension RunFolder {
    /// The former results that the renewal had noted which this run continues.
    private func recalledFormers() throws(RunError) -> [Int: FormerResult] {
        let recalled = try runError(of: FormerResults(in: folders.active()))
        formers.withLock { $0 = recalled }
        return recalled.byImage
    }

    /// Notes what an earlier run has made, which was not compared with the sources of now.
    private func noteContinued(_ prepared: PreparedBatch) {
        let images = prepared.status.images
        let made = images.indices.filter { images[$0].state.isFinal }
        if !made.isEmpty { continued.withLock { $0 = Set(made) } }
    }

    /// The run that was continued has ended: what the earlier one had made is looked at.
    ///
    /// - Returns: nil if there is nothing of the kind.
    func renewContinued() throws(RunError) -> Finding? {
        guard let made = continued.withLock({ $0.take() }) else { return nil }
        return try renew(fresh: Set(job.manifest.images.indices).subtracting(made))
    }

    /// Continues what an earlier run has begun.
    func recover() throws(RunError) -> Finding {
        let recovery = Recovery(spool: spool, examination: examination, durably: durably)
        let finding = try runError(of: recovery.recover(job.id))
        switch finding {
        case .unfinished(let prepared):
            if prepared.manifest.images.isEmpty { return try endEmpty(prepared) }
            var repeated = try repeatMissing(prepared)
            noteContinued(repeated)
            repeated.formers = try recalledFormers()
            return .unfinished(repeated)
        case .finished, .empty, .putBack: break
        case .removed(let status), .rejected(let status, _):
            guard status.state == .rejected else { break }
            throw .unusable(
                folder: job.folder, reason: "its manifest would not be accepted any more")
        }
        guard let status = try readAnswer() else { throw RunError(unreadableStatusIn: answer) }
        return .finished(status)
    }
}
