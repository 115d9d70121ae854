import DarkroomAnswer
import DarkroomBoard
import DarkroomCore
import DarkroomFetch
import DarkroomPicture
import DarkroomSpool
import Dispatch
import Foundation
import Glibc
import Synchronization

/// The first step of an image: its source is fetched to `active/ID/source-SLOT`. A local file is examined; a small
/// one is also read.
extension Scheduler {
    /// The operation for a source: a transfer, or a block for work without network.
    func downloadOperation(_ ticket: Admission.Ticket, _ reference: SourceReference) -> Operation {
        guard case .remote(let url) = reference else {
            // The block reports why a source is refused.
            return BlockOperation { [self] in examineLocal(ticket) }
        }
        let begun = BegunDownload()
        return TransferOperation(engine: engine, url: url) { [self] in
            beginTransfer(ticket, url, begun)
        } completion: { [self] outcome in
            // Not on the engine's thread, which all other transfers need.
            fetched.async { [self] in endTransfer(ticket, outcome, begun) }
        }
    }

    // MARK: Transfers

    private func beginTransfer(
        _ ticket: Admission.Ticket, _ url: RemoteURL, _ begun: BegunDownload
    ) -> TransferOperation.Preparation {
        let cacheKey = cacheKey(of: url)
        switch begin(ticket, key: cacheKey) {
        case .unwanted: return .unwanted
        case .back: return .deferred
        case .goes(let turn): begun.use = cacheUse(cacheKey, turn, url)
        }
        guard let job = downloadBegan(ticket, isTransfer: true) else {
            endedUndecided(ticket.work)
            ended(ticket) { _ in }
            return .unwanted
        }
        begun.job = job
        do {
            let folder = try job.folders.active()
            let name = BatchFile.source(job.slot)
            let output = TransferOutput(try folder.openScratch(name), name: folder.path(of: name))
            var request = TransferRequest(url: url, output: output, resume: job.partial)
            guard try beginWithCache(ticket, job, &begun.use, &request) else {
                // Everything is done: the operation's end has nothing to do.
                begun.job = nil
                return .unwanted
            }
            return .transfer(request)
        } catch {
            return .failed(
                FetchError(
                    .writeFailed, error.message, isTransient: error.isTransient,
                    storageFailure: error.storageFailure)
            )
        }
    }

    private func endTransfer(
        _ ticket: Admission.Ticket, _ outcome: TransferOperation.Outcome, _ begun: BegunDownload
    ) {
        guard let job = begun.job else {
            // It did not begin: it was postponed, or taken back by a cancellation that has handled its images.
            if case .deferred = outcome { notAllowed(ticket) }
            return
        }
        switch outcome {
        case .fetched(let report) where report.isNotModified:
            endConfirmed(ticket, job, begun.use, report)
        case .fetched(let report):
            if let failure = keep(report) {
                return failed(
                    ticket, failure, job, identity: identity(of: job, report) ?? identity(of: job))
            }
            log.metrics.downloadedBytes.add(Int(report.bytes))
            log.fetched(job.job, report, microseconds: report.elapsed.wholeMicroseconds)
            let isKept = begun.use.map { keepForOthers(ticket.work, $0, report) } ?? false
            if begun.use != nil { log.cacheDecided(job.job, kept: isKept) }
            let note = DownloadNote(
                bytes: Int(report.bytes), cache: isKept ? "stored" : nil,
                identity: identity(of: job, report), kind: InputFormat(prefix: report.prefix))
            ended(ticket, .ready(note), isShared: isKept)
        case .failed(let error):
            if error.kind == .cancelled, !job.cancellation.isSet { return endedAgain(ticket) }
            let failure = Failure(error)
            if error.storageFailure == nil, let seconds = error.retryAfter {
                pauseHost(
                    of: error.asker.map { ByteString($0) } ?? job.source.text, for: seconds,
                    because: failure, batch: job.id)
            }
            failed(
                ticket, failure, job, retryAfter: error.retryAfter, partial: error.partial,
                identity: identity(of: job))
        case .deferred, .unwanted: endedAgain(ticket)
        }
    }

    /// The remote identity of a URL whose content could not be had; nil if the run notes none.
    private func identity(of job: BegunJob<DownloadJob>) -> String? {
        guard job.folders.notesIdentities, case .remote(let url) = job.source else { return nil }
        return RemoteIdentity.text(of: url)
    }

    /// The remote identity of fetched content: what its server has said of it.
    private func identity(of job: BegunJob<DownloadJob>, _ report: TransferReport) -> String? {
        guard job.folders.notesIdentities else { return nil }
        return RemoteIdentity(report.response, of: report.request.url, target: report.target)?.text
    }

    /// The remote identity of cached content, by its entity tag alone: nobody knows whether its date of the last change was
    /// old enough when it was fetched.
    private func identity(of job: BegunJob<DownloadJob>, _ record: CacheRecord?) -> String? {
        guard job.folders.notesIdentities, case .remote(let url) = job.source,
            let tag = record?.validators.entityTag
        else { return nil }
        return RemoteIdentity(Validators(entityTag: tag), of: url, target: record?.target)?.text
    }

    private func ended(
        _ ticket: Admission.Ticket, _ result: DownloadResult, isShared: Bool = false
    ) {
        guard case .download(let key, let source) = ticket.work else { return }
        if case .failed(let failure, _, _, _) = result, !failure.isCancellation {
            log.metrics.downloadFailures.add(failure.code)
        }
        ended(ticket, isShared: isShared) { $0.downloadEnded(key, source, result: result) }
    }

    /// The download waits in the queue again. This was no attempt.
    private func endedAgain(_ ticket: Admission.Ticket) {
        guard case .download(let key, let source) = ticket.work else { return }
        ended(ticket) { $0.downloadDeferred(key, source) }
    }

    /// A download that may not begin waits in the queue again.
    private func notAllowed(_ ticket: Admission.Ticket) {
        guard case .download(let key, let source) = ticket.work else { return }
        deferred(ticket) { $0.downloadDeferred(key, source) }
    }

    /// A download has failed. If the spool has no space for the source, or this machine no free socket, it is fetched
    /// again later.
    private func failed(
        _ ticket: Admission.Ticket, _ failure: Failure, _ job: BegunJob<DownloadJob>,
        retryAfter: Double? = nil, partial: PartialBody? = nil, identity: String? = nil
    ) {
        guard failure.storageFailure != nil else {
            return ended(
                ticket,
                .failed(failure, retryAfter: retryAfter, partial: partial, identity: identity))
        }
        refused(ticket.work, failure, batch: job.id)
        if failure.storageFailure == .full { removeScratch(job.slot, job.folders) }
        endedAgain(ticket)
    }

    // MARK: With the cache

    /// Lets a download copy the cached content and end, or asks for a confirmation of it.
    ///
    /// - Returns: false if no transfer is necessary any more.
    private func beginWithCache(
        _ ticket: Admission.Ticket, _ job: BegunJob<DownloadJob>, _ use: inout CacheUse?,
        _ request: inout TransferRequest
    ) throws(FileError) -> Bool {
        guard var used = use else { return true }
        let begin = Clock.nanoseconds
        if let (bytes, record) = try takeFromCache(&used, &request) {
            log.metrics.cacheHits.add(1)
            log.copied(job.job, bytes: bytes, microseconds: (Clock.nanoseconds - begin) / 1000)
            let note = DownloadNote(bytes: bytes, cache: "hit", identity: identity(of: job, record))
            ended(ticket, .ready(note), isShared: true)
            return false
        }
        guard joinFlight(ticket, &used) else {
            endedAgain(ticket)
            return false
        }
        use = used
        return true
    }

    /// The server has confirmed the cached content.
    private func endConfirmed(
        _ ticket: Admission.Ticket, _ job: BegunJob<DownloadJob>, _ use: CacheUse?,
        _ report: TransferReport
    ) {
        do {
            guard let use, let bytes = try takeConfirmed(use, report) else {
                // The cached content has been removed, so everything is fetched this time.
                return endedAgain(ticket)
            }
            log.copied(job.job, bytes: bytes, microseconds: report.elapsed.wholeMicroseconds)
            let note = DownloadNote(
                bytes: bytes, cache: "revalidated", identity: identity(of: job, use.entry?.record))
            ended(ticket, .ready(note), isShared: true)
        } catch {
            failed(ticket, Failure(error), job)
        }
    }

    /// Cuts the scratch file to the received length if its content is a picture.
    ///
    /// - Returns: the failure if it is not.
    private func keep(_ report: TransferReport) -> Failure? {
        do {
            _ = try report.pictureKind()
            let output = report.request.output
            try output.descriptor.truncate(to: Int(report.bytes), path: output.name)
            return nil
        } catch {
            return Failure(erasing: error)
        }
    }

    // MARK: Next attempts

    /// Has a failed download retried, if the board still needs it then. It waits without an operation, so a stop of the
    /// daemon does not wait for it.
    func enterLater(_ work: Work, _ retry: Retry) {
        guard case .download(let key, let source) = work else { return }
        log.retried(retry)
        endedUndecided(work)
        time.call(in: retry.delay, on: alarms) { [self] in
            advance { $0.change(key) { $0.retryDue(source, number: retry.number, &$1) } }
        }
    }

    // MARK: Local files

    private func examineLocal(_ ticket: Admission.Ticket) {
        switch begin(ticket) {
        case .unwanted: return
        case .back: return notAllowed(ticket)
        case .goes: break
        }
        guard let job = downloadBegan(ticket, isTransfer: false) else {
            endedUndecided(ticket.work)
            return ended(ticket) { _ in }
        }
        let begin = Clock.nanoseconds
        var identity: SourceIdentity?
        do {
            let (bytes, kind) = try examineLocal(
                job.source, ticket.work.batch,
                sent: job.folders.sentPictures(isFolder: job.isFolder),
                identity: job.folders.notesIdentities ? { identity = $0 } : nil)
            log.downloaded(
                job.job, bytes: bytes, microseconds: (Clock.nanoseconds - begin) / 1000,
                words: "found")
            let note = DownloadNote(bytes: bytes, identity: identity?.text, kind: kind)
            ended(ticket, .ready(note))
        } catch {
            failed(ticket, Failure(erasing: error), job, identity: identity?.text)
        }
    }

    /// Opens a local source, checks that it begins like a picture, and returns its size. The filter gets the bytes of a
    /// small file, and reads a large one itself.
    ///
    /// - Parameter identity: receives what tells later whether the file is the same; nil if nobody wants to know it.
    private func examineLocal(
        _ source: SourceReference, _ key: BatchKey, sent: SentPictures?,
        identity: ((SourceIdentity?) -> Void)?
    ) throws -> (bytes: Int, kind: InputFormat?) {
        let path: String
        switch source {
        case .local(let local): path = local.path
        case .refused(_, let error): throw error
        case .remote: return (0, nil)
        }
        let rules = settings.localSources
        // Its file system may not answer.
        let watched = WatchedWork("the local source \(source.shown)")
        let (head, found, bytes) = try heartbeat.during(watched, .files) { _ in
            // Before it is opened: a change between the two must not look old.
            let now = Clock.wall
            let file = try rules.open(path, sent: sent)
            let bytes = Int(file.bytes)
            let settled = identity.flatMap { _ in SourceIdentity(settled: file.information, at: now)
            }
            identity?(settled)
            if let content = try FilterInput.content(of: file.descriptor, bytes: bytes) {
                let found = FoundFile(bytes: content, identity: settled)
                return (content.prefix(TransferReport.prefixLength), found as FoundFile?, bytes)
            }
            let head = try file.descriptor.file.bytes(TransferReport.prefixLength, at: 0)
            return (head[...], nil, bytes)
        }
        let kind = InputFormat(prefix: head)
        if let refusal = kind.refusal(of: source.shown) { throw refusal }
        if let found { foundContents.keep(found, of: source, key, by: rules) }
        return (bytes, kind)
    }
}

/// Data of a transfer's beginning for its end.
final class BegunDownload: Sendable {
    private let state = Mutex<(job: BegunJob<DownloadJob>?, use: CacheUse?)>((nil, nil))

    var job: BegunJob<DownloadJob>? {
        get { state.withLock { $0.job } }
        set { state.withLock { $0.job = newValue } }
    }

    /// nil without a cache.
    var use: CacheUse? {
        get { state.withLock { $0.use } }
        set { state.withLock { $0.use = newValue } }
    }
}

extension Duration {
    /// Rounded down.
    fileprivate var wholeMicroseconds: UInt64 {
        UInt64(components.seconds) * 1_000_000
            + UInt64(components.attoseconds / 1_000_000_000_000)
    }
}
