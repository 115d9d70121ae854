import DarkroomAnswer
import DarkroomCore
import DarkroomFetch
import DarkroomManifest
import FoundationEssentials

extension Batch {
    /// Has an image wait for its source.
    mutating func join(_ index: Int, _ source: Int, _ pool: inout Pool) {
        sources[source].waiters.append(index)
        switch sources[source].phase {
        case .running: move(index, to: .downloading, &pool)
        case .retrying: move(index, to: .waits(.turn), &pool)
        case .queued:
            move(index, to: sources[source].waitsOutside ? .waits(.turn) : .waits(.queue), &pool)
        case .idle, .ready, .failed:
            move(index, to: .waits(.queue), &pool)
            sources[source].phase = .queued
            pool.enter(.download(key, source: source))
        }
    }

    private mutating func move(waitersOf source: Int, to stage: ImageStage, _ pool: inout Pool) {
        for image in sources[source].waiters where live[image] != nil {
            move(image, to: stage, &pool)
        }
    }

    // MARK: The beginning

    /// A download waits outside the queue: for its turn, its host or another download of the same URL.
    mutating func downloadWaits(_ source: Int, _ pool: inout Pool) {
        // It may have got its place, and begun, since the places were counted.
        guard sources[source].phase == .queued else { return }
        sources[source].waitsOutside = true
        move(waitersOf: source, to: .waits(.turn), &pool)
    }

    /// Begins a download; nil if nobody needs it any more.
    ///
    /// - Parameter isTransfer: false for a local file, which is examined in place.
    mutating func downloadBegan(
        _ source: Int, isTransfer: Bool, _ pool: inout Pool
    ) -> DownloadJob? {
        guard sources[source].phase == .queued else { return nil }
        var begun = attempts[source] ?? DownloadAttempts()
        if isTransfer {
            var note = begun.note ?? ImageStatus.Download(attempts: 0)
            note.attempts = begun.count + 1
            note.retryAt = nil
            begun.note = note
        }
        attempts[source] = begun
        sources[source].phase = .running
        sources[source].waitsOutside = false
        move(waitersOf: source, to: .downloading, &pool)
        noteAttempts(of: source)
        return DownloadJob(
            id: id, slot: sources[source].slot ?? takeSlot(for: source),
            source: sources[source].reference,
            image: sources[source].waiters.first.map { manifest.images[$0].name.string } ?? "",
            attempt: begun.note?.attempts, partial: begun.partial,
            isFolder: isFolder)
    }

    /// A download was not allowed to begin, or was stopped by the daemon's stop or by a disk that accepts no writes. It
    /// waits in the queue again. This does not count as an attempt.
    mutating func downloadDeferred(_ source: Int, _ pool: inout Pool) {
        if isCancelled {
            let failure = Failure(FetchError(.cancelled, "the batch was cancelled"))
            return downloadEnded(source, result: .failed(failure), &pool)
        }
        switch sources[source].phase {
        case .queued: break
        case .running:
            // The length of the received data is not known, or the disk had no space for it.
            attempts[source]?.partial = nil
            releaseSlot(of: source)
        case .idle, .ready, .failed, .retrying:
            // It was taken back and has begun again.
            return
        }
        sources[source].phase = .queued
        if isHeld {
            pool.mark(key)
            takeBack(source: source, &pool)
            return parkIfIdle(&pool)
        }
        requeue(source, &pool)
    }

    private mutating func requeue(_ source: Int, _ pool: inout Pool) {
        sources[source].waitsOutside = false
        move(waitersOf: source, to: .waits(.queue), &pool)
        pool.enter(.download(key, source: source))
    }

    // MARK: The end

    /// A download has ended: its images continue with the filters, wait for another attempt, or fail.
    mutating func downloadEnded(_ source: Int, result: DownloadResult, _ pool: inout Pool) {
        attempts[source]?.count += 1
        attempts[source]?.partial = nil
        switch result {
        case .ready(let found):
            if let bytes = found.bytes { learnSizes([(source, bytes)]) }
            attempts[source]?.note?.bytes = found.bytes
            attempts[source]?.note?.cache = found.cache
            attempts[source]?.identity = found.identity
            attempts[source]?.kind = found.kind
            end(source: source, failure: nil, &pool)
        case .failed(let failure, let retryAfter, let partial, let identity):
            attempts[source]?.identity = identity
            if !failure.isCancellation { attempts[source]?.note?.lastError = failure }
            let verdict = pool.settings.retryPolicy.verdict(
                on: failure, retryAfter: retryAfter, attempts: attempts[source]?.count ?? 1,
                jitter: pool.jitter())
            // A retry of a local file is not useful: waiting does not change the file.
            if case .again(let delay) = verdict, attempts[source]?.note != nil,
                sources[source].phase == .running, !isCancelled
            {
                return retry(source, failure, after: delay, partial, &pool)
            }
            if case .final(let last) = verdict { return end(source: source, failure: last, &pool) }
            end(source: source, failure: failure, &pool)
        }
    }

    private mutating func end(source: Int, failure: Failure?, _ pool: inout Pool) {
        pool.mark(key)
        noteAttempts(of: source)
        let waiters = sources[source].waiters
        sources[source].waiters = []
        sources[source].phase = failure.map { .failed($0) } ?? .ready
        // It may have failed with another download, for which it waited.
        sources[source].waitsOutside = false
        if failure != nil || sources[source].users == 0 { releaseSlot(of: source) }
        for image in waiters where live[image] != nil {
            if let failure, !stand(image, failure) {
                fail(image, failure, at: .download, &pool)
            } else {
                enqueueFilter(image, &pool)
            }
        }
    }

    private mutating func noteAttempts(of source: Int) {
        for image in sources[source].waiters where live[image] != nil {
            status.images[image].download = attempts[source]?.note
        }
    }

    // MARK: Retries

    private mutating func retry(
        _ source: Int, _ failure: Failure, after delay: Double, _ partial: PartialBody?,
        _ pool: inout Pool
    ) {
        attempts[source]?.note?.retryAt = Clock.timestamp(.now + delay)
        sources[source].waiters.removeAll { live[$0] == nil }
        noteAttempts(of: source)
        guard !isHeld, let first = sources[source].waiters.first else {
            pool.mark(key)
            releaseSlot(of: source)
            takeBack(source: source, &pool)
            return parkIfIdle(&pool)
        }
        if partial == nil { releaseSlot(of: source) }
        attempts[source]?.partial = partial
        move(waitersOf: source, to: .waits(.turn), &pool)
        let number = pool.nextRetry()
        sources[source].phase = .retrying(number)
        retrying.insert(source)
        let retry = Retry(
            number: number, delay: delay, attempts: attempts[source]?.count ?? 0,
            mostAttempts: pool.settings.retryPolicy.retries + 1, failure: failure, batch: id,
            image: manifest.images[first].name.string, source: sources[source].text)
        pool.request(.enterLater(.download(key, source: source), retry))
    }

    /// The time of the next attempt has come. It begins if it is still needed.
    ///
    /// - Parameter number: the number of the wait.
    package mutating func retryDue(_ source: Int, number: Int, _ pool: inout Pool) {
        guard sources[source].phase == .retrying(number) else { return }
        retrying.remove(source)
        sources[source].phase = .queued
        requeue(source, &pool)
    }

    mutating func forgetAttempts(of source: Int) {
        if attempts[source]?.partial != nil { releaseSlot(of: source) }
        attempts[source] = nil
        sources[source].waiters = []
        sources[source].waitsOutside = false
        sources[source].phase = .idle
        retrying.remove(source)
    }

    mutating func forgetPartials() {
        for source in retrying.sorted() where attempts[source]?.partial != nil {
            attempts[source]?.partial = nil
            releaseSlot(of: source)
        }
    }

    // MARK: Reports

    /// The sources for which images in work wait outside the queue.
    package var sourcesWaitingOutside: [ByteString] {
        live.compactMap { index, live in
            let source = sourceOfImage[index]
            guard live.stage == .waits(.turn), source >= 0, sources[source].waitsOutside
            else { return nil }
            return sources[source].text
        }
    }

    /// The sources for which images in work wait.
    package var sourcesToBegin: [ByteString] {
        Set(live.map { sourceOfImage[$0.key] }).compactMap { source in
            source >= 0 && sources[source].phase.isToBegin ? sources[source].text : nil
        }
    }
}
