import Foundation
import Synchronization
import Testing

@testable import DarkroomAnswer
@testable import DarkroomBoard
@testable import DarkroomCore
@testable import DarkroomDaemon
@testable import DarkroomFixtures
@testable import DarkroomManifest
@testable import DarkroomSpool
@testable import DarkroomWork

/// The real intake before the real scheduler, on a spool of its own. Only the test moves the time on.
final class IntakeFixture: Sendable {
    let base: SchedulerFixture
    let intake: Intake
    /// Why the daemon would have to end.
    let losses = Losses()
    /// The names in `active` of answers that are to be removed.
    let removals = Calls<FileName>()
    private let inbox: Directory

    final class Losses: Sendable {
        private let kept = Mutex<[FileError]>([])

        var errors: [FileError] { kept.withLock { $0 } }

        func add(_ error: FileError) { kept.withLock { $0.append(error) } }
    }

    var spool: Spool { base.spool }
    var journal: RecordedJournal { base.journal }
    var time: ManualTime { base.time }

    static let manifest = #"{"images": [{"name": "i", "source": "s"}]}"#
    /// The beginning of one.
    static let half = #"{"images": [{"name": "i""#

    /// - Parameters:
    ///   - maximumWaiting: manifests of one owner that may wait.
    ///   - settle: how long a file that was written in place must have been left alone, in seconds.
    init(
        maximumWaiting: Int = 1000, settle: Double = 60, rescanInterval: Double = 0,
        spoolPath: String? = nil, board: Board.Bounds = Board.Bounds()
    ) throws {
        base = try SchedulerFixture(board: board, spoolPath: spoolPath) {
            $0.maximumWaiting = maximumWaiting
        }
        try base.setSource("s", SchedulerFixture.picture)
        inbox = try base.spool.openInbox()
        let settings = IntakeSettings(
            isDurable: false, pollInterval: 1, rescanInterval: rescanInterval,
            maximumWaiting: maximumWaiting,
            examination: Examination(
                limits: ManifestLimits(), defaultFilters: [], settle: settle))
        intake = Intake(
            spool: base.spool, scheduler: base.scheduler, settings: settings,
            log: base.scheduler.log, time: base.time.source, onLoss: losses.add,
            onRemoval: removals.add)
    }

    deinit { intake.stop() }

    /// Starts the intake. What is in the inbox has been looked at when this returns, if no batch is unfinished.
    func start() throws {
        try intake.start {}
        intake.queue.sync {}
    }

    func started() throws -> Self {
        try start()
        return self
    }

    // MARK: Files in

    /// Writes a file into `tmp` and renames it into the inbox, as submitters are to.
    ///
    /// - Parameter owner: the number of a user, to whom only root can give it.
    func drop(_ name: FileName, _ content: String = manifest, owner: UInt32? = nil) throws {
        try spool.tmp.put(Array(content.utf8), to: name)
        if let owner {
            try #require(fchownat(spool.tmp.number, name.text, owner, owner, 0) == 0)
        }
        try spool.tmp.rename(name, to: inbox, as: name, replacing: true)
    }

    /// Writes a file in the inbox itself, at the end of what is there, and closes it.
    func writeInPlace(_ name: FileName, _ content: String) throws {
        let file = try inbox.append(to: name)
        try file.write(Array(content.utf8), path: name.text)
        try file.close(path: name.text)
    }

    /// Does something in the inbox of which no event tells.
    func loseEvents(_ body: () throws -> Void) throws {
        intake.queue.suspend()
        defer { intake.queue.resume() }
        try body()
        _ = intake.watch?.read()
    }

    /// Has a file have been changed so many seconds ago.
    func age(_ name: FileName, by seconds: Int) throws {
        var times = [timespec(), timespec()]
        clock_gettime(CLOCK_REALTIME, &times[0])
        times[0].tv_sec -= seconds
        times[1] = times[0]
        try #require(utimensat(inbox.number, name.text, times, 0) == 0)
    }

    var names: Set<String> {
        get throws { Set(try spool.openInbox().names().map(\.text)) }
    }

    // MARK: What came of it

    /// Meanwhile the intake continues with turns that are due now. The time stands still.
    func wait(for what: String, until isReached: () throws -> Bool) async throws {
        try await base.wait(for: what) {
            time.advance(by: 0)
            return try isReached()
        }
    }

    /// Waits until the scheduler has nothing left to do, also of what the intake is just handing to it.
    func finish() async throws {
        try await base.finish()
        intake.queue.sync {}
        try await base.finish()
    }

    func wait(for event: Event, count: Int = 1) async throws {
        try await wait(for: "\(count) \(event)") { journal.all(event).count >= count }
    }

    /// The files of the manifests that were claimed, in that order.
    var claimed: [String] { journal.all(.batchClaimed).compactMap { $0[.file] } }

    /// Waits until the intake has seen all that has happened in the inbox so far: another manifest, dropped after that,
    /// has been claimed.
    func catchUp() async throws {
        let name = "mark\(marks.add(1, ordering: .relaxed).newValue).json"
        try drop(FileName(name))
        try await wait(for: "\(name)") { claimed.contains(name) }
        intake.queue.sync {}
    }

    private let marks = Atomic(0)

    /// What inbox.json says, once it is up to date.
    func report() throws -> InboxReport {
        intake.queue.sync { intake.report() }
        return try JSONDecoder().decode(
            InboxReport.self, from: Data(spool.root.read("inbox.json")))
    }

    /// Why a file is in the inbox.
    func reason(_ name: String) throws -> InboxReason? {
        try report().files.first { $0.name == name }?.reason
    }
}
