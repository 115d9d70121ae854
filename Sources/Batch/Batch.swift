import DarkroomCore
import DarkroomFetch
import DarkroomManifest
import DarkroomSpool

/// Identifies a batch while the daemon runs.
package typealias BatchKey = Int

/// One manifest in work: the state of its images and sources. Belongs to `Board`, which alone moves it
/// on, under its lock.
///
/// An image's way, and the state its users see:
///
/// | phase           | state shown   | waits for                         | left by                       |
/// |-----------------|---------------|-----------------------------------|-------------------------------|
/// | (not admitted)  | `new`         | its blockers, then a place        | `admitNext`                   |
/// | queuedDownload  | `new`, *      | the downloads queue               | `downloadBegan`               |
/// | waitingDownload | `new`, *      | its turn, its host, or its next attempt's moment  | `downloadBegan`, `retryDue` |
/// | downloading     | `downloading` | the source's transfer             | `downloadEnded`               |
/// | queuedFilter    | `downloaded`  | the filters queue, or memory      | `filterBegan`                 |
/// | filtering       | `filtering`   | its own operation                 | `filterEnded`                 |
/// | recording       | as before     | the publisher: file, journal      | `imageEnded`                  |
/// | (ended)         | `filtered`, `failed` or `cancelled` | –           | –                             |
///
/// \* `downloading` once its source has been tried.
package final class Batch {
    enum Phase {
        case queuedDownload, waitingDownload, downloading, queuedFilter, filtering, recording
    }

    /// An admitted image.
    struct Live {
        var phase: Phase
        /// When the phase began, in nanoseconds.
        var since: UInt64
    }

    /// A source, which several images may share.
    struct Source {
        enum Phase: Equatable {
            case idle, queued, running, ready, failed(Failure)
            /// Until its next attempt; with the number of the wait, for one that was given up may still end.
            case retrying(Int)
        }

        let text: ByteString
        var phase = Phase.idle
        /// Admitted images that wait for it.
        var waiters: [Int] = []
        /// Images that need it and have not ended.
        var users = 0
        /// The number of the scratch file it is fetched into, from its beginning until no image needs it; between
        /// two attempts only where what has arrived is gone on with.
        var slot: Int?
        /// From the first attempt until no image needs it.
        var attempts: DownloadAttempts?
        /// Whether it is queued, but waits outside the queue: for its turn, its host or another download of its URL.
        var waitsOutside = false
    }

    let key: BatchKey
    let folders: BatchFolders
    let manifest: Manifest
    /// Of the images that a process died with: they are filtered as `Board.firstNeed` says, or not at all.
    let crashes: [Int: Crashes]
    let cancellation = CancellationFlag()
    /// In the board's own eyes, see `shownStatus`.
    var status: Status
    var handOvers: HandOvers
    var live = LiveImages()
    var sources: [Source] = []
    /// The index in `sources` for each image, -1 for one made from another image.
    private(set) var sourceOfImage: [Int] = []
    /// How many images each image still comes after.
    var blockers: [Int] = []
    /// The images that come after an image.
    private(set) var dependents: [Int: [Int]] = [:]
    /// Images whose blockers have gone, ahead of the cursor or behind it.
    var unblocked: [Int] = []
    /// Images before it have been looked at.
    private var cursor = 0
    /// The sources that wait for their next attempt.
    var retrying: Set<Int> = []
    /// The images of phase `waitingDownload` that the board has counted.
    var countedWaiting = 0
    /// Images that could be taken, but that a process died with.
    private var suspects: [Int] = []
    private var freeSlots: [Int] = []
    private var slotCount = 0
    /// When its first image was admitted, in nanoseconds.
    private(set) var startedAt: UInt64?
    /// Whether some of it was done before it came here: before a restart or a hold, or before it was taken up again.
    let isContinued: Bool
    /// Whether the batch stands in the board's queue of those that may be given a place.
    var isInRotation = false
    var isFinishing = false
    /// Whether none of its images is given a place.
    private(set) var isHeld = false

    /// What control files have made of it.
    var control: ControlState { cancellation.isSet ? .cancelled : isHeld ? .held : .free }
    var level: Level { Level(manifest.priority, manifest.qualityOfService) }
    /// Who submitted the manifest.
    var owner: FairOrder.Owner { status.manifest.uid }

    init(key: BatchKey, prepared: PreparedBatch) {
        self.key = key
        folders = prepared.folders
        manifest = prepared.manifest
        status = prepared.status
        crashes = prepared.crashes
        handOvers = HandOvers(files: prepared.handOvers)
        isContinued = prepared.status.times.started != nil
        indexHandOvers()
        indexSources()
        indexDependencies()
        if prepared.control == .cancelled { cancellation.set() }
        setHeld(prepared.control == .held)
    }

    /// Holds the batch or lets it go on, and shows it.
    func setHeld(_ held: Bool) {
        isHeld = held
        if held {
            status.state = .held
        } else if status.state == .held {
            status.state = startedAt == nil ? .pending : .processing
        }
    }

    private func indexSources() {
        var indices: [ByteString: Int] = [:]
        sourceOfImage.reserveCapacity(manifest.images.count)
        for (index, image) in manifest.images.enumerated() {
            guard case .source(let text) = image.origin else {
                sourceOfImage.append(-1)
                continue
            }
            let key = Self.key(of: text)
            let source = indices[key] ?? sources.count
            if source == sources.count {
                indices[key] = source
                sources.append(Source(text: text))
            }
            if !status.images[index].state.isFinal { sources[source].users += 1 }
            sourceOfImage.append(source)
        }
    }

    /// What images with the same source have in common. URLs may be the same though written differently, and the
    /// batch would wait for itself for thousands of them.
    private static func key(of text: ByteString) -> ByteString {
        let isAsSent = text.utf8.allSatisfy {
            $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "#")
        }
        guard !isAsSent, case .remote(let url)? = try? SourceReference(text) else { return text }
        return url.requested
    }

    private func indexDependencies() {
        blockers = [Int](repeating: 0, count: manifest.images.count)
        for (index, image) in manifest.images.enumerated()
        where !status.images[index].state.isFinal {
            for blocker in image.blockers where !status.images[blocker].state.isFinal {
                blockers[index] += 1
                dependents[blocker, default: []].append(index)
            }
        }
    }

    // MARK: Choosing the next image

    /// Takes the next image that may begin out of those not admitted, or nil. Images that were waiting
    /// for others go first, so that a chain moves on as soon as it can; those that a process died with
    /// come last, so that they do not keep others from ending should it happen again.
    func takeNext() -> Int? {
        while let index = unblocked.popLast() {
            if isNew(index), !isPutOff(index) { return index }
        }
        while cursor < manifest.images.count {
            let index = cursor
            cursor += 1
            if blockers[index] == 0, isNew(index), !isPutOff(index) { return index }
        }
        return takeSuspect()
    }

    private func isPutOff(_ index: Int) -> Bool {
        guard let crashes = crashes[index], !crashes.shouldQuarantine else { return false }
        suspects.append(index)
        return true
    }

    /// The one that the fewest crashes speak against.
    private func takeSuspect() -> Int? {
        suspects.removeAll { !isNew($0) }
        let least = suspects.indices.min { a, b in
            (crashes[suspects[a]]?.last ?? 0) < (crashes[suspects[b]]?.last ?? 0)
        }
        return least.map { suspects.remove(at: $0) }
    }

    private func isNew(_ index: Int) -> Bool {
        live[index] == nil && !status.images[index].state.isFinal
    }

    /// Gives what there is to be told of it the first time.
    func markStarted(now: UInt64) -> BatchBeginning? {
        guard startedAt == nil else { return nil }
        startedAt = now
        status.state = .processing
        if status.times.started == nil { status.times.started = Clock.timestamp }
        let counts = shownStatus.counts
        return BatchBeginning(
            id: folders.id, images: counts.total - counts.finished,
            isContinued: isContinued,
            waited: isContinued
                ? nil
                : Clock.microseconds(from: status.times.received, to: status.times.started))
    }

    // MARK: Scratch files

    /// Gives a source a scratch file for its bytes, one that another source has left if there is any: files
    /// are written over rather than made and removed, for ext4 is slow to find a place for a new one among
    /// many that were removed a moment ago.
    func takeSlot(for source: Int) -> Int {
        let slot = freeSlots.popLast() ?? slotCount
        slotCount = max(slotCount, slot + 1)
        sources[source].slot = slot
        return slot
    }

    /// Leaves a source's scratch file to others.
    func releaseSlot(of source: Int) {
        guard let slot = sources[source].slot.take() else { return }
        freeSlots.append(slot)
    }

    /// Takes the scratch files that no source has, so that nobody else does while their bytes are given back.
    func takeFreeSlots() -> [Int] {
        defer { freeSlots = [] }
        return freeSlots
    }

    func returnSlots(_ slots: [Int]) { freeSlots += slots }

    // MARK: Keeping the counts

    /// Changes an image's state and the counts with it.
    func setState(_ state: ImageState, of index: Int) {
        let old = status.images[index].state
        guard old != state else { return }
        status.counts[old] -= 1
        status.counts[state] += 1
        status.images[index].state = state
    }

    var hasEnded: Bool { status.counts.finished == status.counts.total }

    /// The state that the counts of an ended batch make. One whose every image failed has not completed,
    /// and neither has one that someone stopped.
    var finalState: BatchState {
        if status.counts.cancelled > 0 { return .cancelled }
        return status.counts.failed > 0 ? .completedWithErrors : .completed
    }
}

extension Manifest.Image {
    /// The images this one comes after: those named, and those it is made of.
    var blockers: [Int] {
        let needs = needs
        return after.filter { !needs.contains($0) } + needs
    }
}
