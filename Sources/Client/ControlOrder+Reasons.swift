import DarkroomAnswer
import DarkroomCore
import DarkroomSpool
import Glibc

/// What a removal has done, and why commands to finished batches have no effect.
extension ControlOrder {
    static let silent = "is unchanged; darkroom logs with its ID tells why"

    /// An answer is removed in one step, before its control file.
    func removal(_ view: BatchView) throws(ClientError) -> Outcome? {
        guard try isStillThere(view), let batch = try view.read() else {
            return .done(id: view.id)
        }
        guard gone != nil else { return nil }
        return .noEffect(id: view.id, try reasonAgainstRemoval(view.id, batch))
    }

    /// Whether the answer has not been removed, or replaced by another one.
    private func isStillThere(_ view: BatchView) throws(ClientError) -> Bool {
        guard let folder = try view.folder(), let answer else { return false }
        do {
            let (now, before) = (try folder.information(), try answer.information())
            return now.st_ino == before.st_ino && now.st_dev == before.st_dev
        } catch {
            throw ClientError(error)
        }
    }

    private func reasonAgainstRemoval(
        _ id: String, _ batch: BatchView.Batch
    ) throws(ClientError) -> String {
        guard batch.state.isFinal else {
            return "is still in work: end it first with darkroom cancel \(id.shellQuoted)"
        }
        let outbox = try spool.outbox()
        do throws(FileError) {
            guard
                case .foreign(let reason) = try FinishedBatch.read(
                    FileName(id), in: outbox)
            else { return Self.silent }
            return "stays: \(reason)"
        } catch {
            throw ClientError(error)
        }
    }

    static func reasonAgainstRetry(_ batch: BatchView.Batch) -> String {
        switch batch.state {
        case .pending, .processing, .held: "is still in work"
        case .rejected: "was rejected; correct its manifest and submit it again"
        case .completed: "has nothing to repeat: all images are filtered"
        case .completedWithErrors, .cancelled:
            "has nothing to repeat; darkroom logs with its ID tells why"
        }
    }
}
