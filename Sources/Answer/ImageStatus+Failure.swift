import DarkroomCore

extension ImageStatus {
    /// Turns a filtered image into a failed one, because its output could not be published.
    package mutating func fail(_ error: some CodedError) {
        guard state == .filtered else { return }
        // A failure of the machine has already been reported to the code that waits for it.
        loseResult(
            Failure(code: error.code, message: error.message, isTransient: error.isTransient))
    }

    /// The image fails, whatever it has had.
    package mutating func loseResult(_ failure: Failure) {
        state = .failed
        output = nil
        made = nil
        deliveredTo = nil
        sourceSHA256 = nil
        sourceIdentity = nil
        inputsSHA256 = nil
        error = failure
    }
}
