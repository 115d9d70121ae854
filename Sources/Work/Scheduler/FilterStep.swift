import DarkroomAnswer
import DarkroomBoard
import DarkroomCore
import DarkroomFetch
import DarkroomPicture
import DarkroomSpool

/// The second step of an image, or of several variants of an image at once: the picture is read and filtered, and the
/// results are written to the files of `FilterFiles`.
struct FilterStep {
    /// The first one has the operation.
    let jobs: [BegunJob<FilterJob>]
    let sources: LocalSources
    /// The bytes of the source, if they have been read when it was found.
    let content: FoundFile?
    let durably: Bool
    /// The store of results; nil without one.
    let results: ResultStore?
    /// The small copy of the source for the page; nil if none of the results is for a page.
    let sourcePreview: PicturePreview?

    var job: BegunJob<FilterJob> { jobs[0] }

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
                files.append((index, try FilterFiles(job, sourcePreview, durably: durably)))
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
                    results[place.index] = end(place.files, picture.result, picture.key)
                }
            }
        }
        return .made(results.compactMap(\.self))
    }

    /// - Parameter key: that of a result that is to be kept.
    private func end(
        _ files: FilterFiles, _ picture: Result<DevelopedPicture, Failure>, _ key: CacheKey?
    ) -> Result<DevelopedPicture, Failure> {
        guard case .success(let developed) = picture else {
            files.discard()
            return picture
        }
        if files.job.isStrict,
            let error = PictureError.warned(
                developed.result.warnings + files.job.warnings, of: inputName)
        {
            files.discard()
            return .failure(Failure(error))
        }
        do {
            try files.complete(bytes: developed.result.bytes)
            if let key, let results, case .made(let report) = developed.result {
                files.keep(key, report, in: results)
            }
            return picture
        } catch {
            return .failure(Failure(erasing: error))
        }
    }

    /// A picture that was developed, and its key if the store of results is to keep it.
    private typealias Developed = (result: Result<DevelopedPicture, Failure>, key: CacheKey?)

    private func develop(
        _ files: [FilterFiles], _ admit: PicturePipeline.Admission,
        _ checkpoint: @escaping @Sendable () -> Bool
    ) -> PicturePipeline.Attempt<[Developed]> {
        do {
            // Such an image is filtered by itself.
            if let failure = job.standsBecause {
                return .made(files.map { (Self.standing($0, because: failure), nil) })
            }
            let input = try openInput()
            if let same = try formerInput(files, input), try FilterFiles.takeFormers(files) {
                return .made(
                    same.results.map { former in
                        (.success(DevelopedPicture(.former(former), source: same.source)), nil)
                    })
            }
            let digest = digest(of: input, for: files)
            var replacements = CodecProgram.replacements
            var keys = files.map { key(of: $0, digest) }
            let source = source(digest, input.identity)
            var pictures: [Developed?] = zip(files, keys).map { files, key -> Developed? in
                guard let report = stored(files, key) else { return nil }
                return (.success(DevelopedPicture(.stored(report), source: source)), nil)
            }
            let missing = pictures.indices.filter { pictures[$0] == nil }
            if !missing.isEmpty {
                if replacements != CodecProgram.replacements {
                    // The store was asked, which has shown that a library is another one.
                    replacements = CodecProgram.replacements
                    keys = files.map { key(of: $0, digest) }
                }
                do {
                    switch try make(missing.map { files[$0] }, input, digest, admit, checkpoint) {
                    case .needs(let bytes): return .needs(bytes: bytes)
                    case .made(let (made, isSame)):
                        let isOfKey = isSame && replacements == CodecProgram.replacements
                        for (index, picture) in zip(missing, made) {
                            pictures[index] = (picture, isOfKey ? keys[index] : nil)
                        }
                    }
                } catch {
                    // What the store has is not concerned.
                    let failure = Failure(erasing: error)
                    for index in missing { pictures[index] = (.failure(failure), nil) }
                }
            }
            return .made(pictures.compactMap(\.self))
        } catch {
            let failure = Failure(erasing: error)
            return .made(files.map { _ in (.failure(failure), nil) })
        }
    }

    /// Makes pictures of the input.
    ///
    /// - Returns: also whether the bytes that were filtered have the digest.
    private func make(
        _ files: [FilterFiles], _ input: borrowing FilterInput, _ digest: FilterInput.Digest?,
        _ admit: PicturePipeline.Admission, _ checkpoint: @escaping @Sendable () -> Bool
    ) throws -> PicturePipeline.Attempt<(Results, isSame: Bool)> {
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
        var source: DevelopedPicture.Source?
        if isOfSource, outcomes.contains(where: \.isSuccess) {
            // The file has just been read, so its content is in memory.
            source = try input.source(path: inputName, before: digest)
        }
        let results: Results = outcomes.map { outcome in
            outcome.map { DevelopedPicture(.made($0), source: source) }.mapError { Failure($0) }
        }
        return .made((results, isSame: !isOfSource || source?.sha256 != nil))
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
                isTransient: failure.isTransient, storageFailure: failure.storageFailure)
        }
    }

    func open(_ other: FilterJob.OtherPixels) throws(FileError) -> Descriptor {
        if let index = other.handOver {
            return try job.folders.active().open(BatchFile.pixels(index))
        }
        return try job.folders.outputs().open(output: other.file)
    }

    private func openInput() throws -> FilterInput {
        if let content { return FilterInput(content) }
        switch job.input {
        case .image(let other):
            return try FilterInput(try open(other), path: other.file)
        case .source(let source, let slot):
            switch source {
            case .local(let local):
                // Before it is opened: a change between the two must not look old.
                let now = Clock.wall
                let file = try sources.open(
                    local.path, sent: job.folders.sentPictures(isFolder: job.isFolder))
                let information = file.information
                let identity =
                    job.folders.notesIdentities
                    ? SourceIdentity(settled: information, at: now) : nil
                return try FilterInput(
                    file.takeDescriptor(), .init(information: information, identity: identity),
                    path: inputName)
            case .remote:
                return try FilterInput(
                    try job.folders.active().open(BatchFile.source(slot)), path: inputName)
            case .refused(_, let error): throw error
            }
        }
    }

    var inputName: String { job.input.name }
}

extension Result {
    fileprivate var isSuccess: Bool {
        if case .success = self { true } else { false }
    }
}
