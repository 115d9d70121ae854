import DarkroomCore
import DarkroomFetch
import DarkroomPicture
import DarkroomSpool
import Glibc
import Synchronization

/// The second step of an image: its picture is read, filtered and written to `active/ID/output-N`, and also to
/// `active/ID/pixels-N` if other images need its pixels, see `HandOverTable`. If the image is not published, it is
/// written only to the second file.
struct FilterStep {
    let job: FilterJob
    let sources: LocalSources
    let limits: PictureLimits
    let durably: Bool

    /// - Parameters:
    ///   - admit: receives the memory that the picture needs, before it is decoded; throws to stop.
    ///   - checkpoint: called between bands; false ends the work with the code `cancelled`.
    func run(
        admit: @escaping PicturePipeline.Admission, checkpoint: @escaping @Sendable () -> Bool
    ) -> Result<DevelopedPicture, Failure> {
        do {
            let active = try job.folders.active()
            let output = try active.create(outputName, replacing: true)
            FaultPoint.filterBegan.pass()
            let picture: DevelopedPicture
            do {
                picture = try develop(into: output, in: active, admit, checkpoint)
                if !job.isPublished, job.isAgain, durably {
                    try Self.sync(output, path: active.path(of: outputName))
                }
                // A published output does not change.
                if job.isPublished, job.isAgain { try active.remove(outputName) }
            } catch {
                // A part of a picture is useless. If this fails, the next attempt empties the file, or a start removes
                // it. It is never renamed.
                try? active.remove(outputName)
                if job.handsOver { try? active.remove(BatchFile.newPixels(job.image)) }
                throw error
            }
            try output.close(path: active.path(of: outputName))
            FaultPoint.filterWritten.pass()
            if !job.isPublished { try settlePixels(in: active) }
            return .success(picture)
        } catch {
            return .failure(Failure(erasing: error))
        }
    }

    /// The output of a repeated filter must not have a name with which a restart would rename it into the outbox.
    private var outputName: FileName {
        guard job.isPublished else { return BatchFile.newPixels(job.image) }
        return job.isAgain ? BatchFile.outputAgain(job.image) : BatchFile.output(job.image)
    }

    /// Gives the file of an image that is not published its name, or removes it if no image needs it.
    private func settlePixels(in active: Directory) throws(FileError) {
        guard job.handsOver else { return try active.remove(outputName) }
        FaultPoint.handOverWritten.pass()
        try active.rename(
            outputName, to: active, as: BatchFile.pixels(job.image), replacing: true)
        FaultPoint.handOverMoved.pass()
    }

    private func develop(
        into output: borrowing Descriptor, in active: Directory,
        _ admit: @escaping PicturePipeline.Admission, _ checkpoint: @escaping @Sendable () -> Bool
    ) throws -> DevelopedPicture {
        guard job.handsOver, job.isPublished else {
            return try develop(into: output, nil, admit, checkpoint)
        }
        let name = BatchFile.newPixels(job.image)
        let pixels = try active.create(name, replacing: true)
        let handOver = HandOverFile(file: pixels.file, name: name.text)
        let picture = try develop(into: output, handOver, admit, checkpoint)
        let path = active.path(of: name)
        // For others, the publisher does this before the journal refers to the file.
        if job.isAgain, durably { try Self.sync(pixels, path: path) }
        try pixels.close(path: path)
        FaultPoint.handOverWritten.pass()
        try active.rename(name, to: active, as: BatchFile.pixels(job.image), replacing: true)
        FaultPoint.handOverMoved.pass()
        return picture
    }

    private static func sync(
        _ pixels: borrowing Descriptor, path: String
    ) throws(FileError) {
        do {
            try pixels.sync(path: path)
        } catch  where error.errno.storageFault == .full {
            // Unlike a journal's lines, it can be written again from its beginning.
            throw FileError("write", path, error.errno)
        }
    }

    private func develop(
        into output: borrowing Descriptor, _ handOver: HandOverFile?,
        _ admit: @escaping PicturePipeline.Admission, _ checkpoint: @escaping @Sendable () -> Bool
    ) throws -> DevelopedPicture {
        let input = try openInput()
        DecodeFault.strike(job.name, lend: Cores.lend)
        let report = try PicturePipeline.run(
            input: input.file, inputName: inputName, autoOrient: job.autoOrient,
            filters: job.filters, output: output.file, outputName: job.resultName,
            options: job.output, handOver: handOver, limits: limits, openImage: openImage,
            admit: admit, checkpoint: checkpoint)
        guard case .source = job.input else {
            return DevelopedPicture(report: report, sourceSHA256: nil)
        }
        // The file has just been read, so its content is in memory.
        return DevelopedPicture(report: report, sourceSHA256: try input.sha256(path: inputName))
    }

    /// Opens the pixels of another image that has ended.
    private func openImage(_ name: String) throws(PictureError) -> OtherImage {
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

    private func openInput() throws -> Descriptor {
        switch job.input {
        case .image(let other):
            return try open(other)
        case .source(let slot, let text):
            switch try SourceReference(text) {
            case .local(let path):
                return try sources.open(
                    path, sent: job.folders.sentPictures(isFolder: job.isFolder)
                ).takeDescriptor()
            case .remote: return try job.folders.active().open(BatchFile.source(slot))
            }
        }
    }

    /// The picture's name in messages.
    private var inputName: String {
        switch job.input {
        case .image(let other): other.file
        case .source(_, let text): RedactedURL.text(text.string)
        }
    }
}

extension Scheduler {
    /// Filters a picture. Meanwhile there is a record of it, in case of a crash.
    func develop(
        _ job: FilterJob, _ beat: Heartbeat.Beat, admit: @escaping PicturePipeline.Admission
    ) -> Result<DevelopedPicture, Failure> {
        let settings = settings
        let step = FilterStep(
            job: job, sources: settings.localSources, limits: settings.pictureLimits,
            durably: settings.isDurable)
        do throws(FileError) {
            return try spool.attempts.record(
                batch: job.folders.id, image: job.image, before: job.crashes
            ) { slot in
                step.run(admit: admit) { [gate] in
                    beat.step()
                    CrashRecords.step(slot)
                    return !job.cancellation.isSet && !gate.isAborting
                }
            }
        } catch {
            return .failure(Failure(error))
        }
    }
}

extension FilterJob {
    fileprivate var watched: WatchedWork {
        WatchedWork("the picture \(name) of \(folders.id)", batch: folders.id, image: name)
    }
}

extension MemoryAnswer {
    /// - Throws: the error that ends the work on a picture without enough memory: `cancelled` if it must wait.
    func admit(_ bytes: Int) throws(PictureError) {
        switch self {
        case .granted: return
        case .later: throw PictureError(.cancelled, "it waits for memory")
        case .tooLarge(let limit): throw .memoryLimit(bytes, limit: limit)
        }
    }
}

extension Scheduler {
    /// Filters an image. If it may not begin, has to wait for memory or meets a full disk, it is postponed.
    func filter(_ ticket: Admission.Ticket, _ key: BatchKey, _ image: Int) {
        switch begin(ticket) {
        case .unwanted: return
        case .back: return deferred(ticket) { $0.filterNotAllowed(key, image) }
        case .goes: break
        }
        guard let job = board.withLock({ $0.filterBegan(key, image) }) else {
            endedUndecided(ticket.work)
            return ended(ticket) { $0.filterNotBegun(key, image) }
        }
        statusKeeper.changed(key, self)
        let begin = Clock.nanoseconds
        var postponed: Int?
        let result = heartbeat.during(job.watched, .steps) { beat in
            develop(job, beat) { [self] bytes throws(PictureError) in
                let answer = board.withLock { $0.needs(key, image, bytes: bytes) }
                if answer == .later { postponed = bytes }
                try answer.admit(bytes)
            }
        }
        if case .failure(let failure) = result, failure.isCancellation, !job.cancellation.isSet {
            guard let bytes = postponed else {
                return ended(ticket) { $0.filterDeferred(key, image) }
            }
            log.waitsForMemory(job, bytes: bytes)
            // It may wait for an image that waits for the disk. Then that image must be tried instead.
            endedUndecided(ticket.work)
            return ended(ticket) { $0.filterPostponed(key, image, bytes: bytes) }
        }
        if case .failure(let failure) = result, failure.fault != nil {
            refused(ticket.work, failure, batch: job.folders.id)
            if job.cancellation.isSet {
                let cancelled = Failure(PictureError(.cancelled, "the batch was cancelled"))
                return ended(ticket) { $0.filterEnded(key, image, result: .failure(cancelled)) }
            }
            if failure.fault == .full { giveBackSource(of: image, key, job.folders) }
            return ended(ticket) { $0.filterDeferred(key, image) }
        }
        log.metrics.ended(.filtering, since: begin)
        ended(ticket) { $0.filterEnded(key, image, result: result) }
    }
}
