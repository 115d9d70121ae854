import DarkroomAnswer
import DarkroomCore

/// Removes the answer of a finished batch because somebody asks for it (`ID.remove`).
///
/// | step                                        | after a crash at this point                          |
/// |---------------------------------------------|------------------------------------------------------|
/// | `private/ID.EXT` removed, if there is one   | the answer stays without it; the control file is     |
/// |                                             | still there, and the removal is repeated             |
/// | `outbox/ID` renamed to `active/.expired-ID` | the next start removes it; the control file has no   |
/// |                                             | batch any more                                       |
/// | both folders synced                         | the same                                             |
/// | the control file removed                    | the next start removes `active/.expired-ID`          |
/// | the files removed, then the folder          | the same, as with those that `Retention` has removed |
///
/// Nothing is written, so a full disk does not prevent it.
package enum Removal {
    package enum Outcome: Sendable, Equatable {
        /// The answer is in `active` under this name, and its files may be removed.
        case removed(FileName)
        case isInWork
        case refused(owner: UInt32?)
        case unusable(String)
    }

    package static func remove(
        _ id: String, _ request: ControlRequest, in spool: Spool, durably: Bool
    ) throws(FileError) -> Outcome {
        let batch: FinishedBatch
        switch try FinishedBatch.read(FileName(id), in: spool.outbox) {
        case .finished(let finished): batch = finished
        case .unfinished: return .isInWork
        case .none: return .unusable("there is no such batch")
        case .foreign(let reason): return .unusable(reason)
        }
        guard spool.permits(request.record, forBatchOf: batch.owner) else {
            return .refused(owner: batch.owner)
        }
        // A file that has taken effect before and could not be removed must not remove the next answer with this ID.
        guard request.changed >= batch.written else {
            return .unusable("the batch ended after the file was put there")
        }
        guard let expired = try batch.takeOut(of: spool) else { return .isInWork }
        if durably {
            try spool.active.sync()
            try spool.outbox.sync()
        }
        FaultPoint.removeSynced.pass()
        return .removed(expired)
    }
}
