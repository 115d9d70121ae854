/// How many files are reported one by one. If someone moves a folder with 65,536 files into the inbox by mistake, the
/// journal gets a hundred records and a sum instead of one record for each file.
struct NoticeLimit {
    /// In one interval.
    static let limit = 100
    /// In nanoseconds.
    static let interval: UInt64 = 60_000_000_000

    private var begin: UInt64?
    private var told = 0
    /// How many files were not reported since the last sum.
    private(set) var withheld = 0

    /// Whether one more file is reported at `now`, in nanoseconds. If not, it is counted.
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

    /// Returns how many were withheld, and resets this number.
    mutating func takeWithheld() -> Int { exchange(&withheld, with: 0) }
}
