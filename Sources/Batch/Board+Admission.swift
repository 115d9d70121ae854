import DarkroomCore
import DarkroomFetch
import DarkroomManifest
import DarkroomSpool
import DequeModule

/// How what the board wants done comes to be done: see `Admission`, which says where each piece of work stands.
extension Board {
    // MARK: In

    /// Has the admission deal with what is wanted, gives out the places that are free then, and says what is left to be
    /// done without the lock.
    ///
    /// - Parameter admits: whether anything may begin.
    mutating func settle(_ wanted: [Effect], admits: Bool) -> [Effect] {
        var effects: [Effect] = []
        settle(wanted, &effects)
        while admits {
            // Those that wait outside the queues leave their places to others.
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
                    // Its batch has ended, perhaps with the piece that was to try the disk.
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

    /// What decides on a piece of work's way; nil where its batch has ended.
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

    // MARK: On

    /// What follows from an event in the admission.
    ///
    /// - Parameter failure: of the download that others waited for.
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

    /// An operation's thread has come.
    mutating func begin(
        _ ticket: Admission.Ticket, key: CacheKey?
    ) -> (Admission.Beginning, [Effect]) {
        let (beginning, outcome) = admission.begin(ticket, key: key)
        return (beginning, follow(outcome))
    }

    // MARK: Out

    /// An operation has ended, or goes back, which changes the board.
    ///
    /// - Parameter isShared: of a download, whether others can copy from the cache what it has fetched.
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

    /// What a source's state means for those who wait for it; nil where it goes on.
    private func flightEnding(
        _ key: BatchKey, _ source: Int, isShared: Bool
    ) -> (RequestCoalescer.Ending, Failure?)? {
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
