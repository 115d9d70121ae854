import DarkroomAnswer
import DarkroomCore
import DarkroomSpool
import Glibc

/// What a removal has done, and why commands to finished batches have no effect.
extension ControlOrder {
    static let silent = "is unchanged; darkroom logs with its ID tells why"

    /// An answer is removed in one step, before its control file.
    func removal(_ view: BatchView) throws(ClientError) -> Outcome? {
        guard try isStillThere(view), let batch = try view.read() else { return .done(id: view.id) }
        guard gone != nil else { return nil }
        return .noEffect(id: view.id, try reasonAgainstRemoval(view.id, batch))
    }

    /// Whether the answer has not been removed, or replaced by another one.
    private func isStillThere(_ view: BatchView) throws(ClientError) -> Bool {
        guard let folder = try view.folder(), let answer else { return false }
        let now = try asClientError(folder.information())
        let before = try asClientError(answer.information())
        return now.st_ino == before.st_ino && now.st_dev == before.st_dev
    }

    private func reasonAgainstRemoval(
        _ id: String, _ batch: BatchView.Batch
    ) throws(ClientError) -> String {
        guard batch.state.isFinal else {
            return "is still in work: end it first with darkroom cancel \(id.shellQuoted)"
        }
        let outbox = try spool.outbox()
        guard
            case .foreign(let reason) = try asClientError(
                FinishedBatch.read(FileName(id), in: outbox))
        else { return Self.silent }
        return "stays: \(reason)"
    }

    /// - Parameter isExactGone: whether a retry lacks the exact manifest; nil if the user may not look.
    static func reasonAgainstRetry(_ batch: BatchView.Batch, isExactGone: Bool?) -> String {
        switch (batch.state, isExactGone) {
        case (.pending, _), (.processing, _), (.held, _): "is still in work"
        case (.rejected, _): "was rejected; correct its manifest and submit it again"
        case (_, true): "cannot be repeated: \(ExactManifests.goneReason)"
        case (.completed, _) where batch.lacksPictures:
            "has nothing that can be repeated: all images are filtered, and the pictures that came with it are gone"
        case (.completed, _): "has nothing to repeat: all images are filtered"
        case (_, _) where batch.lacksPictures:
            "has nothing that can be repeated: the pictures that came with it were removed when it ended; "
                + "submit them again (darkroom logs with its ID tells more)"
        case (.completedWithErrors, nil), (.cancelled, nil):
            "was not repeated. If the exact manifest is gone from the spool, submit it again: the copy in the answer "
                + "has *** for parts of URLs. darkroom logs with its ID tells why"
        case (.completedWithErrors, _), (.cancelled, _):
            "has nothing to repeat; darkroom logs with its ID tells why"
        }
    }
}
