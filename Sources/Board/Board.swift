import DarkroomAnswer
import DarkroomCore
import DarkroomFetch
import DarkroomManifest

/// The batches in work and the waiting ones: which comes next, and the result of each image.
///
/// A value without threads, queues or files. Each call changes the state, and leaves what it requests in the pool.
/// `settle` gives out the places and returns the effects, which the scheduler carries out. It holds the board under a
/// lock:
///
///     let effects = board.withLock { board in
///         board.accept(prepared)
///         return board.settle(admits: true)  // For example, `start` with the first downloads of the batch.
///     }
///
/// Each batch has at most `window` images in work at once, and some more that wait to be published. The rest is only
/// data, because queues become slower with more operations. Places rotate among the owners of the highest level that
/// has work, and among each owner's batches, one image at a time. So a small manifest does not wait for a large one or
/// for many.
package struct Board {
    /// A batch that has its receipt and waits for its turn.
    package struct Waiting {
        package let id: String
        let level: Level
        let images: Int
        let owner: FairShare.Owner
        let priority: Priority
        /// When the manifest was taken.
        let received: String
        /// The states of its images, and the sum of the sizes of its outputs.
        let counts: Status.Counts
        let outputBytes: Int
        /// nil if there was no room to keep it, and while it is held.
        var prepared: PreparedBatch?
        /// While it is held, it gets no turn.
        package var control = ControlState.free
        var commands: [ControlRecord] = []
        /// Whether its turn has come and its folder is being read.
        var isInPreparation = false

        /// Its content if it had begun under a previous daemon, with the commands that came since.
        package var continued: PreparedBatch? {
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

    /// What the batches in work share.
    var pool: Pool
    var bounds: Bounds { pool.bounds }

    private var nextKey: BatchKey = 1
    package internal(set) var batches: [BatchKey: Batch] = [:]
    var waiting = [ActivationQueue](repeating: ActivationQueue(), count: Level.count)
    package internal(set) var waitingBatches = WaitingBatches()
    /// By ID. Strings are not suitable: two spellings of é are equal as strings, but are two folders.
    package private(set) var keys: [FileName: BatchKey] = [:]
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
    package var admission: Admission
    /// The key of a source in the cache; nil if nothing is cached, or for a local file.
    package var cacheKey: @Sendable (SourceReference) -> CacheKey? = { _ in nil }

    package init(_ settings: BoardSettings) { self.init(settings, Bounds()) }

    init(_ settings: BoardSettings, _ bounds: Bounds) {
        pool = Pool(settings, bounds)
        admission = Admission(downloads: settings.downloads, filters: settings.filters)
        pool.setLimits(settings)
    }

    package mutating func setLimits(_ settings: BoardSettings) {
        pool.setLimits(settings)
        follow(admission.setLimits(downloads: settings.downloads, filters: settings.filters))
    }

    // MARK: New batches

    /// Accepts a batch that has its receipt. If it was cancelled before a restart, it ends at once.
    package mutating func accept(_ prepared: PreparedBatch) {
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
            id: prepared.id,
            level: Level(prepared.manifest.priority, prepared.manifest.qualityOfService),
            images: images, owner: prepared.status.manifest.uid,
            priority: prepared.manifest.priority, received: prepared.status.times.received,
            counts: prepared.status.counts,
            outputBytes: isContinued ? prepared.status.outputBytes : 0,
            prepared: isKept ? prepared : nil, control: prepared.control,
            commands: prepared.status.commands ?? [])
        waitingBatches[key] = batch
        keys[FileName(prepared.id)] = key
        switch batch.control {
        case .cancelled: activate(key, batch)
        case .held: break
        case .free:
            waiting[batch.level.index].insert(key, of: batch.owner)
            // The file shows the states that its images had under the previous daemon.
            if isContinued { pool.mark(key) }
        }
    }

    /// Continues with a batch that had to be prepared from its folder.
    package mutating func prepared(_ key: BatchKey, _ prepared: PreparedBatch) {
        var prepared = prepared
        waitingBatches[key]?.hand(to: &prepared)
        begin(key, prepared)
    }

    /// Gives up a batch that could not be prepared. The failure has been reported. Its folder stays for the next start.
    package mutating func preparationFailed(_ key: BatchKey) {
        guard let batch = waitingBatches.removeValue(forKey: key) else { return }
        keys[FileName(batch.id)] = nil
        release(images: batch.images, batch.level, of: batch.owner)
    }

    mutating func begin(_ key: BatchKey, _ prepared: PreparedBatch) {
        var batch = Batch(key: key, prepared: prepared)
        waitingBatches[key] = nil
        batch.begin(&pool)
        batches[key] = batch
        FaultPoint.batchBegun.pass()
    }

    /// The batch's final status is in the outbox.
    package mutating func batchFinished(_ key: BatchKey) {
        guard var batch = batches.removeValue(forKey: key) else { return }
        keys[FileName(batch.id)] = nil
        batch.leaveRotation(&pool)
        release(images: batch.manifest.images.count, batch.level, of: batch.owner)
        batchesEnded += 1
    }

    /// The number of images in the manifests of unfinished batches that have begun, under this daemon or a previous
    /// one.
    package var imagesOfBegun: [BatchKey: Int] {
        let inWork = batches.filter { _, batch in
            batch.status.times.started != nil && !batch.isFinishing
        }.mapValues(\.manifest.images.count)
        let waiting = waitingBatches.filter { $0.value.continued != nil }.mapValues(\.images)
        return inWork.merging(waiting) { first, _ in first }
    }
}
