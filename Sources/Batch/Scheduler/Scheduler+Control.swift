import DarkroomCore
import DarkroomSpool
import Dispatch
import Synchronization
import SystemPackage

/// The effects of commands on batches.
extension Scheduler {
    /// Whether a batch with one of these IDs is here and can be given a command.
    package func knows(_ ids: [String]) -> Bool {
        board.withLock { board in ids.contains { board.keys[FileName($0)] != nil } }
    }

    /// Gives a command to the batch with this ID.
    ///
    /// - Parameter recorded: called if it takes effect, when a restart would remember it.
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

    /// Writes a command that has taken effect to the journal, and retries this if the disk refuses it.
    func record(
        _ command: ControlRecord, of folders: BatchFolders,
        _ recorded: @escaping @Sendable (ControlRecord) -> Void
    ) {
        publisher.record(.commanded(command), of: folders) { [self] failure in
            // If the folder does not exist, the batch has ended and the command need not be remembered.
            if failure == nil || failure?.errno == .noSuchFileOrDirectory {
                return recorded(command)
            }
            time.call(in: 5, on: preparation) { [self] in
                record(command, of: folders, recorded)
            }
        }
    }

    /// Writes the commands that a waiting batch was given into its status. Only the journal must have them. If the disk
    /// refuses the status, it is retried.
    ///
    /// - Parameter continued: a status to be written instead of the one in the file.
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
                // A batch that has got another command, or has continued, writes its own status.
                guard board.withLock({ $0.commands(of: folders.id) }) == commands else { return }
                amendStatus(folders, control, commands, continued)
            }
        } catch {
            log.storageFailed(error, batch: folders.id)
        }
    }

    /// Resumes the finished batch with this ID, for its images that failed or were cancelled.
    ///
    /// - Parameter answered: called when the result survives a restart, or if the request was refused.
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
                    // This comes first, because its images may begin at once, which is reported too.
                    log.reopened(prepared.status, uid: request.uid)
                    accept(prepared)
                }
                answered(outcome)
            } catch  where error.errno == .canceled {
                // The daemon stops. The control file stays, and takes effect after the next start.
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
