import DarkroomCore

extension ImageStatus {
    /// Makes a filtered image one whose output could not be published.
    package mutating func fail(_ error: FileError) {
        guard state == .filtered else { return }
        state = .failed
        output = nil
        // What it says of the machine has been told to those who wait for that.
        self.error = Failure(
            code: error.code, message: error.message, isTransient: error.isTransient)
    }
}
