import DarkroomAnswer
import DarkroomCore
import DarkroomFetch
import DarkroomManifest
import DarkroomSpool
import DequeModule

/// Carries out the board's requests; see `Admission`, which has the place of each piece of work.
extension Board {
    // MARK: Entering

    /// Passes requests to the admission, gives out the free places, and returns the effects that remain to be done
    /// without the lock.
    ///
    /// - Parameter admits: whether work may begin.
    mutating func settle(_ wanted: [Effect], admits: Bool) -> [Effect] {
        var effects: [Effect] = []
        settle(wanted, &effects)
        while admits {
            // Work that waits outside the queues leaves its places to other work.
            let more = admit()
            if more.isEmpty { break }
            settle(more, &effects)
        }
        settle(follow(admission.takeTurns()), &effects)
        return effects
    }

    private mutating func settle(_ wanted: [Effect], _ effects: inout [Effect]) {
        var rest = Deque(wanted)
        while let effect = rest.popFirst() {
            switch effect {
            case .enqueue(let work, let priority, let quality):
                let request = WorkRequest(work: work, priority: priority, quality: quality)
                if let wish = wish(request) {
                    rest += follow(admission.enter(wish))
                } else if admission.endAttempt(of: nil) {
                    // Its batch has ended. It may have contained the piece that was to try the disk.
                    effects.append(.storageUndecided)
                }
            case .cancel(let work):
                let (operation, outcome) = admission.leave(work)
                if let operation { effects.append(.stop(operation)) }
                rest += follow(outcome)
            default:
                effects.append(effect)
            }
        }
    }

    /// The facts that decide when a piece of work begins; nil if its batch has ended.
    private func wish(_ request: WorkRequest) -> Admission.Wish? {
        guard let piece = piece(of: request.work) else { return nil }
        switch request.work {
        case .download(let key, let source):
            guard let text = sourceText(key, source) else { return nil }
            return Admission.Wish(
                request: request, owner: owner(of: key), text: text,
                host: DownloadFairQueue.host(of: text), cacheKey: cacheKey(text), piece: piece)
        case .filter(let key, let image):
            return Admission.Wish(
                request: request, owner: owner(of: key),
                isGranted: memory.holds(ticket(key, image)), piece: piece)
        }
    }

    // MARK: Moving

    /// The consequences of an event in the admission.
    ///
    /// - Parameter failure: the failure of the download that others waited for.
    mutating func follow(_ outcome: Admission.Outcome, failure: Failure? = nil) -> [Effect] {
        for case .download(let key, let source) in outcome.waiting { downloadWaits(key, source) }
        var effects = outcome.starts.map { Effect.start($0) }
        effects += outcome.again.map { .enqueue($0.work, $0.priority, $0.quality) }
        if let failure {
            var shared = failure
            shared.message += " (fetched once for several manifests)"
            for case .download(let key, let source) in outcome.failed {
                effects += downloadEnded(key, source, result: .failed(shared))
            }
        }
        if outcome.isUndecided { effects.append(.storageUndecided) }
        return effects
    }

    /// An operation's thread has begun.
    mutating func begin(
        _ ticket: Admission.Ticket, key: CacheKey?
    ) -> (Admission.Beginning, [Effect]) {
        let (beginning, outcome) = admission.begin(ticket, key: key)
        return (beginning, follow(outcome))
    }

    /// Begins a download that the admission has let go; nil if it was taken back since, or if nobody needs it.
    mutating func downloadBegan(
        _ ticket: Admission.Ticket, isTransfer: Bool
    ) -> DownloadJob? {
        guard case .download(let key, let source) = ticket.work, admission.isCurrent(ticket)
        else { return nil }
        return downloadBegan(key, source, isTransfer: isTransfer)
    }

    /// Begins a filter that the admission has let go, as `filterBegan(_:_:_:)`. Empty also if it was taken back since.
    mutating func filterBegan(
        _ ticket: Admission.Ticket, _ effects: inout [Effect]
    ) -> [FilterJob] {
        guard case .filter(let key, let image) = ticket.work, admission.isCurrent(ticket)
        else { return [] }
        return filterBegan(key, image, &effects)
    }

    // MARK: Leaving

    /// An operation was not allowed to begin. If its work was taken back since, this changes nothing.
    mutating func deferred(
        _ ticket: Admission.Ticket, _ change: (inout Board) -> [Effect]
    ) -> [Effect] {
        admission.isCurrent(ticket) ? left(ticket, isShared: false, change) : []
    }

    /// An operation has ended or must enter again, and changes the board.
    ///
    /// - Parameter isShared: for a download: whether others can copy its content from the cache.
    mutating func left(
        _ ticket: Admission.Ticket, isShared: Bool, _ change: (inout Board) -> [Effect]
    ) -> [Effect] {
        var effects = follow(admission.left(ticket))
        effects += change(&self)
        if case .download(let key, let source) = ticket.work,
            let (ending, failure) = flightEnding(key, source, isShared: isShared)
        {
            effects += follow(admission.ended(ticket.work, ending), failure: failure)
        }
        return effects
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
