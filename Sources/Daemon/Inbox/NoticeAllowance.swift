/// How many files are told of one by one: of a folder that someone has moved into the inbox by mistake the journal
/// is to hold a hundred lines and a sum, not a line for each of 65,536 files.
struct NoticeAllowance {
    /// In one interval.
    static let limit = 100
    /// In nanoseconds.
    static let interval: UInt64 = 60_000_000_000

    private var begin: UInt64?
    private var told = 0
    /// Of how many not each was told, since they were told of together.
    private(set) var withheld = 0

    /// Whether one more is told of at `now`, in nanoseconds; else it is counted.
    mutating func take(at now: UInt64) -> Bool {
        if let begin, now < begin + Self.interval {
            guard told < Self.limit else {
                withheld += 1
                return false
            }
        } else {
            begin = now
            told = 0
        }
        told += 1
        return true
    }

    /// Gives how many were withheld, and forgets them.
    mutating func takeWithheld() -> Int {
        defer { withheld = 0 }
        return withheld
    }
}
