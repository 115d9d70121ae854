import DarkroomCore
import DarkroomFetch
import DarkroomManifest
import DarkroomPicture
import DarkroomSpool

/// What a download operation needs.
struct DownloadJob: Sendable {
    let folders: BatchFolders
    /// The number of the scratch file to fetch into.
    let slot: Int
    let text: ByteString
    /// The first of the images that wait for it, for the journal.
    let image: String
    /// How often the source is asked for with this; nil for a file of this machine.
    let attempt: Int?
    /// What is in the scratch file already, of an earlier attempt.
    let partial: PartialBody?
    let cancellation: CancellationFlag
}

/// What a filter operation needs.
struct FilterJob: Sendable {
    enum Input: Sendable {
        /// `active/ID/source-SLOT`, or the local file that the source names.
        case source(slot: Int, text: ByteString)
        case image(OtherPixels)
    }

    /// Where the filtered pixels of another image lie.
    struct OtherPixels: Sendable {
        /// Its output, in the outbox.
        let file: String
        /// Its number where its pixels are read from `active/ID/pixels-N`, for its output is not lossless.
        let handOver: Int?

        init(_ index: Int, of manifest: Manifest) {
            let image = manifest.images[index]
            file = image.outputFile
            handOver = image.output.format.isLossless ? nil : index
        }
    }

    let folders: BatchFolders
    let image: Int
    let name: String
    let input: Input
    let autoOrient: Bool
    let filters: [Filter]
    /// The pixels that the filters lay over the picture, by their images' names.
    let overlays: [ByteString: OtherPixels]
    let output: OutputOptions
    let outputFile: String
    /// Whether the pixels are handed over to other images, see `HandOvers`.
    let handsOver: Bool
    /// Whether that is all there is to do: the output has been published.
    let isAgain: Bool
    /// The number of the last crash while it was filtered; 0 for none.
    let crashes: Int
    let cancellation: CancellationFlag
}

/// How a filter begins and ends. The scheduler's operations call these, each first asking whether its
/// work is still wanted.
extension Board {
    /// Begins to filter an image; nil where that is not wanted any more, or there is no memory for it,
    /// which is for `filterNotBegun` to deal with.
    mutating func filterBegan(_ key: BatchKey, _ index: Int) -> FilterJob? {
        guard let batch = batches[key], let live = batch.live[index],
            live.phase == .queuedFilter,
            memory.take(firstNeed(index, of: batch), for: ticket(key, index), owner: batch.owner)
        else { return nil }
        let now = Clock.nanoseconds
        batch.live[index] = Batch.Live(phase: .filtering, since: now)
        batch.status.images[index].milliseconds.waited += Int((now - live.since) / 1_000_000)
        batch.setState(.filtering, of: index)
        let image = batch.manifest.images[index]
        let input: FilterJob.Input
        switch image.origin {
        case .source(let text):
            input = .source(slot: batch.sources[batch.sourceOfImage[index]].slot ?? 0, text: text)
        case .image(let other):
            input = .image(FilterJob.OtherPixels(other, of: batch.manifest))
        }
        let overlays = image.needs.map {
            (batch.manifest.images[$0].name, FilterJob.OtherPixels($0, of: batch.manifest))
        }
        let isAgain = batch.handOvers.isFilteredAgain(index)
        let handsOver = batch.handOvers.begin(index)
        return FilterJob(
            folders: batch.folders, image: index, name: image.name.string, input: input,
            autoOrient: image.autoOrient, filters: image.filters,
            overlays: Dictionary(uniqueKeysWithValues: overlays),
            output: image.output, outputFile: image.outputFile, handsOver: handsOver,
            isAgain: isAgain,
            crashes: batch.crashes[index]?.last ?? 0, cancellation: batch.cancellation)
    }

    /// What is to happen to a filter that was not allowed to begin. One whose image was taken back, and has another
    /// operation since, is nobody's.
    mutating func filterNotAllowed(_ key: BatchKey, _ index: Int) -> [Effect] {
        guard batches[key]?.live[index]?.phase == .queuedFilter else { return [] }
        return filterDeferred(key, index)
    }

    /// What is to happen to a filter that was ended by the daemon's stop or met a disk that takes no writes.
    /// Where its source was given back for that, the download comes first.
    mutating func filterDeferred(_ key: BatchKey, _ index: Int) -> [Effect] {
        var effects: [Effect] = []
        giveBackMemory(key, index, &effects)
        guard let batch = batches[key], let live = batch.live[index] else { return effects }
        if live.phase == .queuedDownload {
            return effects + [
                .statusChanged(key),
                .enqueue(
                    .download(key, source: batch.sourceOfImage[index]), batch.manifest.priority,
                    batch.manifest.qualityOfService),
            ]
        }
        batch.live[index]?.phase = .queuedFilter
        if batch.sourceOfImage[index] >= 0 {
            batch.setState(.downloaded, of: index)
        } else {
            batch.setState(.new, of: index)
        }
        effects += [
            .statusChanged(key),
            .enqueue(
                .filter(key, image: index), batch.manifest.priority,
                batch.manifest.qualityOfService),
        ]
        return effects
    }

    /// An image's picture has been made, or has failed: what is to be recorded of it.
    mutating func filterEnded(
        _ key: BatchKey, _ index: Int, result: Result<PictureReport, Failure>
    ) -> [Effect] {
        var effects: [Effect] = []
        giveBackMemory(key, index, &effects)
        guard let batch = batches[key], let live = batch.live[index] else { return effects }
        batch.status.images[index].milliseconds.filtering = Int(
            (Clock.nanoseconds - live.since) / 1_000_000)
        switch result {
        case .success(let report):
            var image = batch.status.images[index]
            image.state = .filtered
            image.output = ImageStatus.Output(
                file: batch.manifest.images[index].outputFile, format: report.format,
                sha256: report.sha256, bytes: report.bytes, width: report.width,
                height: report.height, depth: report.depth, channels: report.channels)
            let warnings = report.warnings + batch.remarks(onPixelsOf: index)
            image.warnings = warnings.isEmpty ? nil : warnings
            image.metadata = report.metadata.isEmpty ? nil : report.metadata
            batch.handOvers.compare(index, sha256: report.sha256)
            ended(index, of: batch, image, at: .filter, &effects)
            rotate(batch)
        case .failure(let failure):
            fail(index, of: batch, failure, at: .filter, &effects)
        }
        return effects
    }
}
