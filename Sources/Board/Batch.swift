import DarkroomAnswer
import DarkroomCore
import DarkroomFetch
import DarkroomManifest

/// A manifest in work: the stages of its images, see `ImageStage`, and the phases of its sources. `Board` owns it. What it
/// shares with other batches is in `Pool`.
package struct Batch {
    /// A source. Several images may share it.
    package struct Source {
        package enum Phase: Equatable {
            /// Nothing has been requested.
            case idle
            /// Its download has been requested, and has not begun.
            case queued
            case running
            /// Its bytes are there, for the filters. `sourceGivenBack` leads back to `queued`.
            case ready
            /// Each of its images fails.
            case failed(Failure)
            /// It waits for its next attempt. The number identifies the wait, because an abandoned wait may still end.
            case retrying(Int)

            /// Whether it waits to begin, for any reason.
            var isToBegin: Bool {
                switch self {
                case .queued, .retrying: true
                case .idle, .running, .ready, .failed: false
                }
            }
        }

        package let reference: SourceReference
        package var phase = Phase.idle
        /// Admitted images that wait for it.
        var waiters: [Int] = []
        /// Images that need it and have not ended.
        package var users = 0
        /// The number of the scratch file for its bytes, from the beginning of the download until no image needs it.
        /// Between two attempts it has one only if the next attempt resumes the transfer.
        var slot: Int?
        /// Whether it is queued, but waits outside the queue: for its turn, its host or another download of its URL.
        var waitsOutside = false

        package var text: ByteString { reference.text }
    }

    let key: BatchKey
    package let id: String
    package let manifest: Manifest
    /// The crashes of images during whose work a process died. They are filtered as in `firstNeed`, or not at
    /// all.
    let crashes: [Int: Crashes]
    /// The former results of images that are made again.
    let formers: [Int: FormerResult]
    /// Images that cannot be made, because of a source that cannot be fetched, and whose former results stand.
    var standing: [Int: Failure] = [:]
    /// Images that a previous daemon was to deliver.
    let undelivered: [Int: UndeliveredImage]
    /// The board's internal status, see `shownStatus`.
    package internal(set) var status: Status
    /// The sum of the sizes of the outputs.
    var outputBytes: Int
    var sizes = SourceSizes()
    let workKinds: WorkKinds
    var handOvers: HandOverTable
    /// The first variants of images whose variants are filtered one by one, because they need too much memory together.
    var apart: Set<Int> = []
    var live = LiveImages()
    package internal(set) var sources: [Source] = []
    /// The attempts for a source, from the first one until no image needs it.
    var attempts: [Int: DownloadAttempts] = [:]
    /// The index in `sources` for each image; -1 for an image made from another one.
    private(set) var sourceOfImage: [Int] = []
    /// For each image, the number of unfinished images that must end before it.
    var blockers: [Int] = []
    /// The images that must come after an image.
    private(set) var dependents: [Int: [Int]] = [:]
    /// Images without blockers any more, before the cursor or after it.
    var unblocked: [Int] = []
    /// The images before it have been examined.
    var cursor = 0
    var retrying: Set<Int> = []
    /// Images that could begin, but during whose work a process died.
    var suspects: [Int] = []
    var settingsMemory = SettingsMemory()
    private var freeSlots: [Int] = []
    private var slotCount = 0
    /// When its first image was admitted, in nanoseconds.
    package internal(set) var startedAt: UInt64?
    /// Whether parts of it were finished earlier: before a restart, a hold or a resumption.
    package let isContinued: Bool
    var isInRotation = false
    var originals = OriginalsPhase.untouched
    var isFinishing = false
    var isCancelled = false
    /// Whether its images get no places.
    package private(set) var isHeld = false

    /// The state that control files have set.
    var control: ControlState { isCancelled ? .cancelled : isHeld ? .held : .free }
    let level: Level
    /// Whether the manifest was submitted in a folder, with pictures.
    package var isFolder: Bool { status.manifest.isFolder == true }
    var owner: FairShare.Owner { status.manifest.uid }

    init(key: BatchKey, prepared: PreparedBatch) {
        self.key = key
        id = prepared.id
        manifest = prepared.manifest
        level = Level(manifest.priority, manifest.qualityOfService)
        workKinds = WorkKinds(of: manifest.images)
        status = prepared.status
        outputBytes = prepared.status.outputBytes
        crashes = prepared.crashes
        formers = prepared.formers
        undelivered = prepared.undelivered
        handOvers = HandOverTable(files: prepared.handOvers)
        isContinued = prepared.status.times.started != nil
        indexHandOvers()
        indexSources()
        indexDependencies()
        isCancelled = prepared.control == .cancelled
        setHeld(prepared.control == .held)
    }

    mutating func setHeld(_ held: Bool) {
        isHeld = held
        if held {
            status.state = .held
        } else if status.state == .held {
            status.state = startedAt == nil ? .pending : .processing
        }
    }

    private mutating func indexSources() {
        var indices: [ByteString: Int] = [:]
        sourceOfImage.reserveCapacity(manifest.images.count)
        for (index, image) in manifest.images.enumerated() {
            guard let reference = image.source else {
                sourceOfImage.append(-1)
                continue
            }
            // With another key for the same URL, the batch would wait for itself, for thousands of images.
            let key = reference.content
            let source = indices[key] ?? sources.count
            if source == sources.count {
                indices[key] = source
                sources.append(Source(reference: reference))
            }
            if !status.images[index].state.isFinal { sources[source].users += 1 }
            sourceOfImage.append(source)
        }
    }

    mutating func learnSizes(_ found: [(source: Int, bytes: Int)]) {
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

    private mutating func indexDependencies() {
        blockers = [Int](repeating: 0, count: manifest.images.count)
        for (index, image) in manifest.images.enumerated()
        where !status.images[index].state.isFinal {
            for blocker in image.blockers where !status.images[blocker].state.isFinal {
                blockers[index] += 1
                dependents[blocker, default: []].append(index)
            }
        }
    }

    // MARK: Scratch files

    /// Gives a source a scratch file for its bytes, if possible a free one of another source. Files are overwritten
    /// instead of removed and created, because ext4 is slow to find a place for a new file after many have just been
    /// removed.
    mutating func takeSlot(for source: Int) -> Int {
        let slot = freeSlots.popLast() ?? slotCount
        slotCount = max(slotCount, slot + 1)
        sources[source].slot = slot
        return slot
    }

    mutating func releaseSlot(of source: Int) {
        guard let slot = sources[source].slot.take() else { return }
        freeSlots.append(slot)
    }

    /// Takes the free scratch files, so that none is used while its space is freed.
    mutating func takeFreeSlots() -> [Int] { exchange(&freeSlots, with: []) }

    package mutating func returnSlots(_ slots: [Int]) { freeSlots += slots }

    var hasEnded: Bool { status.counts.finished == status.counts.total }
}

extension Manifest.Image {
    /// The images that must end before this one: those named in `after`, and those from which it is made.
    var blockers: [Int] {
        let needs = needs
        return after.filter { !needs.contains($0) } + needs
    }
}
