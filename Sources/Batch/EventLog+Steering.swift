import DarkroomCore
import DarkroomSpool

/// What control files do to batches.
extension EventLog {
    package func steered(id: String, _ steering: Steering) {
        let event: Event
        let words: String
        switch steering.action {
        case .cancel: (event, words) = (.batchCancelled, "is being cancelled")
        case .hold: (event, words) = (.batchHeld, "is held: no further image begins")
        case .release: (event, words) = (.batchReleased, "is released")
        case .retry: (event, words) = (.batchReopened, "is taken up again")
        }
        say(
            event, "\(id) \(words) (by user \(steering.uid))",
            [.batch: id, .user: "\(steering.uid)"])
    }

    package func reopened(_ status: Status, uid: UInt32) {
        say(
            .batchReopened,
            "\(status.id) is taken up again: \(status.counts.new) of "
                + "\(Words.count(status.counts.total, "image")) to be done (by user \(uid))",
            [
                .batch: status.id, .state: status.state.rawValue, .user: "\(uid)",
                .count: "\(status.counts.new)",
            ])
    }
}
