import DarkroomCore

/// What stands before the body of a file of a cache, as JSON.
package protocol CachedRecord: Codable, Sendable, Equatable {
    /// What the cache is for, in the journal.
    static var contents: CacheContents { get }
    /// Whether its numbers and texts can be used: a checksum does not prove who wrote it.
    var isPlausible: Bool { get }
}

/// What a cache keeps.
package enum CacheContents: Sendable {
    /// Downloaded sources.
    case responses
    /// Outputs, see `ResultStore`.
    case results
}

/// What the cache knows of a kept response, as far as it decides whether the response may be used again (RFC 9111).
/// Times are in seconds since 1970, ages and lifetimes in seconds.
package struct CacheRecord: CachedRecord {
    package static var contents: CacheContents { .responses }

    /// The requested URL, in the form in which it may be shown.
    package var url: ByteString
    package var validators: Validators
    /// When the response arrived or was last confirmed.
    package var received: Int
    /// The age of the response at that time.
    package var age: Int
    package var freshness: Freshness
    /// Identifies the URL that answered after redirects (`TransferReport.target`). Such a response is never fresh,
    /// because nothing tells how long the redirects are valid. Only the same URL can confirm it, because the validators
    /// of another URL may be equal by chance.
    package var target: String?
    /// The User-Agent of the request, if the response depends on such fields (`Vary`).
    package var variant: String?

    /// How long a response may be used without a request.
    package struct Freshness: Sendable, Equatable, Codable {
        /// `s-maxage`, or otherwise `max-age`.
        package var lifetime: Int?
        /// `Expires` and `Date`, as seconds since 1970.
        package var expires: Int?
        package var date: Int?
        /// `no-cache`: each use needs a request.
        package var requiresRevalidation = false

        /// The names in existing files.
        private enum CodingKeys: String, CodingKey {
            case lifetime, expires, date
            case requiresRevalidation = "isAskedAgain"
        }
    }

    package var isPlausible: Bool {
        let times = [received, freshness.expires ?? 0, freshness.date ?? 0]
        let texts = [validators.entityTag, validators.lastModified].compactMap(\.self)
        return age >= 0 && times.allSatisfy { (-1 << 48...1 << 48).contains($0) }
            && texts.allSatisfy { text in text.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F } }
    }

    /// How long the response is fresh, from its creation by the origin; nil if it does not tell. Nothing is guessed
    /// (RFC 9111, section 4.2.2): such a response is requested each time.
    var lifetime: Int? { target == nil ? freshness.lifetime(since: received) : nil }

    /// Whether the response may be used without a request (RFC 9111, section 4.2). If the clock is before the time of
    /// its arrival, its age is unknown, and it needs a request.
    package func isFresh(now: Int) -> Bool {
        guard let lifetime, now >= received else { return false }
        return lifetime > age.saturatingAdd(now.saturatingSubtract(received))
    }

    /// The age of a response when it arrived (RFC 9111, section 4.2.3).
    ///
    /// - Parameters:
    ///   - date: the `Date` of the response.
    ///   - age: the `Age` of the response.
    ///   - delay: the time from the request to the arrival, in seconds.
    static func initialAge(date: Int?, age: Int?, received: Int, delay: Int) -> Int {
        let apparent = max(0, date.map { received.saturatingSubtract($0) } ?? 0)
        return max(apparent, max(0, age ?? 0).saturatingAdd(max(0, delay)))
    }
}
