/// That a finished batch is in work again; the first record of its new journal.
package struct ReopenedRecord: Codable, Sendable, Equatable {
    /// When the batch had finished, according to its last status.
    package var of: String
    /// How often the batch was reopened, including this time.
    package var retries: Int
    /// The commands that were given to it, including this one.
    package var commands: [ControlRecord]

    package init(of: String, retries: Int, commands: [ControlRecord]) {
        self.of = of
        self.retries = retries
        self.commands = commands
    }

    /// Whether this is the status of the batch before it was reopened, so that the new answer is not complete yet. It
    /// does not compare the time alone, because clocks may be set back.
    package func isOf(_ status: Status) -> Bool {
        status.times.finished == of && (status.retries ?? 0) == retries &- 1
    }
}
