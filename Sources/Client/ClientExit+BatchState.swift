import DarkroomAnswer

extension ClientExit {
    /// The exit code for a batch in this state.
    package init(of state: BatchState) {
        self =
            switch state {
            case .pending, .processing, .held: .tryAgain
            case .completed: .success
            case .completedWithErrors: .completedWithErrors
            case .cancelled: .cancelled
            case .rejected: .rejected
            }
    }

    /// The exit code for several batches: that of the worst.
    package init(ofWorst states: some Sequence<BatchState>) {
        // The codes are in the order of severity.
        self = states.map { ClientExit(of: $0) }.max { $0.rawValue < $1.rawValue } ?? .success
    }
}
