import DarkroomAnswer
import DarkroomCore
import DarkroomFetch
import DarkroomManifest
import DarkroomPicture

/// The beginning and the end of a filter.
extension Batch {
    func enqueueFilter(_ index: Int, _ pool: inout Pool) {
        pool.enter(.filter(key, image: index))
    }

    // MARK: The beginning

    /// Begins to filter an image, and with it the other variants that are ready, see `Batch+Variants.swift`. Empty if
    /// nobody needs it any more or if there is no memory for it. `filterNotBegun` handles both cases.
    mutating func filterBegan(_ index: Int, _ pool: inout Pool) -> [FilterJob] {
        guard stage(of: index) == .waits(.filter),
            pool.memory.take(firstNeed(index), for: ticket(index), owner: owner)
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
            case .image(let other): .image(FilterJob.OtherPixels(other, of: manifest))
            }
        let overlays = image.needs.map {
            (manifest.images[$0].name, FilterJob.OtherPixels($0, of: manifest))
        }
        let isAgain = handOvers.isFilteredAgain(index)
        let handsOver = handOvers.begin(index)
        return FilterJob(
            id: id, image: index, name: image.name.string, input: input,
            steps: image.steps(within: pool.pictures), isStrict: image.isStrict,
            warnings: image.isStrict ? remarks(onPixelsOf: index) : [],
            commonFilters: image.variant?.commonFilters ?? 0,
            overlays: Dictionary(uniqueKeysWithValues: overlays),
            resultName: image.resultName, isPublished: image.isPublished, handsOver: handsOver,
            isAgain: isAgain, isFolder: isFolder, wantsPage: manifest.wantsPage,
            crashes: crashes[index]?.last ?? 0)
    }

    // MARK: Without a result

    /// A filter was not allowed to begin. If its image was taken back and has another operation now, this does nothing.
    mutating func filterNotAllowed(_ index: Int, _ pool: inout Pool) {
        guard stage(of: index) == .waits(.filter) else { return }
        filterDeferred(index, &pool)
    }

    /// A filter was stopped by the daemon's stop, or met a disk that accepts no writes. If its source was given up for
    /// that, the download comes first.
    mutating func filterDeferred(_ index: Int, _ pool: inout Pool) {
        pool.giveBackMemory(ticket(index))
        switch stage(of: index) {
        case .waits(.queue):
            pool.enter(.download(key, source: sourceOfImage[index]))
        case .waits(.filter), .filtering, .recording:
            move(index, to: .waits(.filter), &pool)
            enqueueFilter(index, &pool)
        case .new, .waits(.turn), .downloading, .ended: break
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
        pool.giveBackMemory(ticket(index))
        guard let live = live[index] else { return }
        switch result {
        case .success(let picture):
            let report = picture.report
            sizes.took(
                sourceOfImage[index], kind: workKinds[index],
                seconds: Double(Clock.nanoseconds - live.since) / 1e9 / Double(share))
            var image = status.images[index]
            image.state = .filtered
            if manifest.images[index].isPublished {
                image.output = ImageStatus.Output(
                    file: manifest.images[index].outputFile, format: report.format,
                    sha256: report.sha256, bytes: report.bytes, width: report.width,
                    height: report.height, depth: report.depth, channels: report.channels)
            }
            image.sourceSHA256 = picture.sourceSHA256
            let warnings = report.warnings + remarks(onPixelsOf: index)
            image.warnings = warnings.isEmpty ? nil : warnings
            image.metadata = report.metadata.isEmpty ? nil : report.metadata
            handOvers.compare(index, sha256: report.sha256)
            record(index, image, at: .filter, &pool)
        case .failure(let failure):
            fail(index, failure, at: .filter, &pool)
        }
    }
}
