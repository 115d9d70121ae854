import DarkroomCore
import DarkroomSpool
import Dispatch
import Synchronization
import SystemPackage

/// What commands do to batches.
extension Scheduler {
    /// Takes in a batch that has its receipt, with the commands that came before it: what they do is done before
    /// any of its images begins. Gives what became of each.
    ///
    /// - Parameter recorded: called with a command that takes effect, when a restart would remember it.
    @discardableResult
    package func accept(
        _ prepared: PreparedBatch, _ commands: [ControlRecord] = [],
        recorded: @escaping @Sendable (ControlRecord) -> Void = { _ in }
    ) -> [ControlOutcome] {
        var outcomes: [ControlOutcome] = []
        advance(recorded: recorded) { board in
            var effects = board.accept(prepared)
            for command in commands {
                outcomes.append(
                    board.obey(
                        prepared.folders.id, command,
                        isPrivileged: spool.isPrivileged(command.uid), &effects))
            }
            return effects
        }
        return outcomes
    }

    /// Whether a batch of one of these IDs is here to be given a command.
    package func knows(_ ids: [String]) -> Bool {
        board.withLock { board in ids.contains { board.keys[FileName($0)] != nil } }
    }

    /// Gives a command to the batch of this ID.
    ///
    /// - Parameter recorded: called where it takes effect, when a restart would remember it.
    package func obey(
        _ id: String, _ command: ControlRecord,
        recorded: @escaping @Sendable (ControlRecord) -> Void
    ) -> ControlOutcome {
        var outcome = ControlOutcome.unknown
        advance(recorded: recorded) { board in
            var effects: [Effect] = []
            outcome = board.obey(
                id, command, isPrivileged: spool.isPrivileged(command.uid), &effects)
            return effects
        }
        return outcome
    }

    /// Journals a command that has taken effect, again and again if the disk does not take it.
    func record(
        _ command: ControlRecord, of folders: BatchFolders,
        _ recorded: @escaping @Sendable (ControlRecord) -> Void
    ) {
        publisher.record(.commanded(command), of: folders) { [self] failure in
            // Without its folder the batch has ended, and nothing is left to be remembered.
            if failure == nil || failure?.errno == .noSuchFileOrDirectory {
                return recorded(command)
            }
            time.call(in: 5, on: preparation) { [self] in
                record(command, of: folders, recorded)
            }
        }
    }

    /// Shows in the status of a batch that waits the commands that it was given. The journal is what counts; where the disk
    /// does not take it, it is retried.
    ///
    /// - Parameter continued: what is to be written instead of what is in the file.
    func amendStatus(
        _ folders: BatchFolders, _ control: ControlState, _ commands: [ControlRecord],
        _ continued: Status?
    ) {
        let change = { (status: inout Status) -> Bool in
            guard !status.state.isFinal else { return false }
            status.commands = commands
            status.waiting = nil
            status.state = control == .held ? .held : .pending
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
            time.call(in: 5, on: preparation) { [self] in
                // Whoever is given another command or goes on meanwhile writes a status of its own.
                guard board.withLock({ $0.commands(of: folders.id) }) == commands else { return }
                amendStatus(folders, control, commands, continued)
            }
        } catch {
            log.storageFailed(error, batch: folders.id)
        }
    }

    /// Takes up again the finished batch of this ID, for its images that failed or were cancelled.
    ///
    /// - Parameter answered: called when that is certain over a restart, or has been refused.
    package func reopen(
        _ id: String, _ request: ControlRecord,
        answered: @escaping @Sendable (Reopening.Outcome) -> Void
    ) {
        preparation.async { [self] in
            let settings = settings
            let reopening = Reopening(
                spool: spool, examination: settings.examination.asking(stopped),
                durably: settings.isDurable)
            do throws(FileError) {
                let outcome = try reopening.reopen(id, request)
                if case .reopened(let prepared) = outcome {
                    // First, for its images may begin at once, which is told too.
                    log.reopened(prepared.status, uid: request.uid)
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
                time.call(in: 5, on: preparation) { [self] in
                    reopen(id, request, answered: answered)
                }
            }
        }
    }
}
