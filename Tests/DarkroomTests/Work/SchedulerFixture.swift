import Foundation
import Synchronization
import TestPictures
import TestSupport
import Testing

@testable import DarkroomAnswer
@testable import DarkroomBoard
@testable import DarkroomCore
@testable import DarkroomFetch
@testable import DarkroomFixtures
@testable import DarkroomManifest
@testable import DarkroomSpool
@testable import DarkroomWork

/// The real scheduler, with all that the daemon gives it, on a spool of its own.
///
/// Manifests are claimed, answered and recovered as those of the daemon are. Their sources are small pictures in a
/// folder, or come from an origin of the test's. Only `finish` and the test move the time on.
final class SchedulerFixture: Sendable {
    let scratch: ScratchDirectory
    let spool: Spool
    let journal = RecordedJournal()
    let time = ManualTime()
    let storage: StorageGuard
    let scheduler: Scheduler
    var committer: Committer { scheduler.committer }
    var statusKeeper: StatusKeeper { scheduler.statusKeeper }
    private let engine: TransferEngine
    private let examination: Examination
    private let origins: Mutex<[FlakyOrigin]>

    /// A small picture, the same bytes each time.
    static let picture = Starfield.png(width: 4, height: 3, seed: 1)

    /// - Parameters:
    ///   - board: what the board is bounded by, except what the settings say.
    ///   - former: a fixture that has been stopped, on whose spool this one goes on.
    ///   - spoolPath: where the spool is; by default in a folder of the test's.
    ///   - results: the store of results; nil for none.
    ///   - groupSync: what waits for several files at once; nil to wait for each.
    ///   - settings: changes those of this fixture: no waiting for the disk, 16 downloads and 2 filters at once.
    init(
        window: Int = 8, board bounds: Board.Bounds = Board.Bounds(),
        after former: SchedulerFixture? = nil,
        spoolPath: String? = nil, results: ResultStore? = nil,
        groupSync: GroupSync? = GroupSync(),
        settings change: (inout BatchSettings) -> Void = { _ in }
    ) throws {
        if let former {
            (scratch, spool) = (former.scratch, former.spool)
            origins = Mutex(former.origins.withLock { $0 })
        } else {
            origins = Mutex([])
            scratch = try ScratchDirectory()
            try FileManager.default.createDirectory(
                at: scratch.url.appending(path: "pictures"), withIntermediateDirectories: false)
            spool = try Spool(
                path: spoolPath ?? scratch.url.appending(path: "spool").path, groupSync: groupSync)
        }
        examination = Examination(limits: ManifestLimits(), defaultFilters: [], settle: 0)
        var settings = BatchSettings(examination: examination)
        settings.isDurable = false
        settings.window = window
        settings.maximumWaiting = 1_000_000
        settings.filterConcurrency = 2
        settings.memory = 1 << 30
        // Statuses in the middle of the work are for the tests that are about them.
        settings.statusInterval = 1_000_000
        settings.maximumSourceBytes = 256 << 20
        settings.fetchRules = .loopback
        settings.localSources = LocalSources(
            roots: [scratch.url.appending(path: "pictures").path], view: nil)
        change(&settings)
        let log = journal.log()
        engine = try TransferEngine(
            settings: TransferSettings(
                limits: .patient, rules: settings.fetchRules,
                userAgent: TransferSettings.userAgent(version: "test")))
        storage = StorageGuard(log: log, time: time.source)
        scheduler = Scheduler(
            spool: spool, settings: settings, engine: engine, cache: nil, results: results,
            storage: storage, log: log, time: time.source)
        scheduler.board.withLock { [settings] board in
            board = Board(settings.board, bounds)
            // The waits before further attempts are always as long.
            board.pool.jitter = { 1 }
        }
    }

    /// With one download and one filter at once, so that images end in the order in which they began.
    static func inOrder(window: Int = 8) throws -> SchedulerFixture {
        try SchedulerFixture(window: window) {
            $0.downloadConcurrency = 1
            $0.filterConcurrency = 1
        }
    }

    deinit { engine.stop() }

    // MARK: Sources

    /// An origin that is there for as long as the fixture. Without a fault, the picture comes when it is released.
    func origin(
        picture: [UInt8] = SchedulerFixture.picture,
        fault: @escaping @Sendable (_ path: String, _ number: Int) -> FlakyOrigin.Fault? = {
            _, _ in .held
        }
    ) throws -> FlakyOrigin {
        let origin = try FlakyOrigin(picture: picture, fault: fault)
        origins.withLock { $0.append(origin) }
        return origin
    }

    /// Makes a local source of this content, or takes it away.
    func setSource(_ name: ByteString, _ content: [UInt8]?) throws {
        let folder = try Directory(path: scratch.url.appending(path: "pictures").path)
        guard let content else { return try folder.remove(FileName(bytes: Array(name.utf8))) }
        try folder.write(
            content, to: FileName(bytes: Array(name.utf8)), replacing: true, durably: false)
    }

    /// Makes a picture of each local source that is not there.
    private func makeSources(of manifest: Manifest, but missing: Set<ByteString>) throws {
        let folder = try Directory(path: scratch.url.appending(path: "pictures").path)
        for source in manifest.images.compactMap(\.source) where !missing.contains(source.text) {
            guard let path = source.localPath,
                try !folder.exists(FileName(path))
            else { continue }
            try folder.write(Self.picture, to: FileName(path), durably: false)
        }
    }

    // MARK: Batches

    /// A batch that has its receipt, as the intake hands it to the scheduler.
    ///
    /// - Parameters:
    ///   - owner: the user who is to have submitted it.
    ///   - records: what a former daemon has journaled of it, after which it is read as by a start.
    ///   - pixels: the images whose pixels it has left for others.
    ///   - missing: local sources that are not there.
    func prepare(
        _ id: String, _ manifest: Manifest, owner: UInt32 = 1000,
        journal records: [JournalRecord] = [], pixels: [Int] = [], missing: Set<ByteString> = []
    ) throws -> PreparedBatch {
        try makeSources(of: manifest, but: missing)
        let inbox = try spool.openInbox()
        let name = FileName("\(id).json")
        try inbox.write(Array(manifest.written.utf8), to: name, durably: false)
        guard case .ready(let candidate) = examination.examine(name, in: inbox, isWhole: true)
        else { throw Unexpected(what: "\(id) is no manifest that can be taken") }
        var batches: [PreparedBatch] = []
        let acceptance = Acceptance(
            spool: spool, inbox: inbox, examination: examination, storage: storage,
            log: scheduler.log, durably: false, stop: CancellationFlag()
        ) { batches.append($0) }
        let outcome = acceptance.take([candidate])
        guard var prepared = batches.first, outcome.unanswered.isEmpty else {
            throw Unexpected(what: "\(id) was not answered: \(journal.all(.batchRejected))")
        }
        if !records.isEmpty {
            let active = try BatchFolders(spool: spool, id: id).active()
            try ItemJournal.append(records, in: active, durably: false)
            for index in pixels {
                try active.write(Self.picture, to: BatchFile.pixels(index), durably: false)
            }
            prepared = try recover(id)
        }
        prepared.status.manifest.uid = owner
        // As it is read again later.
        try BatchFolders(spool: spool, id: id).writeStatus(prepared.status, durably: false)
        return prepared
    }

    /// Reads a batch from its folder as a start does.
    func recover(_ id: String) throws -> PreparedBatch {
        let recovery = Recovery(spool: spool, examination: examination, durably: false)
        guard case .unfinished(let prepared) = try recovery.recover(id) else {
            throw Unexpected(what: "\(id) has ended")
        }
        return prepared
    }

    /// The control of a batch as its journal has it, also while the batch is in work: a start may remove what the work
    /// is about to rename.
    func journaledControl(_ id: String) throws -> ControlState {
        var control = ControlState.free
        for record in try ItemJournal.read(in: BatchFolders(spool: spool, id: id).active()) {
            switch record {
            case .cancelled: control = .cancelled
            case .commanded(let record): control.follow(record.command)
            case .reopened, .crashed, .delivering, .moving, .ended: break
            }
        }
        return control
    }

    struct Unexpected: Error { let what: String }

    /// - Parameter outputs: a fixture that has published a batch of this ID, whose outputs are to be there.
    func accept(
        _ id: String, _ manifest: Manifest, owner: UInt32 = 1000,
        journal records: [JournalRecord] = [], outputs former: SchedulerFixture? = nil,
        pixels: [Int] = [], missing: Set<ByteString> = []
    ) throws {
        let prepared = try prepare(
            id, manifest, owner: owner, journal: records, pixels: pixels, missing: missing)
        for case .ended(_, let image) in records {
            guard let former, let output = image.output else { continue }
            let bytes = try BatchFolders(spool: former.spool, id: id).outbox()
                .read(FileName(output.file))
            try BatchFolders(spool: spool, id: id).outbox().write(
                bytes, to: FileName(output.file), durably: false)
        }
        scheduler.accept(prepared)
    }

    /// Accepts a batch of so many images `i0`, `i1`, … of local sources `s0`, `s1`, ….
    func accept(
        _ id: String, images count: Int, priority: Priority = .normal,
        quality: QualityOfServiceName = .default, owner: UInt32 = 1000,
        control: ControlState = .free,
        missing: Set<ByteString> = []
    ) throws {
        let manifest = Manifest.ofSources(count, priority: priority, quality: quality)
        var prepared = try prepare(id, manifest, owner: owner, missing: missing)
        prepared.control = control
        scheduler.accept(prepared)
    }

    /// Accepts a batch of an image whose source comes from an origin, and one that comes after it.
    func accept(_ id: String, origin: FlakyOrigin) throws {
        var manifest = Manifest.of([origin.source("\(id).png"), "s1"])
        manifest.images[1].after = [0]
        try accept(id, manifest)
    }

    /// Has a batch done, to its last status.
    @discardableResult
    func complete(
        _ id: String, _ manifest: Manifest, owner: UInt32 = 1000,
        journal records: [JournalRecord] = [], outputs former: SchedulerFixture? = nil,
        missing: Set<ByteString> = []
    ) async throws -> Status {
        try accept(
            id, manifest, owner: owner, journal: records, outputs: former, missing: missing)
        try await finish()
        return try #require(try status(id))
    }

    /// Gives a command, as root.
    @discardableResult
    func obey(_ id: String, _ action: ControlCommand, file: String? = nil) -> ControlOutcome {
        scheduler.obey(id, ControlRecord(action, uid: 0, file: file)) { _ in }
    }

    // MARK: Operations

    /// Keeps operations in their queues; what runs goes on. The board goes on giving out places.
    func holdOperations(downloads: Bool = true, filters: Bool = true) {
        if downloads {
            scheduler.queues.downloads.isSuspended = true
            scheduler.queues.localLooks.isSuspended = true
        }
        if filters { scheduler.queues.filters.setSuspended(true) }
    }

    /// Lets go of what was held.
    func releaseOperations(filters: Bool = true) {
        scheduler.queues.downloads.isSuspended = false
        scheduler.queues.localLooks.isSuspended = false
        if filters { scheduler.queues.filters.setSuspended(false) }
    }

    /// Looks at the board under its lock, or changes it. What the change requests is not carried out.
    func board<Value: Sendable>(_ body: (inout Board) -> Value) -> Value {
        scheduler.board.withLock { board in
            defer { _ = board.pool.takeRequests() }
            return body(&board)
        }
    }

    /// Waits until something is so.
    func wait(for what: String, until isReached: () throws -> Bool) async throws {
        try await eventually(what, context: describe) {
            try isReached() ? true : nil
        }
    }

    /// The same for what lasts but a moment, without giving the thread to others meanwhile.
    func catchMoment(_ what: String, when isReached: () -> Bool) throws {
        let deadline = ContinuousClock.now.advanced(by: patience)
        while !isReached() {
            guard ContinuousClock.now < deadline else {
                throw DeadlineExceeded("Waited in vain for \(what). \(describe())")
            }
            usleep(200)
        }
    }

    /// Waits until nothing is left to be done but what is held. Time passes meanwhile.
    func finish() async throws {
        try await eventually("all to end", context: describe) {
            if isIdle { return true }
            time.advance(by: 1)
            return nil
        }
        // The status of a waiting batch that a command has changed is written here.
        scheduler.preparation.sync {}
    }

    /// Waits until so many more records are there, or nothing is left to be done. Time passes meanwhile.
    func goOn(_ records: Int) async throws {
        let count = journal.records.count + records
        try await wait(for: "\(records) records") {
            time.advance(by: 1)
            return isIdle || journal.records.count >= count
        }
    }

    /// Waits until so many records of a kind are there.
    func wait(for event: Event, count: Int = 1) async throws {
        try await wait(for: "\(count) of \(event)") { journal.all(event).count >= count }
    }

    /// Whether all batches have ended or are put away.
    var isIdle: Bool {
        board { $0.batches.isEmpty && $0.waitingBatches.waitingCount == 0 }
            && scheduler.runningCount == 0 && committer.pendingCount == 0
    }

    private func describe() -> String {
        "\(scheduler.summary), \(scheduler.runningCount) running, \(scheduler.queueLengths), "
            + "\(scheduler.waitingForHostCount) before hosts, next in \(time.waits.prefix(3)) s, "
            + "\(String(describing: storage.report)); "
            + journal.records.suffix(5).map(\.message).joined(separator: "; ")
    }

    // MARK: What came of it

    /// What the batch's status file says; nil if there is none.
    func status(_ id: String) throws -> Status? {
        try Status(in: BatchFolders(spool: spool, id: id).outbox())
    }

    /// The states of the batches that have ended.
    var finished: [String: BatchState] {
        get throws {
            var states: [String: BatchState] = [:]
            for name in try spool.outbox.names() {
                if let state = try status(name.text)?.state, state.isFinal {
                    states[name.text] = state
                }
            }
            return states
        }
    }

    /// The batches that have ended, in that order; 200 at most.
    var finishedOrder: [String] { journal.all(.batchFinished).compactMap { $0[.batch] } }

    /// The images that were filtered, in the order in which they were recorded.
    var filtered: [String] { journal.all(.imageFiltered).compactMap { $0[.image] } }

    /// The batches of these.
    var filteredBatches: [String] { journal.all(.imageFiltered).compactMap { $0[.batch] } }

    /// The images for which a source was fetched or found, in that order.
    var fetched: [String] { journal.all(.imageDownloaded).compactMap { $0[.image] } }

    /// The image of this name in a batch's status file.
    func image(_ name: String, of id: String) throws -> ImageStatus {
        try #require(try status(id)?.images.first { $0.name == name })
    }

    /// What users see of a batch in work.
    func shown(_ id: String) -> Status? {
        scheduler.board.withLock { board in
            board.batches.values.first { $0.id == id }?.shownStatus
        }
    }

    /// What tells one writing of a batch's outputs from another, by their files' names.
    func outputIdentities(_ id: String) throws -> [String: FileIdentity] {
        let outbox = try BatchFolders(spool: spool, id: id).outbox()
        var identities: [String: FileIdentity] = [:]
        for name in try outbox.names() {
            identities[name.text] = try outbox.information(of: name).map { FileIdentity($0) }
        }
        return identities
    }

    /// The files of a batch's folder in `active`.
    func activeFiles(_ id: String) throws -> Set<String> {
        Set(try Directory(FileName(id), in: spool.active).names().map(\.text))
    }
}
