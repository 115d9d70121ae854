import DarkroomAnswer
import DarkroomBoard
import DarkroomSpool

/// Commands that have come before their batch, as control files do.
package protocol WaitingCommands: AnyObject, Sendable {
    /// Takes the commands for a batch that is now taken into work, the oldest first. They do not wait any more.
    func takeCommands(for batch: PreparedBatch) -> [ControlRequest]
    /// A command has been obeyed, or not.
    func settle(_ request: ControlRequest, _ outcome: ControlOutcome)
    /// A restart remembers the command. Called on any thread.
    func recorded(_ request: ControlRequest)
}
