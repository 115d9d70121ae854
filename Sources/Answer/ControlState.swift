/// The state of an unfinished batch that control files have set.
package enum ControlState: Sendable, Equatable, CaseIterable {
    /// Its images begin when it is their turn.
    case free
    /// No image begins until the batch is released.
    case held
    /// Its images end. No command changes this state.
    case cancelled

    /// As the end of a sentence about the batch.
    package var words: String {
        switch self {
        case .free: "is not held"
        case .held: "is held"
        case .cancelled: "is being cancelled"
        }
    }

    /// Applies a command from the journal of the batch.
    package mutating func follow(_ command: ControlCommand) {
        switch command.form.effect {
        case .sets(let next): if self != .cancelled { self = next }
        case .reopens, .removes: break
        }
    }
}
