import DarkroomAnswer
import DarkroomCore
import DarkroomFetch
import DarkroomManifest
import DarkroomPicture
import DarkroomSpool

/// The data for a download operation.
struct DownloadJob: Sendable {
    let folders: BatchFolders
    /// The number of the scratch file for the content.
    let slot: Int
    let text: ByteString
    /// The first of the images that wait for it, for the journal.
    let image: String
    /// The number of this attempt; nil for a local file.
    let attempt: Int?
    /// The content of the scratch file from an earlier attempt.
    let partial: PartialBody?
    /// Whether the manifest was submitted in a folder, with pictures.
    var isFolder = false
    let cancellation: CancellationFlag
}

/// The data for a filter operation.
struct FilterJob: Sendable {
    enum Input: Sendable {
        /// `active/ID/source-SLOT`, or the local file that the source names.
        case source(slot: Int, text: ByteString)
        case image(OtherPixels)
    }

    /// The place of the filtered pixels of another image.
    struct OtherPixels: Sendable {
        /// Its output, in the outbox; only for messages if its pixels are handed over.
        let file: String
        /// Its number if its pixels are read from `active/ID/pixels-N`, because its output is lossy or it has none.
        let handOver: Int?

        init(_ index: Int, of manifest: Manifest) {
            let image = manifest.images[index]
            file = image.resultName
            handOver = image.isHandedOver ? index : nil
        }
    }

    let folders: BatchFolders
    let image: Int
    let name: String
    let input: Input
    let autoOrient: Bool
    var damaged = DamagedRule.fail
    /// Whether a warning makes it fail.
    var isStrict = false
    /// If it is strict: the warnings that it gets for the images of which it is made.
    var warnings: [String] = []
    let filters: [Filter]
    /// How many of these at the beginning are the same for all variants of the image.
    var commonFilters = 0
    /// The pixels of overlays, by the names of their images.
    let overlays: [ByteString: OtherPixels]
    let output: OutputOptions
    /// Its result in messages.
    let resultName: String
    /// Whether it has an output, and not only pixels for other images.
    let isPublished: Bool
    /// Whether the pixels are handed over to other images, see `HandOverTable`.
    let handsOver: Bool
    /// Whether this is the only purpose: the output has already been published.
    let isAgain: Bool
    /// Whether the manifest was submitted in a folder, with pictures.
    var isFolder = false
    /// Whether the manifest wants a page; nil if it does not say so.
    var wantsPage: Bool?
    /// The number of the last crash while it was filtered; 0 for none.
    let crashes: Int
    let cancellation: CancellationFlag
}

/// The beginning and the end of a filter. The scheduler's operations call these functions. Each first checks whether
/// its work is still needed.
extension Board {
    /// Begins to filter an image, and with it the other variants that are ready, see `Board+Variants.swift`. Empty if
    /// nobody needs it any more or if there is no memory for it. `filterNotBegun` handles both cases.
    mutating func filterBegan(
        _ key: BatchKey, _ index: Int, _ effects: inout [Effect]
    ) -> [FilterJob] {
        guard let batch = batches[key], batch.live[index]?.phase == .queuedFilter,
            memory.take(firstNeed(index, of: batch), for: ticket(key, index), owner: batch.owner)
        else { return [] }
        let companions = companions(of: index, batch)
        for companion in companions { takeAlong(companion, of: batch, &effects) }
        return ([index] + companions).map { filterJob($0, of: batch) }
    }

    private func filterJob(_ index: Int, of batch: Batch) -> FilterJob {
        let now = Clock.nanoseconds
        let since = batch.live[index]?.since ?? now
        batch.live[index] = Batch.Live(phase: .filtering, since: now)
        batch.status.images[index].milliseconds.waited += Int((now - since) / 1_000_000)
        if batch.status.images[index].times == nil { batch.status.images[index].times = .init() }
        batch.status.images[index].times?.filtering = .now
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
            autoOrient: image.autoOrient, damaged: image.damaged, isStrict: image.isStrict,
            warnings: image.isStrict ? batch.remarks(onPixelsOf: index) : [],
            filters: image.filters,
            commonFilters: image.variant?.commonFilters ?? 0,
            overlays: Dictionary(uniqueKeysWithValues: overlays),
            output: image.encoding, resultName: image.resultName,
            isPublished: image.isPublished, handsOver: handsOver,
            isAgain: isAgain, isFolder: batch.isFolder, wantsPage: batch.manifest.wantsPage,
            crashes: batch.crashes[index]?.last ?? 0, cancellation: batch.cancellation)
    }

    /// A filter was not allowed to begin. If its image was taken back and has another operation now, this does nothing.
    mutating func filterNotAllowed(_ key: BatchKey, _ index: Int) -> [Effect] {
        guard batches[key]?.live[index]?.phase == .queuedFilter else { return [] }
        return filterDeferred(key, index)
    }

    /// A filter was stopped by the daemon's stop, or met a disk that accepts no writes. If its source was given up for
    /// that, the download comes first.
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

    /// An image's picture has been made, or has failed. The result is recorded.
    ///
    /// - Parameter share: the number of images that had the operation together.
    mutating func filterEnded(
        _ key: BatchKey, _ index: Int, result: Result<DevelopedPicture, Failure>, share: Int = 1
    ) -> [Effect] {
        var effects: [Effect] = []
        giveBackMemory(key, index, &effects)
        guard let batch = batches[key], let live = batch.live[index] else { return effects }
        let time = Clock.nanoseconds - live.since
        batch.status.images[index].milliseconds.filtering = Int(time / 1_000_000)
        switch result {
        case .success(let picture):
            let report = picture.report
            batch.sizes.took(
                batch.sourceOfImage[index], kind: batch.workKinds[index],
                seconds: Double(time) / 1e9 / Double(share))
            var image = batch.status.images[index]
            image.state = .filtered
            if batch.manifest.images[index].isPublished {
                image.output = ImageStatus.Output(
                    file: batch.manifest.images[index].outputFile, format: report.format,
                    sha256: report.sha256, bytes: report.bytes, width: report.width,
                    height: report.height, depth: report.depth, channels: report.channels)
            }
            image.sourceSHA256 = picture.sourceSHA256
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
