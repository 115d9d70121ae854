import DarkroomAnswer
import DarkroomCore
import DarkroomSpool
import DarkroomWork
import Dispatch

/// How many finished batches are being resumed, and how many are being removed, for each user who requested it.
struct FinishedCommands {
    var reopening: [UInt32: Int] = [:]
    var removing: [UInt32: Int] = [:]
}

extension Intake {
    /// How many finished batches are resumed at once, and how many are removed at once, for one user. Further ones wait.
    private static let atOnce = 256

    func reopen(_ request: ControlRequest, _ id: String) {
        let uid = request.record.uid
        let coming = inHand.reopening.values.reduce(0, +)
        guard scheduler.crowd(of: uid, coming: coming) == nil else { return wait(request, .room) }
        guard inHand.reopening[uid] ?? 0 < Self.atOnce else { return wait(request, .others) }
        inHand.reopening[uid, default: 0] += 1
        scheduler.reopen(id, request.record) { [weak self] outcome in
            guard let self else { return }
            queue.async { self.answer(request, outcome) }
        }
    }

    private func answer(_ request: ControlRequest, _ outcome: Reopening.Outcome) {
        inHand.reopening.countDown(request.record.uid)
        switch outcome {
        case .reopened: consume(request)
        case .nothingToDo: dismiss(request, "all images are filtered and their outputs exist")
        case .picturesGone:
            dismiss(
                request,
                "nothing of the batch can be repeated: the pictures that came with it were removed when it ended"
            )
        case .isInWork: dismiss(request, "the batch is still in work")
        case .isRejected: dismiss(request, "the manifest was rejected")
        case .unusable(let reason): dismiss(request, reason)
        case .refused(let owner): turnAway(request, owner: owner)
        }
    }

    func remove(_ request: ControlRequest, _ id: String) {
        let uid = request.record.uid
        guard inHand.removing[uid] ?? 0 < Self.atOnce else { return wait(request, .others) }
        inHand.removing[uid, default: 0] += 1
        scheduler.remove(id, request) { [weak self] outcome in
            guard let self else { return }
            queue.async { self.answer(request, outcome) }
        }
    }

    private func answer(_ request: ControlRequest, _ outcome: Removal.Outcome) {
        inHand.removing.countDown(request.record.uid)
        switch outcome {
        case .removed(let expired):
            consume(request)
            onRemoval(expired)
        case .isInWork: dismiss(request, "the batch is still in work")
        case .unusable(let reason): dismiss(request, reason)
        case .refused(let owner): turnAway(request, owner: owner)
        }
    }
}
