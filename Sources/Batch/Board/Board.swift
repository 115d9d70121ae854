import DarkroomAnswer
import DarkroomCore
import DarkroomFetch
import DarkroomManifest
import DarkroomPicture
import DarkroomSpool

/// The batches in work and the waiting ones: which comes next, and the result of each image.
///
/// A value without threads, queues or files: each call changes the state and returns the necessary effects. The
/// scheduler holds it under a lock.
///
/// Each batch has at most `window` images in work at once, and some more that wait to be published. The rest is only
/// data, because queues become slower with more operations. Places rotate among the owners of the highest level that
/// has work, and among each owner's batches, one image at a time. So a small manifest does not wait for a large one or
/// for many.
package struct Board {
    /// A batch that has its receipt and waits for its turn.
    struct Waiting {
        let folders: BatchFolders
        let level: Level
        let images: Int
        /// The manifest's owner.
        let uid: UInt32?
        let priority: Priority
        /// When the manifest was taken.
        let received: String
        /// The states of its images, and the sum of the sizes of its outputs.
        let counts: Status.Counts
        let outputBytes: Int
        /// nil if there was no room to keep it, and while it is held.
        var prepared: PreparedBatch?
        /// While it is held, it gets no turn.
        var control = ControlState.free
        var commands: [ControlRecord] = []
        /// Whether its turn has come and its folder is being read.
        var isInPreparation = false

        /// Its content if it had begun under a previous daemon, with the commands that came since.
        var continued: PreparedBatch? {
            guard control != .held, var prepared, prepared.status.times.started != nil else {
                return nil
            }
            hand(to: &prepared)
            return prepared
        }
    }

    /// Limits that are not settings.
    struct Bounds: Sendable {
        /// Images of one level, over all batches, that may have places at once.
        var placesPerLevel = 512
        /// Images of all batches in work, which limits the memory. One batch with more than a quarter of this number, a
        /// large one, may be in work in addition. A quarter more is for batches with at most `smallBatch` images, so that
        /// an urgent one does not wait for others to end. Another quarter is for owners with at most an eighth of the
        /// budget. Half as much again is for a small batch of an owner with nothing in work.
        var imageBudget = 262_144
        /// Batches of one level that may be in work at once: enough to fill its places twice. A quarter more is for owners
        /// with less than an eighth of them, and the same number again for owners with nothing in work. A waiting batch
        /// needs less memory. Beyond `batches.maxWaiting`, manifests stay in the inbox.
        var batchesPerLevel = 1024
        /// How many images waiting batches may have together to be kept completely in memory.
        var preparedBudget = 65_536
    }

    /// Images of one batch that may have places at once.
    var window: Int
    /// How many admitted images keep both queues busy. While a higher quality of service of the same priority has this
    /// number, a lower one gets no places, except for owners without any.
    var saturation: Int
    let bounds: Bounds

    private var nextKey: BatchKey = 1
    var batches: [BatchKey: Batch] = [:]
    var waiting = [ActivationQueue](repeating: ActivationQueue(), count: Level.count)
    var waitingBatches = WaitingBatches()
    var rotation = [BatchRotation](repeating: BatchRotation(), count: Level.count)
    /// For each level and owner: admitted images that do not wait outside the queues.
    var placesOfOwner = [[FairShare.Owner: Int]](repeating: [:], count: Level.count)
    /// For each level: admitted images.
    var places = [Int](repeating: 0, count: Level.count)
    /// For each level: admitted images that wait for their turn, their host or their next attempt.
    var waitingPlaces = [Int](repeating: 0, count: Level.count)
    /// By ID. Strings are not suitable: two spellings of é are equal as strings, but are two folders.
    private(set) var keys: [FileName: BatchKey] = [:]
    /// The images of the batches that are not large.
    var imagesInWork = 0
    var batchesInWork = [Int](repeating: 0, count: Level.count)
    var largeBatchesInWork = 0
    /// The images of all batches in work, including large ones.
    var imagesOfOwner: [FairShare.Owner: Int] = [:]
    var batchesOfOwner = [[FairShare.Owner: Int]](repeating: [:], count: Level.count)
    var imagesPrepared = 0
    /// Since the start.
    private(set) var batchesEnded = 0
    /// The place of each requested piece of work.
    var admission: Admission
    /// The key of a source in the cache; nil if nothing is cached, or for a local file.
    var cacheKey: @Sendable (ByteString) -> CacheKey? = { _ in nil }
    /// The memory that images in work have, and the images that wait for memory.
    var memory = MemoryBudget()
    /// When a failed download is retried.
    var retryPolicy = DownloadRetryPolicy()
    /// The source of the jitter of its waits: a number from 0 to 1.
    var jitter: @Sendable () -> Double = { Double.random(in: 0...1) }
    /// The number of the last wait for a next attempt.
    var lastRetry = 0

    package init(_ settings: BatchSettings) {
        self.init(settings, Bounds())
    }

    init(_ settings: BatchSettings, _ bounds: Bounds) {
        self.bounds = bounds
        window = settings.window
        saturation = settings.saturation
        retryPolicy = settings.retryPolicy
        admission = Admission(downloads: settings.downloadLimits, filters: settings.filterSlots)
        _ = setMemory(limit: settings.memory, places: settings.filterSlots)
    }

    // MARK: New batches

    /// Accepts a batch that has its receipt. If it was cancelled before a restart, it ends at once.
    mutating func accept(_ prepared: PreparedBatch) -> [Effect] {
        let key = nextKey
        nextKey += 1
        let images = prepared.manifest.images.count
        // A batch that had begun is kept in memory, because its status must be rewritten. The number of these batches
        // is limited, because the number of batches in work was.
        let isContinued = prepared.status.times.started != nil
        let isKept =
            prepared.control != .held
            && (isContinued || imagesPrepared + images <= bounds.preparedBudget
                || waitingBatches.isEmpty)
        if isKept { imagesPrepared += images }
        let batch = Waiting(
            folders: prepared.folders,
            level: Level(prepared.manifest.priority, prepared.manifest.qualityOfService),
            images: images, uid: prepared.status.manifest.uid,
            priority: prepared.manifest.priority, received: prepared.status.times.received,
            counts: prepared.status.counts,
            outputBytes: isContinued ? prepared.status.outputBytes : 0,
            prepared: isKept ? prepared : nil, control: prepared.control,
            commands: prepared.status.commands ?? [])
        waitingBatches[key] = batch
        keys[FileName(prepared.folders.id)] = key
        var effects: [Effect] = []
        switch batch.control {
        case .cancelled: activate(key, batch, &effects)
        case .held: break
        case .free:
            waiting[batch.level.index].insert(key, of: batch.uid)
            // The file shows the states that its images had under the previous daemon.
            if isContinued { effects.append(.statusChanged(key)) }
        }
        return effects
    }

    /// Continues with a batch that had to be prepared from its folder.
    mutating func prepared(_ key: BatchKey, _ prepared: PreparedBatch) -> [Effect] {
        var effects: [Effect] = []
        var prepared = prepared
        waitingBatches[key]?.hand(to: &prepared)
        begin(key, prepared, &effects)
        return effects
    }

    /// Gives up a batch that could not be prepared. The failure has been reported. Its folder stays for the next start.
    mutating func preparationFailed(_ key: BatchKey) {
        guard let batch = waitingBatches.removeValue(forKey: key) else { return }
        keys[FileName(batch.folders.id)] = nil
        release(images: batch.images, batch.level, of: batch.uid)
    }

    mutating func begin(
        _ key: BatchKey, _ prepared: PreparedBatch, _ effects: inout [Effect]
    ) {
        let batch = Batch(key: key, prepared: prepared)
        waitingBatches[key] = nil
        batches[key] = batch
        // A restart may have followed the last end of the images that needed them, before their removal.
        for index in batch.handOvers.unneeded { dropHandOver(of: index, batch, &effects) }
        if batch.cancellation.isSet { cancelImages(of: batch, &effects) }
        // A restart may have followed an image's end, before the end of the images made from it or of the batch.
        failOrphans(of: batch, &effects)
        finishIfEnded(batch, &effects)
        rotate(batch)
        if prepared.status.commands != nil { effects.append(.statusChanged(key)) }
        parkIfIdle(batch, &effects)
    }

    // MARK: Ends

    /// Has an image's failure recorded. The image ends when that is done.
    func fail(
        _ index: Int, of batch: Batch, _ failure: Failure, at step: Step,
        _ effects: inout [Effect]
    ) {
        var image = batch.status.images[index]
        image.state = failure.code == PictureError.Code.cancelled.rawValue ? .cancelled : .failed
        image.error = failure
        ended(index, of: batch, image, at: step, &effects)
    }

    /// An image has its final result, which is in the journal.
    mutating func imageEnded(_ key: BatchKey, _ index: Int, _ image: ImageStatus) -> [Effect] {
        guard let batch = batches[key] else { return [] }
        var effects: [Effect] = []
        batch.setResult(image, of: index)
        end(index, of: batch, &effects)
        release(dependentsOf: index, image, of: batch, &effects)
        finishIfEnded(batch, &effects)
        rotate(batch)
        parkIfIdle(batch, &effects)
        return effects
    }

    /// Frees what an ended image held.
    mutating func end(_ index: Int, of batch: Batch, _ effects: inout [Effect]) {
        if batch.live.remove(index) { countPlace(-1, of: batch) }
        batch.status.images[index].download?.retryAt = nil
        countWaiting(batch)
        giveBackMemory(batch.key, index, &effects)
        let source = batch.sourceOfImage[index]
        if source >= 0 {
            batch.sources[source].users -= 1
            batch.sizes.imageEnded(
                source, kind: batch.workKinds[index], isLast: batch.sources[source].users == 0)
            if batch.sources[source].users == 0 {
                batch.releaseSlot(of: source)
                batch.sources[source].attempts = nil
            }
        }
        if let former = batch.handOvers.end(again: index) {
            batch.replace(index, with: former)
        }
        releaseHandOvers(of: index, batch, &effects)
        effects.append(.statusChanged(batch.key))
    }

    /// Releases the images that must come after `index`, which has ended like `image`. Those that were to be made from
    /// it fail with it.
    private mutating func release(
        dependentsOf index: Int, _ image: ImageStatus, of batch: Batch, _ effects: inout [Effect]
    ) {
        for dependent in batch.dependents[index] ?? [] {
            batch.blockers[dependent] -= 1
            guard !batch.status.images[dependent].state.isFinal, batch.live[dependent] == nil
            else { continue }
            if image.state != .filtered,
                batch.manifest.images[dependent].needs.contains(index)
            {
                failOrphan(dependent, of: batch, missing: index, image, &effects)
            } else if batch.blockers[dependent] == 0 {
                batch.unblocked.append(dependent)
            }
        }
    }

    /// Fails the images that were to be made from one that has ended without an output.
    private mutating func failOrphans(of batch: Batch, _ effects: inout [Effect]) {
        for (index, image) in batch.manifest.images.enumerated()
        where !batch.status.images[index].state.isFinal {
            let missing = image.needs.first {
                let state = batch.status.images[$0].state
                return state.isFinal && state != .filtered
            }
            if let missing {
                let image = batch.status.images[missing]
                failOrphan(index, of: batch, missing: missing, image, &effects)
            }
        }
    }

    private mutating func failOrphan(
        _ index: Int, of batch: Batch, missing: Int, _ image: ImageStatus,
        _ effects: inout [Effect]
    ) {
        countPlace(1, of: batch)
        batch.live[index] = Batch.Live(phase: .recording, since: Clock.nanoseconds)
        let isOverlay = batch.manifest.images[index].overlays.contains(missing)
        let failure = Failure(
            of: batch.status.images[index].name, dependingOn: image.name, isOverlay: isOverlay,
            wasCancelled: image.state == .cancelled, image.error)
        fail(index, of: batch, failure, at: .wait, &effects)
    }

    func finishIfEnded(_ batch: Batch, _ effects: inout [Effect]) {
        guard batch.hasEnded, !batch.isFinishing else { return }
        batch.isFinishing = true
        batch.status.state = batch.finalState
        batch.status.times.finished = Clock.timestamp
        effects.append(.finish(batch.key))
    }

    /// The batch's final status is in the outbox.
    mutating func batchFinished(_ key: BatchKey) {
        guard let batch = batches.removeValue(forKey: key) else { return }
        keys[FileName(batch.folders.id)] = nil
        leaveRotation(batch)
        release(images: batch.manifest.images.count, batch.level, of: batch.owner)
        batchesEnded += 1
    }

    /// The number of images in the manifests of unfinished batches that have begun, under this daemon or a previous
    /// one.
    var imagesOfBegun: [BatchKey: Int] {
        let inWork = batches.filter { _, batch in
            batch.status.times.started != nil && !batch.isFinishing
        }.mapValues(\.manifest.images.count)
        let waiting = waitingBatches.filter { $0.value.continued != nil }.mapValues(\.images)
        return inWork.merging(waiting) { first, _ in first }
    }
}

extension Batch {
    func millisecondsSinceStart(_ now: UInt64) -> Int {
        startedAt.map { Int((now - $0) / 1_000_000) } ?? 0
    }
}
