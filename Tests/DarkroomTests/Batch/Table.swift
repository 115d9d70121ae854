import TestSupport

@testable import DarkroomBatch
@testable import DarkroomCore
@testable import DarkroomFetch
@testable import DarkroomManifest
@testable import DarkroomPicture
@testable import DarkroomSelfTest
@testable import DarkroomSpool

/// Stands around a board in a test and does what the board wants done, in order or shuffled.
struct Table {
    var board: Board
    var failingSources: Set<ByteString> = []
    var failingImages: Set<String> = []
    /// Sources that cannot be fetched at first, and how many tries that takes.
    var lateSources: [ByteString: Int] = [:]
    /// What of a late source has arrived when a try ends.
    var partial: PartialBody?
    /// What a late source's server asks to wait.
    var retryAfter: Double?
    /// Each so many beginnings is put off, as a suspension does; 0 for none.
    var defersEvery = 0
    /// Each so many filters finds the disk full; 0 for none.
    var fillsEvery = 0
    private(set) var sourcesGivenBack = 0
    var shuffle: SplitMix64?
    /// What an image needs, by its name; others need no more than each gets.
    var needs: [String: Int] = [:]
    /// Images filtered at once; 0 for each as a step of its own.
    var width = 0
    /// Who submitted a batch, where that is not user 1000.
    var owners: [String: UInt32] = [:]

    private(set) var finished: [String: BatchState] = [:]
    private(set) var finishedOrder: [String] = []
    private(set) var counts: [String: Status.Counts] = [:]
    private(set) var downloads: [ByteString] = []
    /// Scratch files used, given their numbers begin at 0.
    private(set) var mostSlots = 0
    /// In the order in which they were asked for.
    private(set) var retries: [Retry] = []
    /// What the downloads found in their scratch files.
    private(set) var resumed: [PartialBody?] = []
    /// As their statuses had it at the end.
    private(set) var fetches: [String: ImageStatus.Download] = [:]
    private(set) var attempts: [String: Int] = [:]
    private(set) var filtered: [String] = []
    private(set) var filteredBatches: [String] = []
    private(set) var codes: [String: String] = [:]
    private(set) var failures: [String: Failure] = [:]
    /// What was to be told of the beginnings of batches.
    private(set) var begun: [BatchBeginning] = []
    private(set) var prepared = 0
    /// Images whose pixels were handed over, each time, and whose were removed.
    private(set) var handedOver: [String] = []
    private(set) var dropped: [Int] = []
    /// Images that were filtered again for that, and how that ended.
    private(set) var endedAgain: [String: ImageState] = [:]
    private(set) var warnings: [String: [String]] = [:]
    /// What a filtered picture's sum is, by its image's name.
    var sums: [String: String] = [:]
    private(set) var mostLive = 0
    private(set) var endedTwice = 0
    /// The commands that were to be journaled.
    private(set) var commands: [ControlRecord] = []
    /// In the order in which they got what they needed.
    private(set) var admitted: [String] = []
    private(set) var postponements = 0
    private(set) var mostAtOnce = 0

    private let scratch: ScratchDirectory
    private let spool: Spool
    private var queue: [Effect] = []
    /// Next tries that nobody has come to yet; also those that are not wanted any more.
    private var later: [(work: Work, retry: Retry)] = []
    private var running: [(key: BatchKey, image: Int, name: String)] = []
    private var ended: Set<String> = []
    private var manifests: [String: Manifest] = [:]
    /// What the journal would say of images that have ended.
    private var journal: [String: [Int: ImageState]] = [:]
    private var beginnings = 0
    private var filters = 0

    init(
        window: Int, saturation: Int = 1000, placesPerLevel: Int = 512,
        imageBudget: Int = 262_144, batchesPerLevel: Int = 1024, preparedBudget: Int = 65_536
    ) throws {
        scratch = try ScratchDirectory()
        spool = try Spool(path: scratch.path)
        board = Board(
            window: window, saturation: saturation, placesPerLevel: placesPerLevel,
            imageBudget: imageBudget, batchesPerLevel: batchesPerLevel,
            preparedBudget: preparedBudget)
    }

    mutating func accept(
        _ id: String, images: Int, priority: Priority = .normal,
        quality: QualityOfServiceName = .default, control: ControlState = .free
    ) {
        let images = (0..<images).map { Manifest.Image(name: "i\($0)", origin: .source("s\($0)")) }
        accept(
            id, Manifest(images: images, priority: priority, qualityOfService: quality),
            control: control)
    }

    /// - Parameter ended: the images that a journal says have ended, and how.
    mutating func accept(
        _ id: String, _ manifest: Manifest, control: ControlState = .free,
        ended: [Int: ImageState] = [:], crashes: [Int: Crashes] = [:],
        handOvers: Set<Int> = []
    ) {
        manifests[id] = manifest
        journal[id] = ended
        var prepared = prepare(id, manifest, ended, crashes, handOvers)
        prepared.control = control
        take(board.accept(prepared))
        admit()
    }

    private func prepare(
        _ id: String, _ manifest: Manifest, _ ended: [Int: ImageState] = [:],
        _ crashes: [Int: Crashes] = [:], _ handOvers: Set<Int> = []
    ) -> PreparedBatch {
        let reference = Status.ManifestReference(
            name: id, file: "manifest.json", sha256: "", bytes: 0, uid: owners[id] ?? 1000)
        var status = Status(
            id: id, manifest: reference, state: .pending,
            times: Status.Times(received: Clock.timestamp),
            counts: Status.Counts(new: manifest.images.count),
            images: ImageStatus.initial(of: manifest))
        for (index, state) in ended {
            status.images[index].state = state
            if state == .filtered {
                status.images[index].output = .init(
                    file: manifest.images[index].outputFile, format: .png, sha256: "", bytes: 1,
                    width: 1, height: 1, depth: 8, channels: 3)
            }
            status.counts[.new] -= 1
            status.counts[state] += 1
        }
        return PreparedBatch(
            folders: BatchFolders(spool: spool, id: id), manifest: manifest, status: status,
            crashes: crashes, handOvers: handOvers)
    }

    /// By default nothing is kept, so that what there is comes out even.
    mutating func setMemory(limit: Int, width: Int = .max, keptForOwners: Int = 0) {
        let places = FilterPlaces(
            width: width, keptForBatches: 0, keptForOwners: keptForOwners)
        take(board.setMemory(limit: limit, places: places))
    }

    /// Gives a command, as the spool's owner.
    @discardableResult
    mutating func obey(_ id: String, _ command: ControlCommand) -> ControlOutcome {
        var effects: [Effect] = []
        let record = ControlRecord(command, time: "\(commands.count)", uid: 0)
        let outcome = board.obey(id, record, isPrivileged: true, &effects)
        for case .recordCommand(_, let record) in effects { commands.append(record) }
        take(effects)
        admit()
        return outcome
    }

    /// How a batch stands: the state that its users see, or nil while it waits or after its end.
    func state(of id: String) -> BatchState? {
        board.batches.values.first { $0.folders.id == id }?.status.state
    }

    /// The images that are being filtered.
    var atWork: [String] { running.map(\.name) }

    /// What the users of a batch see.
    func shown(_ id: String) -> Status? {
        board.batches.values.first { $0.folders.id == id }?.shownStatus
    }

    func counts(of id: String) -> Status.Counts {
        board.batches.values.first { $0.folders.id == id }?.status.counts ?? Status.Counts()
    }

    mutating func runToTheEnd() {
        while step() {}
    }

    /// Goes on until something is so; a test that expects what never comes fails then.
    mutating func run(until isReached: (Table) -> Bool) {
        for _ in 0..<10_000 where !isReached(self) { run(steps: 1) }
    }

    mutating func run(steps: Int) {
        for _ in 0..<steps where !step() { return }
    }

    private mutating func admit() { take(board.admit()) }

    private mutating func take(_ effects: [Effect]) {
        queue += effects
        for batch in board.batches.values { mostLive = max(mostLive, batch.live.workingCount) }
    }

    /// Does one thing; false where there is nothing to do.
    private mutating func step() -> Bool {
        if !running.isEmpty, queue.isEmpty || running.count >= width {
            endFilter()
        } else if queue.isEmpty {
            guard !later.isEmpty else { return false }
            comeToARetry()
        } else {
            perform(queue.remove(at: nextIndex()))
        }
        admit()
        return true
    }

    /// The time of a next try has come: the first that was asked for, or any one.
    private mutating func comeToARetry() {
        var index = 0
        if var random = shuffle {
            index = Int.random(in: 0..<later.count, using: &random)
            shuffle = random
        }
        let (work, retry) = later.remove(at: index)
        guard case .download(let key, let source) = work else { return }
        take(board.retryDue(key, source, number: retry.number))
    }

    /// The times of all next tries that are asked for now come, wanted or not.
    mutating func comeToTheRetries() {
        for _ in later.indices { comeToARetry() }
    }

    /// Goes on until nothing is left but next tries.
    mutating func runToTheRetries() {
        while !queue.isEmpty || !running.isEmpty { _ = step() }
    }

    /// The next in line, or any one.
    private mutating func nextIndex() -> Int {
        guard var random = shuffle else { return 0 }
        defer { shuffle = random }
        return Int.random(in: 0..<queue.count, using: &random)
    }

    private mutating func perform(_ effect: Effect) {
        switch effect {
        case .enqueue(.download(let key, let source), _, _): download(key, source)
        case .enqueue(.filter(let key, let image), _, _): filter(key, image)
        case .enqueueLater(let work, _, _, let retry):
            retries.append(retry)
            later.append((work, retry))
        case .record(let key, let folders, let index, let status, _):
            if !ended.insert("\(folders.id)/\(index)").inserted { endedTwice += 1 }
            if status.state == .filtered {
                filtered.append(status.name)
                filteredBatches.append(folders.id)
            }
            codes[status.name] = status.error?.code
            failures[status.name] = status.error
            warnings[status.name] = status.warnings
            fetches[status.name] = status.download
            attempts[status.name] = status.attempts
            journal[folders.id, default: [:]][index] = status.state
            take(board.imageEnded(key, index, status))
        case .endAgain(let key, let index, let status):
            endedAgain[status.name] = status.state
            take(board.imageEnded(key, index, status))
        case .dropHandOver(_, let image): dropped.append(image)
        case .prepare(let key, let folders):
            prepared += 1
            guard let manifest = manifests[folders.id] else { return }
            let ended = journal[folders.id] ?? [:]
            take(board.prepared(key, prepare(folders.id, manifest, ended)))
        case .finish(let key):
            guard let batch = board.batches[key] else { return }
            if finished[batch.folders.id] != nil { endedTwice += 1 }
            finished[batch.folders.id] = batch.status.state
            finishedOrder.append(batch.folders.id)
            counts[batch.folders.id] = batch.status.counts
            board.batchFinished(key)
        case .park(let key): take(board.parked(key))
        case .begun(let beginning): begun.append(beginning)
        case .cancel, .recordCommand, .amendStatus, .dropScratch, .statusChanged: break
        case .start, .stop, .storageUndecided: break
        }
    }

    private mutating func mustDefer() -> Bool {
        beginnings += 1
        return defersEvery > 0 && beginnings % defersEvery == 0
    }

    private mutating func download(_ key: BatchKey, _ source: Int) {
        if mustDefer() { return take(board.downloadDeferred(key, source)) }
        guard let job = board.downloadBegan(key, source) else { return }
        downloads.append(job.text)
        mostSlots = max(mostSlots, job.slot + 1)
        resumed.append(job.partial)
        if failingSources.contains(job.text) {
            let failure = Failure(code: "http-status", message: "404")
            return take(board.downloadEnded(key, source, result: .failed(failure)))
        }
        if let rest = lateSources[job.text], rest > 0 {
            lateSources[job.text] = rest - 1
            return take(
                board.downloadEnded(
                    key, source,
                    result: .failed(.late, retryAfter: retryAfter, partial: partial)))
        }
        take(board.downloadEnded(key, source, result: .ready(DownloadNote(bytes: 7))))
    }

    /// A download that was begun by hand ends, cancelled.
    mutating func endDownload(_ key: BatchKey, _ source: Int) {
        let failure = Failure(FetchError(.cancelled, "the batch was cancelled"))
        take(board.downloadEnded(key, source, result: .failed(failure)))
    }

    /// A download waits for its host until something calls it.
    mutating func waitForHost(_ key: BatchKey, _ source: Int) {
        board.downloadWaits(key, source)
        queue.removeAll {
            if case .enqueue(.download(key, source), _, _) = $0 { true } else { false }
        }
        admit()
    }

    /// Its host has room for a download that waited for that.
    mutating func call(_ key: BatchKey, _ source: Int) {
        queue.append(.enqueue(.download(key, source: source), .normal, .default))
    }

    /// An image's status, while its batch is in work.
    func image(_ id: String, _ index: Int) -> ImageStatus? {
        board.batches.values.first { $0.folders.id == id }?.status.images[index]
    }

    private mutating func filter(_ key: BatchKey, _ image: Int) {
        if mustDefer() { return take(board.filterNotAllowed(key, image)) }
        guard let job = board.filterBegan(key, image) else {
            return take(board.filterNotBegun(key, image))
        }
        filters += 1
        if fillsEvery > 0, filters % fillsEvery == 0 {
            if board.sourceGivenBack(key, image) != nil { sourcesGivenBack += 1 }
            return take(board.filterDeferred(key, image))
        }
        if let bytes = needs[job.name] {
            switch board.needs(key, image, bytes: bytes) {
            case .granted: break
            case .later:
                postponements += 1
                return take(board.filterPostponed(key, image, bytes: bytes))
            case .tooLarge:
                let failure = Failure(code: "memory-limit", message: "too large")
                return take(board.filterEnded(key, image, result: .failure(failure)))
            }
        }
        admitted.append(job.name)
        if job.handsOver { handedOver.append(job.name) }
        running.append((key, image, job.name))
        mostAtOnce = max(mostAtOnce, running.count)
        if width == 0 { endFilter() }
    }

    /// Ends the image that has been filtered for longest.
    private mutating func endFilter() {
        let (key, image, name) = running.removeFirst()
        if failingImages.contains(name) {
            let failure = Failure(code: "png-crc", message: "damaged")
            return take(board.filterEnded(key, image, result: .failure(failure)))
        }
        var report = PictureReport.small
        report.sha256 = sums[name] ?? ""
        take(board.filterEnded(key, image, result: .success(report)))
    }
}

extension Failure {
    /// What another try may make up for.
    static let late = Failure(code: "connect-failed", message: "refused", isTransient: true)
}

extension PictureReport {
    /// What a picture's way might have led to.
    fileprivate static let small = PictureReport(
        format: .png, layout: PixelLayout(width: 1, height: 1, channels: 3, depth: 8), bytes: 1,
        sha256: "", warnings: [], metadata: [:])
}
