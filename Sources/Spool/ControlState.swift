/// What control files have made of an unfinished batch.
package enum ControlState: Sendable, Equatable, CaseIterable {
    /// Its images begin when their turn comes.
    case free
    /// No image begins until the batch is released.
    case held
    /// Its images end. No command changes that.
    case cancelled

    /// As the end of a sentence about the batch.
    package var words: String {
        switch self {
        case .free: "is not held"
        case .held: "is held"
        case .cancelled: "is being cancelled"
        }
    }

    /// Follows a command that the batch's journal lists.
    mutating func follow(_ command: ControlCommand) {
        switch command.form.effect {
        case .sets(let next): if self != .cancelled { self = next }
        case .reopens: break
        }
    }
}
