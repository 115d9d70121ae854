import DarkroomAnswer
import DarkroomBoard
import DarkroomCore
import DarkroomFetch
import DarkroomPicture
import DarkroomSpool
import Glibc

/// The second step of an image, or of several variants of an image at once: the picture is read and filtered, and the
/// results are written to the files of `FilterFiles`.
struct FilterStep {
    /// The first one has the operation.
    let jobs: [BegunJob<FilterJob>]
    let sources: LocalSources
    /// The bytes of the source, if they have been read when it was found.
    let content: [UInt8]?
    let durably: Bool
    /// The small copy of the source for the page.
    private let sourcePreview: PicturePreview?

    init(
        jobs: [BegunJob<FilterJob>], sources: LocalSources, content: [UInt8]?,
        durably: Bool, hasPage: Bool
    ) {
        self.jobs = jobs
        self.sources = sources
        self.content = content
        self.durably = durably
        sourcePreview =
            hasPage && jobs.contains { $0.isPublished && !$0.isAgain } ? PicturePreview() : nil
    }

    private var job: BegunJob<FilterJob> { jobs[0] }

    /// The results of the images.
    typealias Results = [Result<DevelopedPicture, Failure>]

    /// - Parameters:
    ///   - admit: receives the memory that all pictures need, before one is decoded.
    ///   - checkpoint: called between bands; false ends the work with the code `cancelled`.
    func run(
        admit: PicturePipeline.Admission, checkpoint: @escaping @Sendable () -> Bool
    ) -> PicturePipeline.Attempt<Results> {
        var results: [Result<DevelopedPicture, Failure>?] = jobs.map { _ in nil }
        var files: [(index: Int, files: FilterFiles)] = []
        for (index, job) in jobs.enumerated() {
            do {
                files.append(
                    (index, try FilterFiles(job, sourcePreview, durably: durably)))
            } catch {
                results[index] = .failure(Failure(erasing: error))
            }
        }
        if !files.isEmpty {
            FaultPoint.filterBegan.pass()
            switch develop(files.map(\.files), admit, checkpoint) {
            case .needs(let bytes):
                for (_, files) in files { files.discard() }
                return .needs(bytes: bytes)
            case .made(let pictures):
                for (place, picture) in zip(files, pictures) {
                    results[place.index] = end(place.files, picture)
                }
            }
        }
        return .made(results.compactMap(\.self))
    }

    private func end(
        _ files: FilterFiles, _ picture: Result<DevelopedPicture, Failure>
    ) -> Result<DevelopedPicture, Failure> {
        guard case .success(let developed) = picture else {
            files.discard()
            return picture
        }
        if files.job.isStrict,
            let error = PictureError.warned(
                developed.report.warnings + files.job.warnings, of: inputName)
        {
            files.discard()
            return .failure(Failure(error))
        }
        do {
            try files.complete(bytes: developed.report.bytes)
            return picture
        } catch {
            return .failure(Failure(erasing: error))
        }
    }

    private func develop(
        _ files: [FilterFiles], _ admit: PicturePipeline.Admission,
        _ checkpoint: @escaping @Sendable () -> Bool
    ) -> PicturePipeline.Attempt<Results> {
        do {
            let input = try openInput()
            for job in files.map(\.job) { DecodeFault.strike(job.name, lend: Cores.lend) }
            let pictures = files.map { files in
                var steps = files.job.steps
                steps.sourcePreview = sourcePreview
                steps.openImage = { name throws(PictureError) in
                    try openImage(name, of: files.job)
                }
                steps.checkpoint = checkpoint
                return PictureConversion(inputName, steps, to: files.result)
            }
            let outcomes: [PictureVariants.Outcome]
            switch try made(pictures, of: input.picture, admit) {
            case .made(let made): outcomes = made
            case .needs(let bytes): return .needs(bytes: bytes)
            }
            var sha256: String?
            if case .source = job.input, outcomes.contains(where: \.isSuccess) {
                // The file has just been read, so its content is in memory.
                sha256 = try input.sha256(path: inputName)
            }
            return .made(
                outcomes.map { outcome in
                    outcome.map { DevelopedPicture(report: $0, sourceSHA256: sha256) }
                        .mapError { Failure($0) }
                })
        } catch {
            let failure = Failure(erasing: error)
            return .made(files.map { _ in .failure(failure) })
        }
    }

    private func made(
        _ pictures: [PictureConversion], of input: PictureInput, _ admit: PicturePipeline.Admission
    ) throws(PictureError) -> PicturePipeline.Attempt<[PictureVariants.Outcome]> {
        if pictures.count > 1 {
            return try PictureVariants(pictures, commonFilters: job.commonFilters)
                .run(input: input, admit: admit)
        }
        return try PicturePipeline.run(pictures[0], input, admit: admit).map { [.success($0)] }
    }

    /// Opens the pixels of another image that has ended.
    private func openImage(
        _ name: String, of job: BegunJob<FilterJob>
    ) throws(PictureError) -> OtherImage {
        guard let other = job.overlays[ByteString(name)] else {
            return try StageContext.noImage(name)
        }
        do {
            return OtherImage(try open(other), name: other.file)
        } catch {
            let failure = Failure(erasing: error)
            throw PictureError(
                .readFailed, "\(other.file): opening it: \(failure.message)",
                isTransient: failure.isTransient, fault: failure.fault)
        }
    }

    private func open(_ other: FilterJob.OtherPixels) throws(FileError) -> Descriptor {
        if let index = other.handOver {
            return try job.folders.active().open(BatchFile.pixels(index))
        }
        return try job.folders.outputs().open(FileName(other.file))
    }

    private func openInput() throws -> FilterInput {
        if let content { return .content(content) }
        switch job.input {
        case .image(let other):
            return try FilterInput(try open(other), path: other.file)
        case .source(let source, let slot):
            switch source {
            case .local(let local):
                let file = try sources.open(
                    local.path, sent: job.folders.sentPictures(isFolder: job.isFolder))
                let bytes = Int(file.bytes)
                return try FilterInput(file.takeDescriptor(), bytes: bytes, path: inputName)
            case .remote:
                return try FilterInput(
                    try job.folders.active().open(BatchFile.source(slot)), path: inputName)
            case .refused(_, let error): throw error
            }
        }
    }

    private var inputName: String { job.input.name }
}

extension Result {
    fileprivate var isSuccess: Bool {
        if case .success = self { true } else { false }
    }
}

extension Scheduler {
    /// Filters a picture. Meanwhile there is a record of it, in case of a crash. For variants, it is a record of the
    /// first one: it will be filtered alone, and the others without it, so that the guilty one is found.
    func develop(
        _ jobs: [BegunJob<FilterJob>], of key: BatchKey, _ beat: Heartbeat.Beat,
        admit: PicturePipeline.Admission
    ) -> PicturePipeline.Attempt<FilterStep.Results> {
        let settings = settings
        let job = jobs[0]
        var content: [UInt8]?
        if case .source(let source, _) = job.input {
            content = foundContents.take(source, of: key, by: settings.localSources)
        }
        let step = FilterStep(
            jobs: jobs, sources: settings.localSources, content: content,
            durably: settings.isDurable, hasPage: makesPage(job.wantsPage))
        do throws(FileError) {
            return try spool.attempts.record(
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
}

extension BegunJob<FilterJob> {
    fileprivate var watched: WatchedWork {
        WatchedWork("the picture \(job.name) of \(job.id)", batch: job.id, image: job.name)
    }
}

extension Failure {
    fileprivate static var cancelled: Failure {
        Failure(PictureError(.cancelled, "the batch was cancelled"))
    }
}

extension Scheduler {
    /// Filters an image, and with it the other variants that are ready. If it may not begin, has to wait for memory or
    /// meets a full disk, it is postponed.
    func filter(_ ticket: Admission.Ticket, _ key: BatchKey, _ image: Int) {
        switch begin(ticket) {
        case .unwanted: return
        case .back: return deferred(ticket) { $0.filterNotAllowed(key, image) }
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
        if case .tooLarge = answer { return ended(ticket) { $0.filteredApart(key, images) } }
        log.waitsForMemory(jobs[0].job, bytes: bytes)
        ended(ticket) { $0.filterPostponed(key, images, bytes: bytes) }
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
        if case .failure(let failure) = result, failure.fault != nil {
            refused(ticket.work, failure, batch: job.id)
            if job.cancellation.isSet {
                return {
                    $0.filterEnded(key, image, result: .failure(.cancelled), share: share)
                }
            }
            if failure.fault == .full { giveBackSource(of: image, key, job.folders) }
            return { $0.filterDeferred(key, image) }
        }
        log.metrics.ended(.filtering, since: begin)
        return { $0.filterEnded(key, image, result: result, share: share) }
    }
}
