import DarkroomAnswer
import DarkroomCore

/// What `NotificationSender` tells its user.
package enum NotificationEvent: Sendable, Equatable {
    /// The first start: so many batches had ended before, and nobody is told of them.
    case begun(passed: Int)
    case called(BatchEnd)
    /// A call failed, and another one follows.
    case failed(BatchEnd, reason: String, tries: Int, pause: Double)
    /// As many calls as allowed have failed.
    case passedOver(BatchEnd, reason: String, tries: Int)
    /// The answer was removed before a call succeeded.
    case removed(id: String, BatchEnd.Key)
    /// The answer of an unfinished batch was removed. The daemon makes it again if the batch is still in work.
    case removedUnseen(id: String)
    /// A retry began before a call succeeded.
    case replaced(id: String, BatchEnd.Key)
    case unreadable(id: String, String)
    /// The cursor cannot be written, so no further call begins.
    case cursorRefused(String)
    case cursorAccepted
    /// The command was told to stop, while this call runs.
    case waitingForCall(BatchEnd, seconds: Double)
    /// It was ended, because its time was over. It is repeated at the next start.
    case interrupted(BatchEnd)
}

extension NotificationEvent {
    /// The sentences for standard error; nil for a call that has succeeded, which is a result.
    ///
    /// - Parameter limit: the calls for one end; 0 for no limit.
    package func sentence(limit: Int) -> String? {
        switch self {
        case .begun(let passed):
            guard passed > 0 else { return nil }
            return
                "the first start with this cursor: \(Words.count(passed, "batch", "batches")) that had ended before "
                + "will not be notified; --from-start notifies them too"
        case .called: return nil
        case .failed(let end, let reason, let tries, let pause):
            let number = limit > 0 ? "\(tries) of \(limit)" : "\(tries)"
            let time = Words.time(microseconds: UInt64(pause * 1e6))
            return "\(end.id.visible): try \(number) failed: \(reason); the next one is in \(time)"
        case .passedOver(let end, let reason, let tries):
            return
                "\(end.id.visible): passed over after \(Words.count(tries, "try", "tries")), nobody was told of its end "
                + "(\(end.progress.state.words)): \(reason)"
        case .removed(let id, let key):
            return
                "\(id.visible): its answer was removed before anybody was told of its end at \(key.finished)"
        case .removedUnseen(let id):
            return
                "\(id.visible): its answer was removed before its end was seen; its end is told only if darkroomd makes "
                + "the answer again"
        case .replaced(let id, let key):
            return
                "\(id.visible): it was repeated before anybody was told of its end at \(key.finished); "
                + "the end of the repetition follows"
        case .unreadable(let id, let reason):
            return "\(id.visible): its end cannot be seen: \(reason)"
        case .cursorRefused(let reason):
            return "\(reason); no further call begins until the cursor can be written"
        case .cursorAccepted: return "the cursor can be written again"
        case .waitingForCall(let end, let seconds):
            return
                "stopping: the call for \(end.id.visible) may run for \(Words.time(microseconds: UInt64(seconds * 1e6))) more"
        case .interrupted(let end):
            return "\(end.id.visible): the call was ended; the next start calls again"
        }
    }

    /// Whether somebody should look after it.
    package var isWarning: Bool {
        switch self {
        case .begun, .called, .cursorAccepted, .waitingForCall: false
        default: true
        }
    }
}
