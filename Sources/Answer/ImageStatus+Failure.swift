import DarkroomCore

extension ImageStatus {
    /// Turns a filtered image into a failed one, because its output could not be published.
    package mutating func fail(_ error: some CodedError) {
        guard state == .filtered else { return }
        state = .failed
        output = nil
        sourceSHA256 = nil
        // A fault of the machine has already been reported to the code that waits for it.
        self.error = Failure(
            code: error.code, message: error.message, isTransient: error.isTransient)
    }
}
