import DarkroomCore
import DarkroomSpool
import Dispatch
import Synchronization
import SystemPackage

/// What control files do to batches.
extension Scheduler {
    /// Takes in a batch that has its receipt, with the controls that came before it: what they do is done before
    /// any of its images begins. Gives what became of each.
    ///
    /// - Parameter recorded: called with a control that acts, when a restart would remember it.
    @discardableResult
    package func accept(
        _ prepared: PreparedBatch, _ controls: [Steering] = [],
        recorded: @escaping @Sendable (Steering) -> Void = { _ in }
    ) -> [SteeringOutcome] {
        var outcomes: [SteeringOutcome] = []
        advance(recorded: recorded) { board in
            var effects = board.accept(prepared)
            for steering in controls {
                outcomes.append(
                    board.steer(
                        prepared.folders.id, steering,
                        isPrivileged: spool.isPrivileged(steering.uid), &effects))
            }
            return effects
        }
        return outcomes
    }

    /// Whether a batch of one of these IDs is here to be steered.
    package func knows(_ ids: [String]) -> Bool {
        board.withLock { board in ids.contains { board.keys[FileName($0)] != nil } }
    }

    /// Has a control act on the batch of this ID.
    ///
    /// - Parameter recorded: called where it acts, when a restart would remember it.
    package func steer(
        _ id: String, _ steering: Steering, recorded: @escaping @Sendable (Steering) -> Void
    ) -> SteeringOutcome {
        var outcome = SteeringOutcome.unknown
        advance(recorded: recorded) { board in
            var effects: [Effect] = []
            outcome = board.steer(
                id, steering, isPrivileged: spool.isPrivileged(steering.uid), &effects)
            return effects
        }
        return outcome
    }

    /// Journals what a control has done, again and again if the disk does not take it.
    func record(
        _ steering: Steering, of folders: BatchFolders,
        _ recorded: @escaping @Sendable (Steering) -> Void
    ) {
        publisher.record(.steered(steering), of: folders) { [self] failure in
            // Without its folder the batch has ended, and nothing is left to be remembered.
            if failure == nil || failure?.errno == .noSuchFileOrDirectory {
                return recorded(steering)
            }
            preparation.asyncAfter(deadline: .now() + 5) { [self] in
                record(steering, of: folders, recorded)
            }
        }
    }

    /// Shows in the status of a batch that waits what was done to it. The journal is what counts; where the disk
    /// does not take it, it is tried again.
    ///
    /// - Parameter continued: what is to be written instead of what is in the file.
    func amendStatus(
        _ folders: BatchFolders, _ isHeld: Bool, _ steering: [Steering], _ continued: Status?
    ) {
        let change = { (status: inout Status) -> Bool in
            guard !status.state.isFinal else { return false }
            status.steering = steering
            status.waiting = nil
            status.state = isHeld ? .held : .pending
            return true
        }
        do {
            if var status = continued {
                if change(&status) { try folders.writeStatus(status, durably: false) }
            } else {
                try folders.amendStatus(change)
            }
        } catch  where error.fault != nil {
            storage.writeRefused(error, batch: folders.id)
            preparation.asyncAfter(deadline: .now() + 5) { [self] in
                // Whoever is steered or goes on meanwhile writes a status of its own.
                guard board.withLock({ $0.steering(of: folders.id) }) == steering else { return }
                amendStatus(folders, isHeld, steering, continued)
            }
        } catch {
            log.storageFailed(error, batch: folders.id)
        }
    }

    /// Takes up again the finished batch of this ID, for its images that failed or were cancelled.
    ///
    /// - Parameter answered: called when that is certain over a restart, or has been refused.
    package func reopen(
        _ id: String, _ steering: Steering,
        answered: @escaping @Sendable (Reopening.Outcome) -> Void
    ) {
        preparation.async { [self] in
            let settings = settings
            let reopening = Reopening(
                spool: spool, examination: settings.examination.asking(stopped),
                durably: settings.isDurable)
            do throws(FileError) {
                let outcome = try reopening.reopen(id, steering)
                if case .reopened(let prepared) = outcome {
                    // First, for its images may begin at once, which is told too.
                    log.reopened(prepared.status, uid: steering.uid)
                    accept(prepared)
                }
                answered(outcome)
            } catch  where error.errno == .canceled {
                // The daemon stops. The control file stays, and acts after the next start.
            } catch {
                guard error.fault != nil else {
                    log.storageFailed(error, batch: id)
                    return answered(.unusable(error.message))
                }
                storage.writeRefused(error, batch: id)
                preparation.asyncAfter(deadline: .now() + 5) { [self] in
                    reopen(id, steering, answered: answered)
                }
            }
        }
    }
}
