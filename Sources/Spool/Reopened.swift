/// The journal's word that a finished batch was taken up again.
package struct Reopened: Codable, Sendable, Equatable {
    /// When it had finished, as its last status says.
    package var of: String
    /// How often it has been taken up with this.
    package var retries: Int
    /// The commands that were given to it, this one included.
    package var commands: [ControlRecord]

    private enum CodingKeys: String, CodingKey {
        case of, retries
        case commands = "steering"
    }

    /// Whether this status is the one that was reopened, and the answer to what followed is still to come.
    /// Not by the time alone, for clocks are set back.
    package func isOf(_ status: Status) -> Bool {
        status.times.finished == of && (status.retries ?? 0) == retries &- 1
    }
}
