import DarkroomCore

/// Which answers the cache keeps and what it notes of them: RFC 9111 for a cache that several users share.
///
/// | answer | kept | used without asking | used after 304 |
/// |---|---|---|---|
/// | `no-store`, `private`, `Vary: *`, with a content coding, other than 200 | no | | |
/// | asked for with credentials, without `public`, `s-maxage` or `must-revalidate` | no | | |
/// | `s-maxage`, `max-age`, or `Expires` after `Date` | yes | while younger than that | yes |
/// | with `no-cache` or after a redirect | if it has a validator | never | yes |
/// | with a validator alone | yes | never | yes |
/// | with neither | for manifests that wait for it just then | never | no |
///
/// Where asking fails the download fails: nothing stale is used.
package struct CachePolicy: Sendable {
    /// Whether user and password or headers of the configuration went with the request.
    package var hasCredentials: Bool
    /// What the request called itself.
    var userAgent: String

    package init(hasCredentials: Bool, userAgent: String) {
        self.hasCredentials = hasCredentials
        self.userAgent = userAgent
    }

    package enum Keeping: Equatable { case never, forWaiters, always }

    /// - Parameters:
    ///   - isRedirected: whether another URL than the one asked for has answered.
    ///   - received: when the answer had come, in seconds since 1970.
    package func keeping(_ answer: ResponseHead, isRedirected: Bool, received: Int) -> Keeping {
        let control = answer.cacheControl
        // A 206 that reached the engine's report completes a body begun earlier (RFC 9111, section 3.4).
        guard [200, 206].contains(answer.status.code), answer.contentEncoding == nil,
            !forbids(control), answer.vary != ["*"]
        else { return .never }
        // RFC 9111, section 3.5.
        let isForAll = control.isPublic || control.sharedMaxAge != nil || control.mustRevalidate
        guard !hasCredentials || isForAll else { return .never }
        if Validators(answer) != nil { return .always }
        let lifetime = CacheRecord.Freshness(answer).lifetime(since: received)
        return !isRedirected && lifetime.map { $0 > 0 } == true ? .always : .forWaiters
    }

    private func forbids(_ control: CacheControl) -> Bool { control.noStore || control.isPrivate }

    /// What is noted of an answer that is kept.
    ///
    /// - Parameters:
    ///   - target: names the URL that answered, if redirects have led to it.
    ///   - received: when the answer had come, in seconds since 1970.
    ///   - delay: from the request to the receipt, in seconds.
    package func record(
        of answer: ResponseHead, url: RemoteURL, target: String?, received: Int, delay: Int
    ) -> CacheRecord {
        CacheRecord(
            url: ByteString(url.description), validators: Validators(answer) ?? Validators(),
            received: received,
            age: CacheRecord.initialAge(
                date: answer.date?.seconds, age: answer.age, received: received, delay: delay),
            freshness: CacheRecord.Freshness(answer), target: target,
            variant: dependsOnUs(answer) ? userAgent : nil)
    }

    /// Of the fields that an answer may depend on, these are the same in all our requests, but may change from one
    /// version of Darkroom to the next; others are the configuration's, and in the key, or never sent.
    private func dependsOnUs(_ answer: ResponseHead) -> Bool {
        answer.vary.contains { ["accept", "accept-encoding", "user-agent"].contains($0) }
    }

    /// Whether what was kept is what a request of now would be answered with.
    package func matches(_ record: CacheRecord) -> Bool {
        record.variant == nil || record.variant == userAgent
    }

    package enum Confirmation: Equatable {
        /// The answer may be used, and this is noted of it.
        case keeps(CacheRecord)
        /// It may be used now, and is not to be kept.
        case lets
        /// The confirmation means another answer: this one is no use.
        case contradicts
    }

    /// What a 304 says of the answer that is kept (RFC 9111, sections 3.2 and 4.3.4).
    package func confirmation(
        of record: CacheRecord, by answer: ResponseHead, target: String?, received: Int, delay: Int
    ) -> Confirmation {
        guard target == record.target else { return .contradicts }
        if let tag = answer.entityTag, !tag.isWeak,
            let known = record.validators.entityTag.flatMap({ EntityTag($0) }), !known.isWeak,
            known != tag
        {
            return .contradicts
        }
        if forbids(answer.cacheControl) || answer.vary == ["*"] { return .lets }
        var record = record
        record.received = received
        record.age = CacheRecord.initialAge(
            date: answer.date?.seconds, age: answer.age, received: received, delay: delay)
        record.freshness.update(answer)
        if let validators = Validators(answer) {
            record.validators.entityTag = validators.entityTag ?? record.validators.entityTag
            record.validators.lastModified =
                validators.lastModified ?? record.validators.lastModified
        }
        return .keeps(record)
    }
}

extension CacheRecord.Freshness {
    init(_ answer: ResponseHead) {
        let control = answer.cacheControl
        self.init(
            lifetime: control.sharedMaxAge ?? control.maxAge, expires: answer.expires?.seconds,
            date: answer.date?.seconds, requiresRevalidation: control.noCache)
    }

    /// Takes over the fields that a confirmation has; each replaces the one of before.
    mutating func update(_ answer: ResponseHead) {
        let new = CacheRecord.Freshness(answer)
        if answer.cacheControl != CacheControl() {
            lifetime = new.lifetime
            requiresRevalidation = new.requiresRevalidation
        }
        expires = new.expires ?? expires
        date = new.date ?? date
    }

    /// Seconds; nil where nothing is said of it.
    ///
    /// - Parameter received: stands in for a missing `Date`.
    func lifetime(since received: Int) -> Int? {
        if requiresRevalidation { return nil }
        if let lifetime { return lifetime }
        return expires.map { $0.saturatingSubtract(date ?? received) }
    }
}

extension HTTPDate {
    fileprivate var seconds: Int { Int(secondsSince1970) }
}
