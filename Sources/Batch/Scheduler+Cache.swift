import DarkroomCore
import DarkroomFetch
import Glibc
import Synchronization

/// What the cache has to do with a download: who fetches for whom (`Flights`), what need not be fetched, and what
/// is kept.
///
/// | when | what |
/// |---|---|
/// | before the queues | someone else fetches the same: it waits, outside of them (`enterFlight`) |
/// | its turn has come | the answer is kept and fresh: it is copied, and no transfer begins (`takeFromCache`) |
/// | | it is kept, but not fresh: the request says what there is |
/// | the transfer has ended | 304: the answer is copied, and confirmed (`takeConfirmed`); else it is kept, if it may be (`keepForOthers`) |
/// | the board knows its end | those who wait go on (`advanceFlight`) |
///
/// Without a cache none of it happens.
struct CacheUse: Sendable {
    let key: CacheKey
    let policy: CachePolicy
    var turn: Flights.Turn
    /// What the server is asked to confirm.
    var entry: CacheEntry?
}

extension Scheduler {
    // MARK: Before the queues

    /// Whether a download may go on to its host and queue; if not, it waits for another one of the same URL.
    func enterFlight(_ item: StorageWaits.Item) -> Bool {
        guard cache != nil, case .download(let key, let source) = item.work,
            let text = board.withLock({ $0.sourceText(key, source) }),
            let url = remoteURL(text)
        else { return true }
        let cacheKey = cacheKey(of: url)
        let mayGo = changeFlights { $0.enter(item, cacheKey, &$1) }
        if mayGo { return true }
        board.withLock { $0.downloadWaits(key, source) }
        // If the disk was to be tried with it, that may take longer than anything else.
        endedUndecided(item.work)
        return false
    }

    /// A download is not wanted any more.
    func leaveFlight(_ work: Work) {
        guard cache != nil, case .download = work else { return }
        changeFlights { $0.remove(work, &$1) }
    }

    private func remoteURL(_ text: ByteString) -> RemoteURL? {
        guard case .remote(let url)? = try? SourceReference(text) else { return nil }
        return url
    }

    private func cacheKey(of url: RemoteURL) -> CacheKey {
        CacheKey(url: url, headers: headers(for: url))
    }

    private func headers(for url: RemoteURL) -> [(name: String, value: String)] {
        let headers = settings.fetchRules.headers
        return headers.isEmpty ? [] : Origin(url: url).map(headers.headers) ?? []
    }

    /// Changes the flights and has those go on, or fail with `failure`, for whom that follows.
    @discardableResult
    private func changeFlights<Value>(
        failure: Failure? = nil, _ body: (inout Flights, inout Flights.Change) -> Value
    ) -> Value {
        var change = Flights.Change()
        let value = flights.withLock { body(&$0, &change) }
        for item in change.released { enqueue(item.work, item.priority, item.quality) }
        for item in change.failed {
            guard let failure, case .download(let key, let source) = item.work else { continue }
            var shared = failure
            shared.message += " (fetched once for several manifests)"
            advance { $0.downloadEnded(key, source, result: .failed(shared)) }
        }
        return value
    }

    // MARK: At its turn

    /// Has a download take part in what the cache does. False where it is to wait for another one after all.
    func beginFlight(_ work: Work, _ url: RemoteURL, _ begun: BegunDownload) -> Bool {
        guard cache != nil else { return true }
        let key = cacheKey(of: url)
        let turn = changeFlights { $0.begin(work, key, &$1) }
        let policy = CachePolicy(
            hasCredentials: url.hasUser || !headers(for: url).isEmpty, userAgent: Self.userAgent)
        begun.use = CacheUse(key: key, policy: policy, turn: turn)
        return turn != .waits
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
        if use.turn == .copies || record.isFresh(now: Int(time(nil))) {
            let output = request.output
            if try cache.copyBody(of: entry, to: output.descriptor, path: output.name) {
                try output.descriptor.truncate(to: entry.length, path: output.name)
                return entry.length
            }
            // What an earlier try had left was written over.
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
    func joinFlight(_ work: Work, _ use: inout CacheUse) -> Bool {
        guard use.turn == .copies else { return true }
        let key = use.key
        use.turn = changeFlights { $0.begin(work, key, &$1) }
        return use.turn != .waits
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
            received: Int(time(nil)), delay: report.elapsed.wholeSecondsUp)
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
        let received = Int(time(nil))
        let isWanted =
            switch policy.keeping(
                report.response, isRedirected: report.target != nil, received: received)
            {
            case .always: true
            case .forWaiters: flights.withLock { $0.hasWaiters(work) }
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

    // MARK: Its end

    /// Moves the board on by a download's end, and then those who wait for it.
    ///
    /// - Parameter isShared: whether what it fetched is in the cache.
    func advanceFlight(
        _ work: Work, isShared: Bool, _ change: (inout Board) -> [Effect]
    ) {
        guard cache != nil, case .download(let key, let source) = work else {
            return advance(change)
        }
        var end: (Flights.Ending, Failure?)?
        advance { board in
            let effects = change(&board)
            // Here, for once the lock is free the batch may end and be forgotten.
            end = board.flightEnding(key, source, isShared: isShared)
            return effects
        }
        guard let (ending, failure) = end else { return }
        changeFlights(failure: failure) { $0.end(work, ending, &$1) }
    }
}

extension Board {
    /// What a source's state means for those who wait for it; nil where it goes on.
    fileprivate func flightEnding(
        _ key: BatchKey, _ source: Int, isShared: Bool
    ) -> (Flights.Ending, Failure?)? {
        switch batches[key]?.sources[source].phase {
        case .queued, .running, .retrying: nil
        case .ready: (isShared ? .shared : .unshared, nil)
        case .failed(let failure):
            // What this batch alone has met is nothing to others.
            [FetchError.Code.cancelled, .writeFailed].contains { $0.rawValue == failure.code }
                ? (.gone, nil) : (.failed, failure)
        case .idle, nil: (.gone, nil)
        }
    }
}

extension Duration {
    fileprivate var wholeSecondsUp: Int {
        Int(components.seconds) + (components.attoseconds > 0 ? 1 : 0)
    }
}
