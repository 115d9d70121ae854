import DarkroomAnswer

/// The result of a command to a batch.
package enum ControlOutcome: Sendable, Equatable {
    /// It takes effect.
    case acts
    /// The batch already has the state that the command sets.
    case already(ControlState)
    /// The same control file has taken effect before and could not be removed.
    case hasActed
    /// The user is neither the manifest's owner nor the spool's.
    case refused(owner: UInt32?)
    /// The batch is being cancelled, which cannot be undone.
    case isCancelled
    /// The batch has ended, but its last status is not written yet.
    case isEnding
    /// The command is for finished batches only.
    case isInWork
    /// There is no such batch here.
    case unknown
}
