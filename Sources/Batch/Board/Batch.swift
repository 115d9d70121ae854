import DarkroomAnswer
import DarkroomCore
import DarkroomFetch
import DarkroomManifest
import DarkroomSpool

/// A manifest in work: the state of its images and sources. `Board` owns it and changes it, under its lock.
///
/// The phases of an image, and the state that users see:
///
/// | phase           | visible state | waits for                                      | left by                     |
/// |-----------------|---------------|------------------------------------------------|-----------------------------|
/// | (not admitted)  | `new`         | its blockers, then a place                     | `admitNext`                 |
/// | queuedDownload  | `new`, *      | the downloads queue                            | `downloadBegan`             |
/// | waitingDownload | `new`, *      | its turn, its host, or the time of its next attempt | `downloadBegan`, `retryDue` |
/// | downloading     | `downloading` | the source's transfer                          | `downloadEnded`             |
/// | queuedFilter    | `downloaded`  | the filters queue, or memory                   | `filterBegan`               |
/// | filtering       | `filtering`   | its own operation                              | `filterEnded`               |
/// | recording       | as before     | the publisher: file, journal                   | `imageEnded`                |
/// | (ended)         | `filtered`, `failed` or `cancelled` | –                        | –                           |
///
/// \* `downloading` after the first attempt for its source.
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

    /// A source. Several images may share it.
    struct Source {
        enum Phase: Equatable {
            case idle, queued, running, ready, failed(Failure)
            /// It waits for its next attempt. The number identifies the wait, because an abandoned wait may still end.
            case retrying(Int)
        }

        let text: ByteString
        var phase = Phase.idle
        /// Admitted images that wait for it.
        var waiters: [Int] = []
        /// Images that need it and have not ended.
        var users = 0
        /// The number of the scratch file for its bytes, from the beginning of the download until no image needs it.
        /// Between two attempts it has one only if the next attempt resumes the transfer.
        var slot: Int?
        /// From the first attempt until no image needs it.
        var attempts: DownloadAttempts?
        /// Whether it is queued, but waits outside the queue: for its turn, its host or another download of its URL.
        var waitsOutside = false
    }

    let key: BatchKey
    let folders: BatchFolders
    let manifest: Manifest
    /// The crashes of images during whose work a process died. They are filtered as in `Board.firstNeed`, or not at
    /// all.
    let crashes: [Int: Crashes]
    let cancellation = CancellationFlag()
    /// The board's internal status, see `shownStatus`.
    var status: Status
    /// The sum of the sizes of the outputs.
    private(set) var outputBytes: Int
    var sizes = SourceSizes()
    let workKinds: WorkKinds
    var handOvers: HandOverTable
    /// The first variants of images whose variants are filtered one by one, because they need too much memory together.
    var apart: Set<Int> = []
    var live = LiveImages()
    var sources: [Source] = []
    /// The index in `sources` for each image; -1 for an image made from another one.
    private(set) var sourceOfImage: [Int] = []
    /// For each image, the number of unfinished images that must end before it.
    var blockers: [Int] = []
    /// The images that must come after an image.
    private(set) var dependents: [Int: [Int]] = [:]
    /// Images without blockers any more, before the cursor or after it.
    var unblocked: [Int] = []
    /// The images before it have been examined.
    private var cursor = 0
    /// The sources that wait for their next attempt.
    var retrying: Set<Int> = []
    /// The number of images in the phase `waitingDownload` that the board has counted.
    var countedWaiting = 0
    /// Images that could begin, but during whose work a process died.
    private var suspects: [Int] = []
    private var freeSlots: [Int] = []
    private var slotCount = 0
    /// When its first image was admitted, in nanoseconds.
    private(set) var startedAt: UInt64?
    /// Whether parts of it were finished earlier: before a restart, a hold or a resumption.
    let isContinued: Bool
    /// Whether the batch is in the board's rotation for places.
    var isInRotation = false
    var isFinishing = false
    /// Whether its images get no places.
    private(set) var isHeld = false

    /// The state that control files have set.
    var control: ControlState { cancellation.isSet ? .cancelled : isHeld ? .held : .free }
    var level: Level { Level(manifest.priority, manifest.qualityOfService) }
    /// Whether the manifest was submitted in a folder, with pictures.
    var isFolder: Bool { status.manifest.isFolder == true }
    /// The user who submitted the manifest.
    var owner: FairShare.Owner { status.manifest.uid }

    init(key: BatchKey, prepared: PreparedBatch) {
        self.key = key
        folders = prepared.folders
        manifest = prepared.manifest
        workKinds = WorkKinds(of: manifest.images)
        status = prepared.status
        outputBytes = prepared.status.outputBytes
        crashes = prepared.crashes
        handOvers = HandOverTable(files: prepared.handOvers)
        isContinued = prepared.status.times.started != nil
        indexHandOvers()
        indexSources()
        indexDependencies()
        if prepared.control == .cancelled { cancellation.set() }
        setHeld(prepared.control == .held)
    }

    /// Holds the batch or releases it, and updates its state.
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

    /// A key that images with the same source share. URLs may be equal although they are written differently. Then the
    /// batch would wait for itself, for thousands of images.
    private static func key(of text: ByteString) -> ByteString {
        let isAsSent = text.utf8.allSatisfy {
            $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "#")
        }
        guard !isAsSent, case .remote(let url)? = try? SourceReference(text) else { return text }
        return url.requested
    }

    /// The sizes of sources are known now.
    func learnSizes(_ found: [(source: Int, bytes: Int)]) {
        var images: [Int: [UInt8: Int]] = [:]
        for (source, _) in found {
            let users = sources[source].users
            images[source] = workKinds.areAllOne && users > 0 ? [0: users] : [:]
        }
        if !workKinds.areAllOne {
            // There are not many images then.
            for (image, source) in sourceOfImage.enumerated()
            where images[source] != nil && !status.images[image].state.isFinal {
                images[source]?[workKinds[image], default: 0] += 1
            }
        }
        for (source, bytes) in found {
            sizes.learn(source, bytes: bytes, images: images[source] ?? [:])
        }
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

    // MARK: The next image

    /// Takes the next image that may begin and is not admitted; nil if there is none. Images that waited for others
    /// come first, so that a chain continues as soon as possible. Images during whose work a process died come last, so
    /// that another crash does not prevent the others from ending.
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

    /// The suspect with the fewest crashes.
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

    /// Marks the batch as begun.
    ///
    /// - Returns: the beginning to report, at the first call.
    func markStarted(now: UInt64) -> BatchBeginning? {
        guard startedAt == nil else { return nil }
        startedAt = now
        status.state = .processing
        if status.times.started == nil { status.times.started = Clock.timestamp }
        let counts = shownCounts
        return BatchBeginning(
            id: folders.id, images: counts.total - counts.finished,
            isContinued: isContinued,
            waited: isContinued
                ? nil
                : Clock.microseconds(from: status.times.received, to: status.times.started))
    }

    // MARK: Scratch files

    /// Gives a source a scratch file for its bytes, if possible a free one of another source. Files are overwritten
    /// instead of removed and created, because ext4 is slow to find a place for a new file after many have just been
    /// removed.
    func takeSlot(for source: Int) -> Int {
        let slot = freeSlots.popLast() ?? slotCount
        slotCount = max(slotCount, slot + 1)
        sources[source].slot = slot
        return slot
    }

    /// Makes a source's scratch file available to other sources.
    func releaseSlot(of source: Int) {
        guard let slot = sources[source].slot.take() else { return }
        freeSlots.append(slot)
    }

    /// Takes the free scratch files, so that none is used while its space is freed.
    func takeFreeSlots() -> [Int] {
        defer { freeSlots = [] }
        return freeSlots
    }

    func returnSlots(_ slots: [Int]) { freeSlots += slots }

    // MARK: Counts

    /// Changes an image's state and the counts.
    func setState(_ state: ImageState, of index: Int) {
        let old = status.images[index].state
        guard old != state else { return }
        count(index, times: -1)
        status.images[index].state = state
        count(index)
    }

    private func count(_ index: Int, times factor: Int = 1) {
        let isWarned = status.images[index].isWarned
        status.counts.count(status.images[index].state, isWarned: isWarned, times: factor)
    }

    /// Changes the whole status of an image, and the counts.
    func replace(_ index: Int, with image: ImageStatus) {
        count(index, times: -1)
        status.images[index] = image
        count(index)
    }

    /// Changes the status of an image that has ended.
    func setResult(_ image: ImageStatus, of index: Int) {
        replace(index, with: image)
        // The output of an image that was filtered again has been counted.
        if image.state == .filtered, !handOvers.isFilteredAgain(index) {
            outputBytes = outputBytes.saturatingAdd(image.output?.bytes ?? 0)
        }
    }

    var hasEnded: Bool { status.counts.finished == status.counts.total }

    /// The final state of an ended batch. Without a cancelled or failed image, it is completed.
    var finalState: BatchState {
        if status.counts.cancelled > 0 { return .cancelled }
        return status.counts.failed > 0 ? .completedWithErrors : .completed
    }
}

extension Manifest.Image {
    /// The images that must end before this one: those named in `after`, and those from which it is made.
    var blockers: [Int] {
        let needs = needs
        return after.filter { !needs.contains($0) } + needs
    }
}
