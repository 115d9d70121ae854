import DarkroomAnswer
import DarkroomCore
import DarkroomFetch
import DarkroomManifest
import DarkroomSpool
import Foundation

/// The beginning and the end of a download, and the time between two attempts. The scheduler's operations call these
/// functions. Each first checks whether its work is still needed.
///
/// | a source is | it waits for                                | left by                                   |
/// |-------------|---------------------------------------------|-------------------------------------------|
/// | idle        | a place for its first image                 | `admit` → queued                          |
/// | queued      | its turn for a place of the downloads queue | `downloadBegan` → running                 |
/// | running     | its transfer                                | `downloadEnded` → ready, retrying, failed |
/// |             |                                             | `downloadDeferred` → queued               |
/// | retrying    | the time of its next attempt                | `retryDue` → queued; hold, cancel → idle  |
/// | ready       | – (the filters read it)                     | `sourceGivenBack` → queued                |
/// | failed      | – (each of its images fails)                |                                           |
///
/// While a source waits for its turn or its next attempt, its images do not use the places of the batch and the level.
/// They are in the phase `waitingDownload`.
extension Board {
    /// A source as in the manifest.
    func sourceText(_ key: BatchKey, _ index: Int) -> ByteString? {
        batches[key]?.sources[index].text
    }

    /// An image is admitted whose source has been requested by other images.
    mutating func join(_ index: Int, _ source: Int, of batch: Batch, now: UInt64) {
        let phase: Batch.Phase
        switch batch.sources[source].phase {
        case .running: phase = .downloading
        case .retrying: phase = .waitingDownload
        default: phase = batch.sources[source].waitsOutside ? .waitingDownload : .queuedDownload
        }
        batch.live[index] = Batch.Live(phase: phase, since: now)
        batch.sources[source].waiters.append(index)
        batch.setState(batch.stateBeforeItsTransfer(source), of: index)
        if phase == .downloading { batch.setState(.downloading, of: index) }
        countWaiting(batch)
    }

    // MARK: The beginning

    /// A download waits outside the queue: for its turn, its host or another download of the same URL.
    mutating func downloadWaits(_ key: BatchKey, _ index: Int) {
        // It may have got its place, and begun, since the places were counted.
        guard let batch = batches[key], batch.sources[index].phase == .queued else { return }
        batch.sources[index].waitsOutside = true
        for image in batch.sources[index].waiters where batch.live[image] != nil {
            batch.live[image]?.phase = .waitingDownload
        }
        countWaiting(batch)
        rotate(batch)
    }

    /// Begins a download; nil if nobody needs it any more.
    ///
    /// - Parameter isTransfer: false for a local file, which is examined in place.
    mutating func downloadBegan(
        _ key: BatchKey, _ index: Int, isTransfer: Bool = true
    ) -> DownloadJob? {
        guard let batch = batches[key], batch.sources[index].phase == .queued else { return nil }
        let now = Clock.nanoseconds
        let attempts = batch.sources[index].attempts ?? DownloadAttempts()
        if isTransfer {
            var note = attempts.note ?? ImageStatus.Download(attempts: 0)
            note.attempts = attempts.count + 1
            note.retryAt = nil
            attempts.note = note
        }
        batch.sources[index].attempts = attempts
        batch.sources[index].phase = .running
        batch.sources[index].waitsOutside = false
        for image in batch.sources[index].waiters {
            guard let live = batch.live[image] else { continue }
            batch.live[image] = Batch.Live(phase: .downloading, since: now)
            if attempts.count > 0 {
                batch.status.images[image].milliseconds.waited += Int(
                    (now - live.since) / 1_000_000)
            } else {
                batch.status.images[image].milliseconds.waited = batch.millisecondsSinceStart(now)
            }
            batch.status.images[image].download = attempts.note
            if isTransfer, batch.status.images[image].times?.downloading == nil {
                batch.status.images[image].times = ImageStatus.Times(downloading: .now)
            }
            batch.setState(.downloading, of: image)
        }
        countWaiting(batch)
        return DownloadJob(
            folders: batch.folders, slot: batch.sources[index].slot ?? batch.takeSlot(for: index),
            text: batch.sources[index].text,
            image: batch.sources[index].waiters.first.map {
                batch.manifest.images[$0].name.string
            } ?? "",
            attempt: attempts.note?.attempts, partial: attempts.partial,
            isFolder: batch.isFolder, cancellation: batch.cancellation)
    }

    /// A download was not allowed to begin, or was stopped by the daemon's stop or by a disk that accepts no writes. It
    /// waits in the queue again. This does not count as an attempt.
    mutating func downloadDeferred(_ key: BatchKey, _ index: Int) -> [Effect] {
        guard let batch = batches[key] else { return [] }
        if batch.cancellation.isSet {
            let failure = Failure(FetchError(.cancelled, "the batch was cancelled"))
            return downloadEnded(key, index, result: .failed(failure))
        }
        switch batch.sources[index].phase {
        case .queued: break
        case .running:
            // The length of the received data is not known, or the disk had no space for it.
            batch.sources[index].attempts?.partial = nil
            batch.releaseSlot(of: index)
        case .idle, .ready, .failed, .retrying:
            // It was taken back and has begun again.
            return []
        }
        batch.sources[index].phase = .queued
        if batch.isHeld {
            var effects: [Effect] = [.statusChanged(key)]
            takeBack(source: index, of: batch)
            parkIfIdle(batch, &effects)
            return effects
        }
        requeue(index, of: batch)
        return [enqueueing(index, of: batch)]
    }

    private func enqueueing(_ source: Int, of batch: Batch) -> Effect {
        .enqueue(
            .download(batch.key, source: source), batch.manifest.priority,
            batch.manifest.qualityOfService)
    }

    /// Makes a source's images wait for the queue.
    private mutating func requeue(_ source: Int, of batch: Batch) {
        batch.sources[source].waitsOutside = false
        let state = batch.stateBeforeItsTransfer(source)
        for image in batch.sources[source].waiters where batch.live[image] != nil {
            batch.live[image]?.phase = .queuedDownload
            batch.setState(state, of: image)
        }
        countWaiting(batch)
    }

    // MARK: The end

    /// A download has ended: its images continue with the filters, wait for another attempt, or fail.
    mutating func downloadEnded(
        _ key: BatchKey, _ index: Int, result: DownloadResult
    ) -> [Effect] {
        guard let batch = batches[key] else { return [] }
        let attempts = batch.sources[index].attempts ?? DownloadAttempts()
        attempts.count += 1
        attempts.partial = nil
        switch result {
        case .ready(let note):
            if let bytes = note.bytes {
                batch.learnSizes([(index, bytes)])
            }
            attempts.note?.bytes = note.bytes
            attempts.note?.cache = note.cache
            return end(source: index, of: batch, failure: nil)
        case .failed(let failure, let retryAfter, let partial):
            if !failure.isCancellation { attempts.note?.lastError = failure }
            let verdict = retryPolicy.verdict(
                on: failure, retryAfter: retryAfter, attempts: attempts.count, jitter: jitter())
            // A retry of a local file is not useful: waiting does not change the file.
            if case .again(let delay) = verdict, attempts.note != nil,
                batch.sources[index].phase == .running, !batch.cancellation.isSet
            {
                return retry(index, of: batch, failure, after: delay, partial)
            }
            if case .final(let last) = verdict {
                return end(source: index, of: batch, failure: last)
            }
            return end(source: index, of: batch, failure: failure)
        }
    }

    private mutating func end(source index: Int, of batch: Batch, failure: Failure?) -> [Effect] {
        let now = Clock.nanoseconds
        let moment = Moment.now
        let waiters = batch.sources[index].waiters
        batch.sources[index].waiters = []
        batch.sources[index].phase = failure.map { .failed($0) } ?? .ready
        // It may have failed with another download, for which it waited.
        batch.sources[index].waitsOutside = false
        if failure != nil || batch.sources[index].users == 0 { batch.releaseSlot(of: index) }
        var effects: [Effect] = [.statusChanged(batch.key)]
        for image in waiters where note(image, index, of: batch, now: now) {
            batch.status.images[image].times?.downloaded = moment
            if let failure {
                fail(image, of: batch, failure, at: .download, &effects)
            } else {
                batch.live[image] = Batch.Live(phase: .queuedFilter, since: now)
                batch.setState(.downloaded, of: image)
                enqueueFilter(image, of: batch, &effects)
            }
        }
        countWaiting(batch)
        return effects
    }

    /// Records the duration and the result of the ended transfer in an image's status.
    ///
    /// - Returns: false if the image has ended.
    private func note(_ image: Int, _ source: Int, of batch: Batch, now: UInt64) -> Bool {
        guard let live = batch.live[image] else { return false }
        batch.status.images[image].milliseconds.downloading += Int((now - live.since) / 1_000_000)
        batch.status.images[image].download = batch.sources[source].attempts?.note
        return true
    }

    // MARK: Retries

    private mutating func retry(
        _ index: Int, of batch: Batch, _ failure: Failure, after delay: Double,
        _ partial: PartialBody?
    ) -> [Effect] {
        let now = Clock.nanoseconds
        batch.sources[index].attempts?.note?.retryAt = Clock.timestamp(.now + delay)
        let waiters = batch.sources[index].waiters.filter {
            note($0, index, of: batch, now: now)
        }
        batch.sources[index].waiters = waiters
        guard !batch.isHeld, let first = waiters.first else {
            var effects: [Effect] = [.statusChanged(batch.key)]
            batch.releaseSlot(of: index)
            takeBack(source: index, of: batch)
            parkIfIdle(batch, &effects)
            return effects
        }
        if partial == nil { batch.releaseSlot(of: index) }
        batch.sources[index].attempts?.partial = partial
        for image in waiters {
            batch.live[image] = Batch.Live(phase: .waitingDownload, since: now)
        }
        lastRetry += 1
        batch.sources[index].phase = .retrying(lastRetry)
        batch.retrying.insert(index)
        countWaiting(batch)
        rotate(batch)
        let retry = Retry(
            number: lastRetry, delay: delay, attempts: batch.sources[index].attempts?.count ?? 0,
            mostAttempts: retryPolicy.retries + 1, failure: failure, batch: batch.folders.id,
            image: batch.manifest.images[first].name.string, source: batch.sources[index].text)
        return [
            .statusChanged(batch.key),
            .enqueueLater(
                .download(batch.key, source: index), batch.manifest.priority,
                batch.manifest.qualityOfService, retry),
        ]
    }

    /// The time of the next attempt has come. It begins if it is still needed.
    ///
    /// - Parameter number: the number of the wait.
    mutating func retryDue(_ key: BatchKey, _ index: Int, number: Int) -> [Effect] {
        guard let batch = batches[key], batch.sources[index].phase == .retrying(number)
        else { return [] }
        batch.retrying.remove(index)
        batch.sources[index].phase = .queued
        requeue(index, of: batch)
        return [enqueueing(index, of: batch)]
    }
}

extension Batch.Source.Phase {
    /// Whether it waits to begin, for any reason.
    var isToBegin: Bool {
        switch self {
        case .queued, .retrying: true
        case .idle, .running, .ready, .failed: false
        }
    }
}

extension Batch {
    /// The sources for which images in work wait outside the queue.
    var sourcesWaitingOutside: [ByteString] {
        live.compactMap { index, live in
            let source = sourceOfImage[index]
            guard live.phase == .waitingDownload, source >= 0, sources[source].waitsOutside
            else { return nil }
            return sources[source].text
        }
    }

    /// The sources for which images in work wait.
    var sourcesToBegin: [ByteString] {
        Set(live.map { sourceOfImage[$0.key] }).compactMap { source in
            source >= 0 && sources[source].phase.isToBegin ? sources[source].text : nil
        }
    }

    /// The visible state of an image whose source waits for its transfer.
    func stateBeforeItsTransfer(_ source: Int) -> ImageState {
        (sources[source].attempts?.count ?? 0) > 0 ? .downloading : .new
    }

    /// Resets a source to one without attempts.
    func forgetAttempts(of source: Int) {
        if sources[source].attempts?.partial != nil { releaseSlot(of: source) }
        sources[source].attempts = nil
        sources[source].waiters = []
        sources[source].waitsOutside = false
        sources[source].phase = .idle
        retrying.remove(source)
    }

    /// Forgets the received parts of sources that are to be retried.
    func forgetPartials() {
        for source in retrying.sorted() where sources[source].attempts?.partial != nil {
            sources[source].attempts?.partial = nil
            releaseSlot(of: source)
        }
    }
}
