import DarkroomCore

/// Decides which responses the cache keeps, according to RFC 9111 for a cache that several users share.
///
/// | response | kept | used without a request | used after 304 |
/// |---|---|---|---|
/// | `no-store`, `private`, `Vary: *`, with a content coding, status other than 200 | no | | |
/// | requested with a cookie of this transfer, with `Vary: Cookie` | no | | |
/// | requested with credentials, or with such a cookie, without `public`, `s-maxage` or `must-revalidate` | no | | |
/// | `s-maxage`, `max-age`, or `Expires` after `Date` | yes | while younger than that | yes |
/// | with `no-cache` or after a redirect | if it has a validator | never | yes |
/// | with a validator only | yes | never | yes |
/// | with neither | for manifests that wait for it at this moment | never | no |
///
/// If the request to the server fails, the download fails: a stale response is never used.
package struct CachePolicy: Sendable {
    /// Whether the request had a user and password, or configured headers.
    package var hasCredentials: Bool
    /// Whether a request of the transfer had a cookie that a redirect had set. The next transfer begins without it.
    package var sentCookies = false
    var userAgent: String

    package init(hasCredentials: Bool, userAgent: String) {
        self.hasCredentials = hasCredentials
        self.userAgent = userAgent
    }

    package enum Keeping: Equatable { case never, forWaiters, always }

    /// - Parameters:
    ///   - isRedirected: whether another URL than the requested one answered.
    ///   - received: when the response had arrived, in seconds since 1970.
    package func keeping(_ answer: ResponseHead, isRedirected: Bool, received: Int) -> Keeping {
        let control = answer.cacheControl
        // A 206 in the engine's report has completed a body of an earlier attempt (RFC 9111, section 3.4).
        guard [200, 206].contains(answer.status.code), answer.contentEncoding == nil,
            !forbids(control), answer.vary != ["*"]
        else { return .never }
        // RFC 9111, section 3.5.
        let isForAll = control.isPublic || control.sharedMaxAge != nil || control.mustRevalidate
        guard !(hasCredentials || sentCookies) || isForAll else { return .never }
        if sentCookies, answer.vary.contains("cookie") { return .never }
        if Validators(answer) != nil { return .always }
        let lifetime = CacheRecord.Freshness(answer).lifetime(since: received)
        return !isRedirected && lifetime.map { $0 > 0 } == true ? .always : .forWaiters
    }

    private func forbids(_ control: CacheControl) -> Bool { control.noStore || control.isPrivate }

    /// The record of a response that is kept.
    ///
    /// - Parameters:
    ///   - target: identifies the URL that answered, if there were redirects.
    ///   - received: when the response had arrived, in seconds since 1970.
    ///   - delay: the time from the request to the arrival, in seconds.
    package func record(
        of answer: ResponseHead, url: RemoteURL, target: String?, received: Int, delay: Int
    ) -> CacheRecord {
        CacheRecord(
            url: ByteString(url.description), validators: Validators(answer) ?? Validators(),
            received: received,
            age: CacheRecord.initialAge(
                date: answer.date?.secondsSince1970, age: answer.age, received: received,
                delay: delay),
            freshness: CacheRecord.Freshness(answer), target: target,
            variant: dependsOnUs(answer) ? userAgent : nil)
    }

    /// These request fields are the same in all requests of this version, but may change in the next version of
    /// Darkroom. Other fields are configured, and so part of the key, or never sent.
    private func dependsOnUs(_ answer: ResponseHead) -> Bool {
        answer.vary.contains { ["accept", "accept-encoding", "user-agent"].contains($0) }
    }

    /// Whether a request at this moment would get the same variant of the response.
    package func matches(_ record: CacheRecord) -> Bool {
        record.variant == nil || record.variant == userAgent
    }

    package enum Confirmation: Equatable {
        /// The response may be used, and this is its new record.
        case keeps(CacheRecord)
        /// The response may be used now, but is not kept.
        case lets
        /// The confirmation refers to another response, so this one cannot be used.
        case contradicts
    }

    /// The meaning of a 304 for a kept response (RFC 9111, sections 3.2 and 4.3.4).
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
            date: answer.date?.secondsSince1970, age: answer.age, received: received, delay: delay)
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
            lifetime: control.sharedMaxAge ?? control.maxAge,
            expires: answer.expires?.secondsSince1970,
            date: answer.date?.secondsSince1970, requiresRevalidation: control.noCache)
    }

    /// Takes over the fields of a confirmation; each replaces the old value.
    mutating func update(_ answer: ResponseHead) {
        let new = CacheRecord.Freshness(answer)
        if answer.cacheControl != CacheControl() {
            lifetime = new.lifetime
            requiresRevalidation = new.requiresRevalidation
        }
        expires = new.expires ?? expires
        date = new.date ?? date
    }

    /// In seconds; nil if the response does not tell.
    ///
    /// - Parameter received: used if `Date` is missing.
    func lifetime(since received: Int) -> Int? {
        if requiresRevalidation { return nil }
        if let lifetime { return lifetime }
        return expires.map { $0.saturatingSubtract(date ?? received) }
    }
}
