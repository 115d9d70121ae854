import DarkroomBoard
import DarkroomCore
import DarkroomFetch
import Glibc

/// The cache's part in a download: which download fetches for others (`RequestCoalescer`), which content need not be
/// fetched, and which content is kept.
///
/// | when                    | what                                                                           |
/// |-------------------------|--------------------------------------------------------------------------------|
/// | before the queues       | another download fetches the same: it waits outside of them (`Admission`)      |
/// | its turn has come       | the cached answer is fresh: it is copied, without a transfer (`takeFromCache`) |
/// |                         | the cached answer is not fresh: the request asks for a confirmation            |
/// | the transfer has ended  | 304: the cached answer is copied and updated (`takeConfirmed`)                 |
/// |                         | else: the answer is cached if this is allowed (`keepForOthers`)                |
/// | the board knows its end | waiting downloads continue (`Board.left`)                                      |
///
/// Without a cache none of this happens.
struct CacheUse: Sendable {
    let key: CacheKey
    let policy: CachePolicy
    var turn: RequestCoalescer.Turn
    /// The entry that the server is asked to confirm.
    var entry: CacheEntry<CacheRecord>?
}

extension Scheduler {
    // MARK: Keys

    /// The keys of sources in the cache with these settings. Downloads with the same key have the same content.
    func cacheKeys(_ settings: BatchSettings) -> @Sendable (SourceReference) -> CacheKey? {
        guard cache != nil else { return { _ in nil } }
        let rules = settings.fetchRules
        return { source in
            guard case .remote(let url) = source else { return nil }
            return CacheKey(url: url, headers: rules.headers(for: url))
        }
    }

    func cacheKey(of url: RemoteURL) -> CacheKey? {
        cache == nil ? nil : CacheKey(url: url, headers: settings.fetchRules.headers(for: url))
    }

    // MARK: At its turn

    /// The cache's part in a download that begins.
    func cacheUse(_ key: CacheKey?, _ turn: RequestCoalescer.Turn, _ url: RemoteURL) -> CacheUse? {
        key.map { key in
            let hasCredentials = url.hasUser || !settings.fetchRules.headers(for: url).isEmpty
            return CacheUse(
                key: key,
                policy: CachePolicy(
                    hasCredentials: hasCredentials, userAgent: Self.userAgent),
                turn: turn)
        }
    }

    private static let userAgent = TransferSettings.userAgent(version: Release.version)

    /// Copies a cached answer to the request's output, if it may be used without a confirmation. If it may be used
    /// after the server has confirmed it, the request is changed to ask for this.
    ///
    /// - Returns: the length of the copy, and what is known of the answer; nil if a transfer is necessary.
    /// - Throws: the error of a write to the output.
    func takeFromCache(
        _ use: inout CacheUse, _ request: inout TransferRequest
    ) throws(FileError) -> (bytes: Int, record: CacheRecord)? {
        guard let cache, let entry = usableEntry(use, request.url) else { return nil }
        let record = entry.record
        if use.turn == .copies || record.isFresh(now: Int(Glibc.time(nil))) {
            let output = request.output
            if try cache.copyBody(of: entry, to: output.descriptor, path: output.name) {
                try output.descriptor.truncate(to: entry.length, path: output.name)
                return (entry.length, record)
            }
            // The content of an earlier attempt has been overwritten.
            request.resume = nil
        } else if request.resume == nil, record.validators != Validators() {
            use.entry = entry
            request.validators = record.validators
            request.target = record.target
        }
        return nil
    }

    private func usableEntry(_ use: CacheUse, _ url: RemoteURL) -> CacheEntry<CacheRecord>? {
        let settings = settings
        // If the source must not be fetched any more, the cache must not be used either. The transfer reports the
        // reason.
        guard let host = Origin(url: url)?.host,
            settings.fetchRules.refusal(host: ByteString(host.description)) == nil,
            let entry = cache?.find(use.key), use.policy.matches(entry.record),
            entry.length <= settings.maximumSourceBytes
        else { return nil }
        return entry
    }

    /// A download should copy what another one has fetched, but did not find it. It fetches, or waits for another one.
    ///
    /// - Returns: false if it waits.
    func joinFlight(_ ticket: Admission.Ticket, _ use: inout CacheUse) -> Bool {
        guard use.turn == .copies else { return true }
        let key = use.key
        var turn = use.turn
        settle { board in
            let outcome: Admission.Outcome
            (turn, outcome) = board.admission.rejoin(ticket, key)
            board.follow(outcome)
        }
        use.turn = turn
        return turn != .waits
    }

    // MARK: After the transfer

    /// The server has confirmed the cached answer: copies it to the output.
    ///
    /// - Returns: the length of the copy; nil if the answer is useless and has been removed. Then everything must be
    ///   fetched.
    /// - Throws: the error of a write to the output.
    func takeConfirmed(_ use: CacheUse, _ report: TransferReport) throws(FileError) -> Int? {
        guard let cache, let entry = use.entry else { return nil }
        let confirmation = use.policy.confirmation(
            of: entry.record, by: report.response, target: report.target,
            received: Int(Glibc.time(nil)), delay: report.elapsed.wholeSecondsUp)
        if confirmation == .contradicts {
            cache.discard(use.key, because: "the server has confirmed another version")
            return nil
        }
        let output = report.request.output
        guard try cache.copyBody(of: entry, to: output.descriptor, path: output.name) else {
            return nil
        }
        try output.descriptor.truncate(to: entry.length, path: output.name)
        if case .keeps(let record) = confirmation {
            cache.refresh(entry, record)
        } else {
            cache.discard(use.key)
        }
        log.metrics.cacheRevalidations.add(1)
        return entry.length
    }

    /// Caches a fetched picture, if this is allowed.
    ///
    /// - Returns: whether it was cached.
    func keepForOthers(_ work: Work, _ use: CacheUse, _ report: TransferReport) -> Bool {
        guard let cache else { return false }
        log.metrics.cacheMisses.add(1)
        let url = report.request.url
        var policy = use.policy
        // For redirects it is not known here which hosts were involved.
        if report.redirects > 0, !settings.fetchRules.headers.isEmpty {
            policy.hasCredentials = true
        }
        policy.sentCookies = report.sentCookies
        let received = Int(Glibc.time(nil))
        let isWanted =
            switch policy.keeping(
                report.response, isRedirected: report.target != nil, received: received)
            {
            case .always: true
            case .forWaiters: board.withLock { $0.admission.hasWaiters(work) }
            case .never: false
            }
        // With the present headers the answer could be another one.
        guard isWanted, cacheKey(of: url) == use.key else {
            if use.entry != nil { cache.discard(use.key) }
            return false
        }
        let record = policy.record(
            of: report.response, url: url, target: report.target, received: received,
            delay: report.elapsed.wholeSecondsUp)
        return cache.store(
            use.key, record, body: report.request.output.descriptor, length: Int(report.bytes),
            crc: report.crc32)
    }
}

extension FetchRules {
    /// The headers for the origin of a URL.
    fileprivate func headers(for url: RemoteURL) -> [(name: String, value: String)] {
        headers.isEmpty ? [] : Origin(url: url).map(headers.headers) ?? []
    }
}

extension Duration {
    fileprivate var wholeSecondsUp: Int {
        Int(components.seconds) + (components.attoseconds > 0 ? 1 : 0)
    }
}
