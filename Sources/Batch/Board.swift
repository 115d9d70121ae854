import DarkroomCore
import DarkroomFetch
import DarkroomManifest
import DarkroomPicture
import DarkroomSpool

/// The batches in work and those waiting for it: who goes next, and what became of each image.
///
/// A value without threads, queues or files: every call changes the state and says what is to be done. The
/// scheduler holds it under a lock.
///
/// Each batch has at most `window` images in work at once, and some more that wait to be published; the rest is data, for operations in a queue
/// cost more the more there are. Places go round the owners of the highest level that has any work, and round each
/// owner's batches, one image at a time, so that a small manifest is not stuck behind a large one or behind many.
package struct Board {
    /// A batch that has its receipt and waits for its turn to be worked on.
    struct Waiting {
        let folders: BatchFolders
        let level: Level
        let images: Int
        /// The manifest's owner.
        let uid: UInt32?
        /// nil where there was no room to keep it, and while it is held.
        var prepared: PreparedBatch?
        /// While it is held its turn does not come.
        var control = ControlState.free
        var commands: [ControlRecord] = []
        /// Whether its turn has come and its folder is being read.
        var isInPreparation = false

        /// What is known of it where it had begun under a former daemon, with the commands that came since.
        var continued: PreparedBatch? {
            guard control != .held, var prepared, prepared.status.times.started != nil else {
                return nil
            }
            hand(to: &prepared)
            return prepared
        }
    }

    /// Admitted images of one batch at once.
    var window: Int
    /// Admitted images of one level at once, over all batches.
    let placesPerLevel: Int
    /// How many admitted images keep both queues busy: while a higher quality of service has as many, a lower
    /// one of the same priority gets no places, but for owners who have none.
    var saturation: Int
    /// Images of all batches in work at once, which bounds the memory. One batch of more than a quarter of it,
    /// a large one, may be in work besides. A quarter more is for those of at most `smallBatch` images, so that an
    /// urgent one does not wait for others to end, another for owners who have no more than an eighth of it, and half as
    /// much again for such a small one of an owner who has nothing in work.
    let imageBudget: Int
    /// Batches of one level in work at once: enough to fill its places twice over; a quarter more for owners who
    /// have less than an eighth of them; and as many again for owners who have nothing in work. A batch that waits takes less memory, and beyond `batches.maxWaiting` it stays in
    /// the inbox.
    let batchesPerLevel: Int
    /// Batches waiting that are kept whole in memory, counted in images.
    let preparedBudget: Int

    private var nextKey: BatchKey = 1
    var batches: [BatchKey: Batch] = [:]
    var waiting = [WaitingLines](repeating: WaitingLines(), count: Level.count)
    var waitingBatches = WaitingBatches()
    var rotation = [Rotation](repeating: Rotation(), count: Level.count)
    /// Of each level, by owner: admitted images that do not wait for anything outside the queues.
    var placesOfOwner = [[FairOrder.Owner: Int]](repeating: [:], count: Level.count)
    /// Admitted images of each level.
    var places = [Int](repeating: 0, count: Level.count)
    /// Of them, those that wait for their turn, their host or their next attempt.
    var waitingPlaces = [Int](repeating: 0, count: Level.count)
    /// By ID. Strings would not do: two spellings of an é are equal to them, and two folders.
    private(set) var keys: [FileName: BatchKey] = [:]
    /// Of the batches that are not large.
    var imagesInWork = 0
    var batchesInWork = [Int](repeating: 0, count: Level.count)
    var largeBatchesInWork = 0
    /// Of all batches in work, large ones included.
    var imagesOfOwner: [FairOrder.Owner: Int] = [:]
    var batchesOfOwner = [[FairOrder.Owner: Int]](repeating: [:], count: Level.count)
    var imagesPrepared = 0
    /// Since the start.
    private(set) var batchesEnded = 0
    /// Where the work stands that is wanted.
    var admission = Admission(
        downloads: DownloadFairQueue.Limits(places: 16, perHost: 6), filters: FilterPlaces(width: 1)
    )
    /// What a source's bytes are kept by; nil where nothing is kept, or the source is a file of this machine.
    var cacheKey: @Sendable (ByteString) -> CacheKey? = { _ in nil }
    /// What the images in work have and wait for.
    var memory = MemoryBudget()
    /// When a download that failed is retried.
    var backOff = BackOff()
    /// Where the jitter of its waits comes from: a number from 0 to 1.
    var jitter: @Sendable () -> Double = { Double.random(in: 0...1) }
    /// How often a download was made to wait for its next attempt.
    var lastRetry = 0

    init(
        window: Int, saturation: Int, placesPerLevel: Int = 512, imageBudget: Int = 262_144,
        batchesPerLevel: Int = 1024, preparedBudget: Int = 65_536
    ) {
        self.window = window
        self.saturation = saturation
        self.placesPerLevel = placesPerLevel
        self.imageBudget = imageBudget
        self.batchesPerLevel = batchesPerLevel
        self.preparedBudget = preparedBudget
    }

    // MARK: Taking batches in

    /// Takes in a batch that has its receipt. One that was cancelled before a restart is ended at once.
    mutating func accept(_ prepared: PreparedBatch) -> [Effect] {
        let key = nextKey
        nextKey += 1
        let images = prepared.manifest.images.count
        // One that had begun is kept, for its status has to be written anew; what was in work at once is bounded.
        let isContinued = prepared.status.times.started != nil
        let isKept =
            prepared.control != .held
            && (isContinued || imagesPrepared + images <= preparedBudget || waitingBatches.isEmpty)
        if isKept { imagesPrepared += images }
        let batch = Waiting(
            folders: prepared.folders,
            level: Level(prepared.manifest.priority, prepared.manifest.qualityOfService),
            images: images, uid: prepared.status.manifest.uid, prepared: isKept ? prepared : nil,
            control: prepared.control, commands: prepared.status.commands ?? [])
        waitingBatches[key] = batch
        keys[FileName(prepared.folders.id)] = key
        var effects: [Effect] = []
        switch batch.control {
        case .cancelled: activate(key, batch, &effects)
        case .held: break
        case .free:
            waiting[batch.level.index].insert(key, of: batch.uid)
            // The file shows its images as the former daemon had them.
            if isContinued { effects.append(.statusChanged(key)) }
        }
        return effects
    }

    /// Goes on with a batch that had to be prepared from its folder.
    mutating func prepared(_ key: BatchKey, _ prepared: PreparedBatch) -> [Effect] {
        var effects: [Effect] = []
        var prepared = prepared
        waitingBatches[key]?.hand(to: &prepared)
        begin(key, prepared, &effects)
        return effects
    }

    /// Gives up a batch that could not be prepared, its failure having been told. Its folder stays for the
    /// next start.
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
        // A restart may have come between the last end of those that needed them and their removal.
        for index in batch.handOvers.unneeded { dropHandOver(of: index, batch, &effects) }
        if batch.cancellation.isSet { cancelImages(of: batch, &effects) }
        // A restart may have come between an image's end and those made from it, or before the batch's end.
        failOrphans(of: batch, &effects)
        finishIfEnded(batch, &effects)
        rotate(batch)
        if prepared.status.commands != nil { effects.append(.statusChanged(key)) }
        parkIfIdle(batch, &effects)
    }

    // MARK: Ends

    /// Has an image's failure recorded; it ends when that is done.
    func fail(
        _ index: Int, of batch: Batch, _ failure: Failure, at step: Step,
        _ effects: inout [Effect]
    ) {
        var image = batch.status.images[index]
        image.state = failure.code == PictureError.Code.cancelled.rawValue ? .cancelled : .failed
        image.error = failure
        ended(index, of: batch, image, at: step, &effects)
    }

    /// An image has ended for good: the journal has it, or had it before.
    mutating func imageEnded(_ key: BatchKey, _ index: Int, _ image: ImageStatus) -> [Effect] {
        guard let batch = batches[key] else { return [] }
        var effects: [Effect] = []
        let state = image.state
        batch.setState(state, of: index)
        batch.status.images[index] = image
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
            if batch.sources[source].users == 0 {
                batch.releaseSlot(of: source)
                batch.sources[source].attempts = nil
            }
        }
        if let former = batch.handOvers.end(again: index) {
            batch.setState(former.state, of: index)
            batch.status.images[index] = former
        }
        releaseHandOvers(of: index, batch, &effects)
        effects.append(.statusChanged(batch.key))
    }

    /// Lets go of the images that came after `index`, which has ended like `image`; one that was to be made of it
    /// fails with it.
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

    /// Fails the images that were to be made of one that has ended without an output.
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
        // Another attempt begins with the image that is missing, so it helps here where it helps there.
        let cause = image.error.map { " (\($0.code))" } ?? ""
        let failure = Failure(
            .dependencyFailed,
            "\(batch.status.images[index].name) "
                + "\(isOverlay ? "has the overlay" : "is made from") \(image.name), "
                + "which \(image.state == .cancelled ? "was cancelled" : "has failed")\(cause)",
            isTransient: image.error?.isTransient ?? false)
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
        release(images: batch.manifest.images.count, batch.level, of: batch.owner)
        batchesEnded += 1
    }

    /// The manifests' images of the batches that have begun under this daemon or a former one, and could go on.
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
