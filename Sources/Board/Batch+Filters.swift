import DarkroomAnswer
import DarkroomCore
import DarkroomFetch
import DarkroomManifest
import DarkroomPicture

extension Batch {
    mutating func enqueueFilter(_ index: Int, _ pool: inout Pool) {
        move(index, to: .waits(.filter), &pool)
        pool.enter(.filter(key, image: index))
    }

    // MARK: The beginning

    /// Begins to filter an image, and with it the other variants that are ready, see `Batch+Variants.swift`. Empty if
    /// nobody needs it any more or if there is no memory for it. `filterNotBegun` handles both cases.
    mutating func filterBegan(_ index: Int, _ pool: inout Pool) -> [FilterJob] {
        guard stage(of: index) == .waits(.filter),
            pool.memory.take(firstNeed(index), for: .filter(key, image: index), owner: owner)
        else { return [] }
        let companions = companions(of: index, pool)
        for companion in companions { takeAlong(companion, &pool) }
        return ([index] + companions).map { beginFilter($0, &pool) }
    }

    private mutating func beginFilter(_ index: Int, _ pool: inout Pool) -> FilterJob {
        move(index, to: .filtering, &pool)
        let image = manifest.images[index]
        let input: FilterJob.Input =
            switch image.origin {
            case .source(let source):
                .source(source, slot: sources[sourceOfImage[index]].slot ?? 0)
            case .image(let other): .image(FilterJob.OtherPixels(other, of: manifest, status))
            }
        let overlays = image.needs.map {
            (manifest.images[$0].name, FilterJob.OtherPixels($0, of: manifest, status))
        }
        let isAgain = handOvers.isFilteredAgain(index)
        let failure = standing[index]
        let handsOver = failure == nil && handOvers.begin(index)
        var job = FilterJob(
            id: id, image: index, name: image.name.string, input: input,
            steps: image.steps(within: pool.settings.pictures), isStrict: image.isStrict,
            warnings: image.isStrict ? remarks(onPixelsOf: index) : [],
            commonFilters: image.variant?.commonFilters ?? 0,
            overlays: Dictionary(uniqueKeysWithValues: overlays),
            resultName: image.resultName, isPublished: image.isPublished, handsOver: handsOver,
            isAgain: isAgain, isFolder: isFolder, wantsPage: manifest.wantsPage,
            crashes: crashes[index]?.last ?? 0)
        job.owner = owner
        job.settingsSHA256 = { [manifest] in manifest.settingsSHA256(of: index) }
        job.inputsSHA256 = inputsSHA256(of: index)
        job.standsBecause = failure
        // What is handed over to others is made in any case.
        if !isAgain, let former = formers[index],
            failure != nil || former.isComparable && !handsOver
        {
            job.former = former.image
        }
        return job
    }

    // MARK: Without a result

    /// A filter was not allowed to begin. If its image was taken back and has another operation now, this does nothing.
    package mutating func filterNotAllowed(_ index: Int, _ pool: inout Pool) {
        guard stage(of: index) == .waits(.filter) else { return }
        filterDeferred(index, &pool)
    }

    /// A filter was stopped by the daemon's stop, or met a disk that accepts no writes. If its source was given up for
    /// that, the download comes first.
    mutating func filterDeferred(_ index: Int, _ pool: inout Pool) {
        pool.giveBackMemory(.filter(key, image: index))
        switch stage(of: index) {
        case .waits(.queue):
            pool.enter(.download(key, source: sourceOfImage[index]))
        case .waits(.filter), .filtering, .recording:
            enqueueFilter(index, &pool)
        case .new, .waits(.turn), .downloading, .delivering, .ended: break
        }
    }

    /// Makes an image that is being filtered wait for its source's download again, if no other image in work uses the
    /// source.
    ///
    /// - Returns: the number of the scratch file, which still belongs to the source; nil if the file is kept.
    mutating func sourceGivenBack(_ image: Int, _ pool: inout Pool) -> Int? {
        guard stage(of: image) == .filtering, !isCancelled else { return nil }
        let source = sourceOfImage[image]
        guard source >= 0, sources[source].phase == .ready, let slot = sources[source].slot,
            !live.indices.contains(where: { $0 != image && sourceOfImage[$0] == source })
        else { return nil }
        sources[source].phase = .queued
        attempts[source] = nil
        sources[source].waiters = [image]
        move(image, to: .waits(.queue), &pool)
        return slot
    }

    // MARK: The end

    /// An image's picture has been made, or has failed. The result is recorded.
    ///
    /// - Parameter share: the number of images that had the operation together.
    mutating func filterEnded(
        _ index: Int, result: Result<DevelopedPicture, Failure>, share: Int, _ pool: inout Pool
    ) {
        pool.giveBackMemory(.filter(key, image: index))
        guard let live = live[index] else { return }
        switch result {
        case .success(let picture):
            sizes.took(
                sourceOfImage[index], kind: workKinds[index],
                seconds: Double(Clock.nanoseconds - live.since) / 1e9 / Double(share))
            var image = status.images[index]
            image.state = .filtered
            switch picture.result {
            case .made(let report), .stored(let report): note(report, of: index, &image)
            case .former(var former) where standing[index] != nil:
                (former.attempts, former.download) = (image.attempts, image.download)
                return record(index, former, at: .filter, &pool)
            case .former(let former):
                (image.output, image.warnings, image.metadata) =
                    (former.output, former.warnings, former.metadata)
                image.libraries = former.libraries
            }
            image.made = picture.result.origin
            image.sourceSHA256 = picture.source?.sha256
            image.inputsSHA256 = inputsSHA256(of: index)
            image.sourceIdentity = picture.source?.identity?.text ?? remoteIdentity(of: index)
            noteSettings(of: index, &image)
            if !deliver(index, UndeliveredImage(image), &pool) {
                record(index, image, at: .filter, &pool)
            }
        case .failure(let failure):
            fail(index, failure, at: .filter, &pool)
        }
    }

    /// What was noted of the URL of an image; nil for a local one, of whose file the filter knows more.
    private func remoteIdentity(of index: Int) -> String? {
        guard let source = manifest.images[index].source, source.localPath == nil else {
            return nil
        }
        return attempts[sourceOfImage[index]]?.identity
    }

    private func inputsSHA256(of index: Int) -> String? {
        let needs = manifest.images[index].needs
        return needs.isEmpty ? nil : ImageStatus.inputsSHA256(of: needs.map { status.images[$0] })
    }

    private mutating func note(_ report: PictureReport, of index: Int, _ image: inout ImageStatus) {
        if manifest.images[index].isPublished {
            image.output = ImageStatus.Output(
                file: manifest.images[index].outputFile(
                    width: report.width, height: report.height, sha256: report.sha256),
                format: report.format,
                sha256: report.sha256, bytes: report.bytes, width: report.width,
                height: report.height, depth: report.depth, channels: report.channels,
                quality: report.chosen?.quality, ssim: report.chosen?.ssim)
        }
        let warnings = report.warnings + remarks(onPixelsOf: index)
        image.warnings = warnings.isEmpty ? nil : warnings
        image.metadata = report.metadata.isEmpty ? nil : report.metadata
        image.libraries = report.libraries
        handOvers.compare(index, sha256: report.sha256)
    }
}
