import DarkroomCore
import DarkroomFetch
import Glibc
import Synchronization

/// What the cache has to do with a download: who fetches for whom (`RequestCoalescer`), what need not be fetched, and what
/// is kept.
///
/// | when | what |
/// |---|---|
/// | before the queues | someone else fetches the same: it waits, outside of them (`Admission`) |
/// | its turn has come | the answer is kept and fresh: it is copied, and no transfer begins (`takeFromCache`) |
/// | | it is kept, but not fresh: the request says what there is |
/// | the transfer has ended | 304: the answer is copied, and confirmed (`takeConfirmed`); else it is kept, if it may be (`keepForOthers`) |
/// | the board knows its end | those who wait go on (`Board.left`) |
///
/// Without a cache none of it happens.
struct CacheUse: Sendable {
    let key: CacheKey
    let policy: CachePolicy
    var turn: RequestCoalescer.Turn
    /// What the server is asked to confirm.
    var entry: CacheEntry?
}

extension Scheduler {
    // MARK: Keys

    /// What sources are kept by under these settings, and which downloads are known to be of the same.
    func cacheKeys(_ settings: BatchSettings) -> @Sendable (ByteString) -> CacheKey? {
        guard cache != nil else { return { _ in nil } }
        let rules = settings.fetchRules
        return { text in
            guard case .remote(let url)? = try? SourceReference(text) else { return nil }
            return CacheKey(url: url, headers: rules.headers(for: url))
        }
    }

    func cacheKey(of url: RemoteURL) -> CacheKey? {
        cache == nil ? nil : CacheKey(url: url, headers: settings.fetchRules.headers(for: url))
    }

    // MARK: At its turn

    /// What the cache has to do with a download that begins.
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

    /// Copies what is kept to the request's output, if it may be used without asking, and gives its length. If it
    /// may be used once the server confirms it, the request is made to ask for that.
    ///
    /// - Throws: what keeps the output from being written to.
    func takeFromCache(
        _ use: inout CacheUse, _ request: inout TransferRequest
    ) throws(FileError) -> Int? {
        guard let cache, let entry = usableEntry(use, request.url) else { return nil }
        let record = entry.record
        if use.turn == .copies || record.isFresh(now: Int(Glibc.time(nil))) {
            let output = request.output
            if try cache.copyBody(of: entry, to: output.descriptor, path: output.name) {
                try output.descriptor.truncate(to: entry.length, path: output.name)
                return entry.length
            }
            // What an earlier attempt had left was written over.
            request.resume = nil
        } else if request.resume == nil, record.validators != Validators() {
            use.entry = entry
            request.validators = record.validators
            request.target = record.target
        }
        return nil
    }

    private func usableEntry(_ use: CacheUse, _ url: RemoteURL) -> CacheEntry? {
        let settings = settings
        // What must not be fetched any more is not taken from here either: the transfer says why.
        guard let host = Origin(url: url)?.host,
            settings.fetchRules.refusal(host: ByteString(host.description)) == nil,
            let entry = cache?.find(use.key), use.policy.matches(entry.record),
            entry.length <= settings.maximumSourceBytes
        else { return nil }
        return entry
    }

    /// A download that was to copy what another one has fetched did not find it: it fetches, or waits for one that
    /// does. False for the latter.
    func joinFlight(_ ticket: Admission.Ticket, _ use: inout CacheUse) -> Bool {
        guard use.turn == .copies else { return true }
        let key = use.key
        var turn = use.turn
        settle { board in
            let outcome: Admission.Outcome
            (turn, outcome) = board.admission.rejoin(ticket, key)
            return board.follow(outcome)
        }
        use.turn = turn
        return turn != .waits
    }

    // MARK: After the transfer

    /// The server has confirmed what is kept: copies it to the output and gives its length. nil where it is no use
    /// after all, and gone; then all of it is to be fetched.
    ///
    /// - Throws: what keeps the output from being written to.
    func takeConfirmed(_ use: CacheUse, _ report: TransferReport) throws(FileError) -> Int? {
        guard let cache, let entry = use.entry else { return nil }
        let confirmation = use.policy.confirmation(
            of: entry.record, by: report.response, target: report.target,
            received: Int(Glibc.time(nil)), delay: report.elapsed.wholeSecondsUp)
        if confirmation == .contradicts {
            cache.discard(use.key, because: "the server has confirmed another one")
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

    /// Keeps a picture that was fetched, if it may be kept. Tells whether that was done.
    func keepForOthers(_ work: Work, _ use: CacheUse, _ report: TransferReport) -> Bool {
        guard let cache else { return false }
        log.metrics.cacheMisses.add(1)
        let url = report.request.url
        var policy = use.policy
        // Of redirects it is not known here which hosts they led to.
        if report.redirects > 0, !settings.fetchRules.headers.isEmpty {
            policy.hasCredentials = true
        }
        let received = Int(Glibc.time(nil))
        let isWanted =
            switch policy.keeping(
                report.response, isRedirected: report.target != nil, received: received)
            {
            case .always: true
            case .forWaiters: board.withLock { $0.admission.hasWaiters(work) }
            case .never: false
            }
        // Under the headers of now it may be another answer.
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
    /// What is sent to the origin of a URL.
    fileprivate func headers(for url: RemoteURL) -> [(name: String, value: String)] {
        headers.isEmpty ? [] : Origin(url: url).map(headers.headers) ?? []
    }
}

extension Duration {
    fileprivate var wholeSecondsUp: Int {
        Int(components.seconds) + (components.attoseconds > 0 ? 1 : 0)
    }
}
