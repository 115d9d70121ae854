/// When a server accepts the next request (RFC 9110, 10.2.3).
package enum RetryAfter: Sendable, Hashable {
    case seconds(Int)
    case date(HTTPDate)

    /// A number of seconds or a date; nil for anything else. Some servers send fractions of seconds, which are rounded up.
    package init?(_ bytes: some Collection<UInt8>) {
        guard bytes.count <= 80 else { return nil }
        let value = HTTPField.trimmed(Array(bytes)[...])
        let parts = value.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        if let seconds = HTTPField.seconds(value) {
            self = .seconds(seconds)
        } else if parts.count == 2, let whole = HTTPField.seconds(parts[0]),
            HTTPField.isDigits(parts[1])
        {
            let isWhole = parts[1].allSatisfy { $0 == UInt8(ascii: "0") }
            self = .seconds(min(whole + (isWhole ? 0 : 1), HTTPField.longestTime))
        } else if let date = HTTPDate(value) {
            self = .date(date)
        } else {
            return nil
        }
    }

    /// The seconds from `time` on, from 0 to 2³¹; 0 for a date in the past.
    package func delay(since time: HTTPDate) -> Double {
        switch self {
        case .seconds(let seconds): Double(seconds)
        case .date(let date):
            Double(
                min(max(0, date.secondsSince1970 - time.secondsSince1970), HTTPField.longestTime))
        }
    }
}
