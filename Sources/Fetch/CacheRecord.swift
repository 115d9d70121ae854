import DarkroomCore

/// What the cache knows of an answer that it holds, as far as it decides whether that may be used again
/// (RFC 9111). Times are in seconds since 1970, ages and lifetimes in seconds.
package struct CacheRecord: Sendable, Equatable, Codable {
    /// The URL asked for, as it may be shown.
    package var url: ByteString
    /// What makes a request conditional.
    package var validators: Validators
    /// When the answer was received, or last confirmed.
    package var received: Int
    /// How old it was by then.
    package var age: Int
    package var freshness: Freshness
    /// Names the URL that answered, where redirects have led to it (`TransferReport.target`). Such an answer is
    /// never fresh, for nothing says how long the redirects hold; and it is confirmed only by the same URL, for
    /// another one's validators may be the same by chance.
    package var target: String?
    /// What the request called itself, where the answer depends on such fields (`Vary`).
    package var variant: String?

    /// What an answer says of how long it may be used without asking again.
    package struct Freshness: Sendable, Equatable, Codable {
        /// `s-maxage`, or `max-age` where there is none.
        package var lifetime: Int?
        /// `Expires` and `Date`, as seconds since 1970.
        package var expires: Int?
        package var date: Int?
        /// `no-cache`: it is asked again each time.
        package var requiresRevalidation = false

        /// As entries of former versions have them.
        private enum CodingKeys: String, CodingKey {
            case lifetime, expires, date
            case requiresRevalidation = "isAskedAgain"
        }

        package init(
            lifetime: Int? = nil, expires: Int? = nil, date: Int? = nil,
            requiresRevalidation: Bool = false
        ) {
            self.lifetime = lifetime
            self.expires = expires
            self.date = date
            self.requiresRevalidation = requiresRevalidation
        }
    }

    /// Whether its numbers and texts may be reckoned with and sent: a checksum is no proof of who wrote it.
    var isPlausible: Bool {
        let times = [received, freshness.expires ?? 0, freshness.date ?? 0]
        let texts = [validators.entityTag, validators.lastModified].compactMap(\.self)
        return age >= 0 && times.allSatisfy { (-1 << 48...1 << 48).contains($0) }
            && texts.allSatisfy { text in text.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F } }
    }

    /// For how long it is fresh, from its making by the origin on; nil where it does not say. Nothing is guessed
    /// (RFC 9111, section 4.2.2): an answer that does not say is asked for again each time.
    var lifetime: Int? {
        target == nil ? freshness.lifetime(since: received) : nil
    }

    /// Whether it may be used without asking (RFC 9111, section 4.2). Where the clock has gone back behind its
    /// receipt nothing is known of its age, and it is asked for again.
    package func isFresh(now: Int) -> Bool {
        guard let lifetime, now >= received else { return false }
        return lifetime > age.saturatingAdd(now.saturatingSubtract(received))
    }

    /// The age of an answer when it was received (RFC 9111, section 4.2.3).
    ///
    /// - Parameters:
    ///   - date: the answer's `Date`.
    ///   - age: its `Age`.
    ///   - delay: from the request to the receipt, in seconds.
    static func initialAge(date: Int?, age: Int?, received: Int, delay: Int) -> Int {
        let apparent = max(0, date.map { received.saturatingSubtract($0) } ?? 0)
        return max(apparent, max(0, age ?? 0).saturatingAdd(max(0, delay)))
    }
}
