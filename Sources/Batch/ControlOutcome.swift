import DarkroomSpool

/// What became of a command that was given to a batch.
package enum ControlOutcome: Sendable, Equatable {
    /// It takes effect.
    case acts
    /// The batch has the state that the command sets.
    case already(ControlState)
    /// This very control file has acted before, and could not be removed.
    case hasActed
    /// Who asks is neither the manifest's owner nor the spool's.
    case refused(owner: UInt32?)
    /// The batch is being cancelled, which is for good.
    case isCancelled
    /// The batch has ended but for its last status.
    case isEnding
    /// The command is for finished batches only.
    case isInWork
    /// There is no such batch here.
    case unknown
}
