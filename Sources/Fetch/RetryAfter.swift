/// When a server accepts the next request (RFC 9110, 10.2.3).
package enum RetryAfter: Sendable, Hashable {
    case seconds(Int)
    case date(HTTPDate)

    /// A number of seconds or a date; nil for anything else.
    package init?(_ bytes: some Collection<UInt8>) {
        guard bytes.count <= 80 else { return nil }
        let value = HTTPField.trimmed(Array(bytes)[...])
        if let seconds = HTTPField.seconds(value) {
            self = .seconds(seconds)
        } else if let date = HTTPDate(value) {
            self = .date(date)
        } else {
            return nil
        }
    }

    /// The seconds from `now`, which is in seconds since 1970; 0 for a date in the past.
    package func delay(now: Double) -> Double {
        switch self {
        case .seconds(let seconds): Double(seconds)
        case .date(let date): max(0, Double(date.secondsSince1970) - now)
        }
    }

    package func delay(now: HTTPDate = .now) -> Double { delay(now: Double(now.secondsSince1970)) }
}
