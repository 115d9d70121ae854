import DarkroomAnswer
import DarkroomBoard
import DarkroomCore
import DarkroomFetch
import DarkroomPicture
import DarkroomSpool

extension Scheduler {
    /// Filters a picture. Meanwhile there is a record of it, in case of a crash. For variants, it is a record of the
    /// first one: it will be filtered alone, and the others without it, so that the guilty one is found.
    func develop(
        _ jobs: [BegunJob<FilterJob>], of key: BatchKey, _ beat: Heartbeat.Beat,
        admit: PicturePipeline.Admission
    ) -> PicturePipeline.Attempt<FilterStep.Results> {
        let settings = settings
        let job = jobs[0]
        var content: FoundFile?
        if case .source(let source, _) = job.input {
            content = foundContents.take(source, of: key, by: settings.localSources)
        }
        let isForPage = makesPage(job.wantsPage) && jobs.contains { $0.isPublished && !$0.isAgain }
        let step = FilterStep(
            jobs: jobs, sources: settings.localSources, content: content,
            durably: settings.isDurable, results: results,
            sourcePreview: isForPage ? PicturePreview() : nil)
        do throws(FileError) {
            return try spool.crashRecords.record(
                batch: job.id, image: job.image, before: job.crashes
            ) { slot in
                step.run(admit: admit) { [gate, cancellation = job.cancellation] in
                    beat.step()
                    CrashRecords.step(slot)
                    return !cancellation.isSet && !gate.isAborting
                }
            }
        } catch {
            let failure = Failure(error)
            return .made(jobs.map { _ in .failure(failure) })
        }
    }

    /// Filters an image, and with it the other variants that are ready. If it may not begin, has to wait for memory or
    /// meets a full disk, it is postponed.
    func filter(_ ticket: Admission.Ticket, _ key: BatchKey, _ image: Int) {
        switch begin(ticket) {
        case .unwanted: return
        case .back: return deferred(ticket) { $0.change(key) { $0.filterNotAllowed(image, &$1) } }
        case .goes: break
        }
        var begun: [FilterJob] = []
        settle { begun = $0.filterBegan(ticket) }
        let jobs = begun.map { self.begun($0, of: key, id: $0.id) }
        guard let job = jobs.first else {
            endedUndecided(ticket.work)
            return ended(ticket) { $0.filterNotBegun(key, image) }
        }
        let begin = Clock.nanoseconds
        var answer = MemoryAnswer.granted
        let attempt = heartbeat.during(job.watched, .steps) { beat in
            develop(jobs, of: key, beat) { [self] bytes in
                answer = board.withLock { $0.needs(key, image, bytes: bytes) }
                return answer == .granted
            }
        }
        let results: FilterStep.Results
        switch (attempt, answer) {
        case (.made(let made), _): results = made
        case (.needs(let bytes), .tooLarge(let limit)) where jobs.count == 1:
            let error = PictureError.memoryLimit(bytes, limit: limit)
            results = [.failure(Failure(error.naming(job.input.name, or: [])))]
        case (.needs, _) where job.cancellation.isSet:
            results = jobs.map { _ in .failure(.cancelled) }
        case (.needs(let bytes), _): return postpone(jobs, ticket, key, bytes, answer)
        }
        var changes: [(inout Board) -> Void] = []
        for (job, result) in zip(jobs, results) {
            changes.append(end(job, result, ticket, key, since: begin, share: jobs.count))
        }
        ended(ticket) { board in for change in changes { change(&board) } }
    }

    /// There is no memory for the images now, or never for all at once.
    private func postpone(
        _ jobs: [BegunJob<FilterJob>], _ ticket: Admission.Ticket, _ key: BatchKey, _ bytes: Int,
        _ answer: MemoryAnswer
    ) {
        // They may wait for an image that waits for the disk. Then that image must be tried instead.
        endedUndecided(ticket.work)
        let images = jobs.map(\.image)
        if case .tooLarge = answer {
            return ended(ticket) { $0.change(key) { $0.filteredApart(images, &$1) } }
        }
        log.waitsForMemory(jobs[0].job, bytes: bytes)
        ended(ticket) { $0.change(key) { $0.filterPostponed(images, bytes: bytes, &$1) } }
    }

    /// What the board does when an image has been filtered, or has not.
    private func end(
        _ job: BegunJob<FilterJob>, _ result: Result<DevelopedPicture, Failure>,
        _ ticket: Admission.Ticket,
        _ key: BatchKey, since begin: UInt64, share: Int
    ) -> (inout Board) -> Void {
        let image = job.image
        if case .failure(let failure) = result, failure.isCancellation, !job.cancellation.isSet {
            return { $0.filterDeferred(key, image) }
        }
        if case .failure(let failure) = result, failure.storageFailure != nil {
            refused(ticket.work, failure, batch: job.id)
            if job.cancellation.isSet {
                return {
                    $0.filterEnded(key, image, result: .failure(.cancelled), share: share)
                }
            }
            if failure.storageFailure == .full { giveBackSource(of: image, key, job.folders) }
            return { $0.filterDeferred(key, image) }
        }
        log.metrics.ended(.filtering, since: begin)
        return { $0.filterEnded(key, image, result: result, share: share) }
    }
}

extension BegunJob<FilterJob> {
    fileprivate var watched: WatchedWork {
        WatchedWork("the picture \(job.name) of \(job.id)", batch: job.id, image: job.name)
    }
}

extension Failure {
    /// Of an image whose batch was cancelled.
    static var cancelled: Failure { Failure(PictureError(.cancelled, "the batch was cancelled")) }
}
