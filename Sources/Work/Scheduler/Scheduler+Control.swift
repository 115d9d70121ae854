import DarkroomAnswer
import DarkroomBoard
import DarkroomCore
import DarkroomFetch
import DarkroomSpool
import Dispatch
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
            outcome = board.obey(id, command, isPrivileged: spool.isPrivileged(command.uid))
        }
        return outcome
    }

    /// Writes a command that has taken effect to the journal. The committer keeps it if the disk refuses it.
    func record(
        _ command: ControlRecord, of folders: BatchFolders,
        _ recorded: @escaping @Sendable (ControlRecord) -> Void
    ) {
        // If the folder does not exist, the batch has ended and the command need not be remembered.
        committer.record(.commanded(command), of: folders) { recorded(command) }
    }

    /// Writes the commands that a waiting batch was given into its status. Only the journal must have them. If the disk
    /// refuses the status, it is kept.
    ///
    /// - Parameter continued: a status to be written instead of the one in the file.
    func amendStatus(
        _ folders: BatchFolders, _ control: ControlState, _ commands: [ControlRecord],
        _ continued: Status?
    ) {
        guard case .refused = amend(folders, control, commands, continued) else { return }
        refusedWrites.keep(
            RefusedWrites.Write { [self] in
                // A batch that has got another command, or has continued, writes its own status.
                guard board.withLock({ $0.commands(of: folders.id) }) == commands else {
                    return .undecided
                }
                return amend(folders, control, commands, continued)
            })
    }

    private func amend(
        _ folders: BatchFolders, _ control: ControlState, _ commands: [ControlRecord],
        _ continued: Status?
    ) -> RefusedWrites.Result {
        var written: Status?
        let change = { (status: inout Status) -> Bool in
            guard !status.state.isFinal else { return false }
            status.commands = commands
            status.waiting = nil
            status.state = control == .held ? .held : .pending
            written = status
            return true
        }
        return attempt(folders.id) { () throws(FileError) in
            if var status = continued {
                if change(&status) { try folders.writeStatus(status, durably: false) }
            } else {
                try folders.amendStatus(change)
            }
            guard let written else { return .undecided }
            statusKeeper.progress.amended(folders, written)
            return .succeeded
        }
    }

    /// Carries out what a command wants.
    ///
    /// - Returns: `refused` if the disk has refused it; the caller repeats it.
    /// - Parameter unusable: called with the reason why it cannot be carried out.
    private func attempt(
        _ id: String, unusable: (String) -> Void = { _ in },
        _ body: () throws(FileError) -> RefusedWrites.Result
    ) -> RefusedWrites.Result {
        do throws(FileError) {
            return try body()
        } catch  where error.errno == .canceled {
            // The daemon stops while a manifest is read. The control file stays, and takes effect after the next start.
            return .undecided
        } catch  where error.storageFailure != nil {
            storage.writeRefused(error, batch: id)
            return .refused
        } catch {
            log.storageFailed(error, batch: id)
            unusable(error.message)
            return .undecided
        }
    }

    /// Resumes the finished batch with this ID, for its images that failed or were cancelled. If the disk refuses this,
    /// the request is kept.
    ///
    /// - Parameter answered: called when the result survives a restart, or if the request was refused.
    package func reopen(
        _ id: String, _ request: ControlRecord,
        answered: @escaping @Sendable (Reopening.Outcome) -> Void
    ) {
        attemptLater(id, unusable: { answered(.unusable($0)) }) { [self] () throws(FileError) in
            let settings = settings
            let sources = settings.localSources
            let reopening = Reopening(
                spool: spool, examination: settings.examination.asking(stopped),
                durably: settings.isDurable)
            let outcome = try reopening.reopen(id, request, without: { sources.isGone($0) })
            defer { answered(outcome) }
            guard case .reopened(let prepared) = outcome else { return .undecided }
            // This comes first, because its images may begin at once, which is reported too.
            log.reopened(prepared.status, uid: request.uid)
            accept(prepared)
            return .succeeded
        }
    }

    /// Removes the answer of the finished batch with this ID from the outbox. If the disk refuses this, the request is
    /// kept.
    ///
    /// - Parameter answered: called when the result survives a restart, or if the request was refused.
    package func remove(
        _ id: String, _ request: ControlRequest,
        answered: @escaping @Sendable (Removal.Outcome) -> Void
    ) {
        attemptLater(id, unusable: { answered(.unusable($0)) }) { [self] () throws(FileError) in
            let outcome = try Removal.remove(id, request, in: spool, durably: settings.isDurable)
            if case .removed = outcome { log.obeyed(id: id, request.record) }
            answered(outcome)
            return .undecided
        }
    }

    private func attemptLater(
        _ id: String, unusable: @escaping @Sendable (String) -> Void,
        _ body: @escaping @Sendable () throws(FileError) -> RefusedWrites.Result
    ) {
        preparation.async { [self] in
            refusedWrites.attempt { [self] in attempt(id, unusable: unusable, body) }
        }
    }
}
