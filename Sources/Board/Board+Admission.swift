import DarkroomCore
import DarkroomFetch
import DarkroomManifest

/// Carries out the board's requests; see `Admission`, which has the place of each piece of work.
extension Board {
    // MARK: Entering

    /// Passes requests to the admission, gives out the free places, and returns the effects: what remains to be done
    /// without the lock. No other function returns any.
    ///
    /// - Parameter admits: whether work may begin.
    package mutating func settle(admits: Bool) -> [Effect] {
        var effects: [Effect] = []
        takeRequests(&effects)
        // Work that waits outside the queues leaves its places to other work.
        while admits, admit() { takeRequests(&effects) }
        follow(admission.takeTurns())
        takeRequests(&effects)
        return effects
    }

    private mutating func takeRequests(_ effects: inout [Effect]) {
        while let request = pool.takeRequest() {
            switch request {
            case .enter(let work): enter(work)
            case .leave(let work, let isDone):
                let (operation, outcome) = admission.leave(work, isDone: isDone)
                if let operation { effects.append(.stop(operation)) }
                follow(outcome)
            case .effect(let effect): effects.append(effect)
            }
        }
    }

    private mutating func enter(_ work: Work) {
        if let wish = wish(work) { return follow(admission.enter(wish)) }
        pool.giveBackMemory(work)
        // Its batch may have ended. It may have contained the piece that was to try the disk.
        if admission.endAttempt(of: piece(of: work)) { pool.request(.storageUndecided) }
    }

    /// The facts that decide when a piece of work begins; nil if nobody needs it any more.
    private func wish(_ work: Work) -> Admission.Wish? {
        guard let piece = piece(of: work), let batch = batches[work.batch] else { return nil }
        let request = WorkRequest(
            work: work, priority: batch.manifest.priority, quality: batch.manifest.qualityOfService)
        switch work {
        case .download(_, let source):
            let source = batch.sources[source].reference
            return Admission.Wish(
                request: request, owner: batch.owner, source: source,
                host: SourceReference.host(of: source.text), cacheKey: cacheKey(source),
                piece: piece)
        case .filter(_, let image):
            guard batch.stage(of: image) == .waits(.filter) else { return nil }
            return Admission.Wish(
                request: request, owner: batch.owner,
                isGranted: pool.memory.holds(work), piece: piece)
        }
    }

    // MARK: Moving

    /// The consequences of an event in the admission.
    ///
    /// - Parameter failure: the failure of the download that others waited for.
    package mutating func follow(_ outcome: Admission.Outcome, failure: Failure? = nil) {
        for case .download(let key, let source) in outcome.waiting {
            change(key) { $0.downloadWaits(source, &$1) }
        }
        for start in outcome.starts { pool.request(.start(start)) }
        for request in outcome.again { pool.enter(request.work) }
        if let failure {
            var shared = failure
            shared.message += " (fetched once for several manifests)"
            for case .download(let key, let source) in outcome.failed {
                change(key) { $0.downloadEnded(source, result: .failed(shared), &$1) }
            }
        }
        if outcome.isUndecided { pool.request(.storageUndecided) }
    }

    /// An operation's thread has begun.
    package mutating func begin(_ ticket: Admission.Ticket, key: CacheKey?) -> Admission.Beginning {
        let (beginning, outcome) = admission.begin(ticket, key: key)
        follow(outcome)
        return beginning
    }

    /// Begins a download that the admission has let go; nil if it was taken back since, or if nobody needs it.
    package mutating func downloadBegan(
        _ ticket: Admission.Ticket, isTransfer: Bool
    ) -> DownloadJob? {
        guard case .download(let key, let source) = ticket.work, admission.isCurrent(ticket)
        else { return nil }
        return downloadBegan(key, source, isTransfer: isTransfer)
    }

    /// Begins a filter that the admission has let go, as `Batch.filterBegan`. Empty also if it was taken back since.
    package mutating func filterBegan(_ ticket: Admission.Ticket) -> [FilterJob] {
        guard case .filter(let key, let image) = ticket.work, admission.isCurrent(ticket)
        else { return [] }
        return filterBegan(key, image)
    }

    // MARK: Leaving

    /// An operation was not allowed to begin. If its work was taken back since, this changes nothing.
    package mutating func deferred(_ ticket: Admission.Ticket, _ change: (inout Board) -> Void) {
        if admission.isCurrent(ticket) { left(ticket, isShared: false, change) }
    }

    /// An operation has ended or must enter again, and changes the board.
    ///
    /// - Parameter isShared: for a download: whether others can copy its content from the cache.
    package mutating func left(
        _ ticket: Admission.Ticket, isShared: Bool, _ change: (inout Board) -> Void
    ) {
        follow(admission.left(ticket))
        change(&self)
        if case .download(let key, let source) = ticket.work,
            let (ending, failure) = flightEnding(key, source, isShared: isShared)
        {
            follow(admission.ended(ticket.work, ending), failure: failure)
        }
    }

    /// The result of a source for the downloads that wait for it; nil if it continues.
    private func flightEnding(
        _ key: BatchKey, _ source: Int, isShared: Bool
    ) -> (RequestCoalescer.Ending, Failure?)? {
        switch batches[key]?.sources[source].phase {
        case .queued, .running, .retrying: nil
        case .ready: (isShared ? .shared : .unshared, nil)
        case .failed(let failure):
            // A failure that concerns only this batch does not affect others.
            [FetchError.Code.cancelled, .writeFailed].contains { $0.rawValue == failure.code }
                ? (.gone, nil) : (.failed, failure)
        case .idle, nil: (.gone, nil)
        }
    }
}
