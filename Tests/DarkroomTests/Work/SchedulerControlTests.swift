import Dispatch
import Synchronization
import TestSupport
import Testing

@testable import DarkroomAnswer
@testable import DarkroomBoard
@testable import DarkroomCore
@testable import DarkroomDaemon
@testable import DarkroomFixtures
@testable import DarkroomManifest
@testable import DarkroomWork

/// The table of `Board.obey`, cell by cell, and what holding does to a batch's images.
struct SchedulerControlTests {
    /// Where a batch may be when a command comes.
    enum Situation: CaseIterable, Sendable {
        case waits, waitsHeld, inPreparation, inWork, inWorkHeld, cancelled, ending, notHere
    }

    typealias Cell = (Situation, ControlCommand, ControlOutcome)

    /// What a cancellation, a hold, a release, and each command for finished batches lead to.
    private static let rows: [(Situation, [ControlOutcome])] = [
        (.waits, [.acts, .acts, .already(.free), .isInWork]),
        (.waitsHeld, [.acts, .already(.held), .acts, .isInWork]),
        (.inPreparation, [.acts, .acts, .already(.free), .isInWork]),
        (.inWork, [.acts, .acts, .already(.free), .isInWork]),
        (.inWorkHeld, [.acts, .already(.held), .acts, .isInWork]),
        (.cancelled, [.already(.cancelled), .isCancelled, .isCancelled, .isInWork]),
        (.ending, [.isEnding, .isEnding, .isEnding, .isEnding]),
        (.notHere, [.unknown, .unknown, .unknown, .unknown]),
    ]

    static let cells: [Cell] = rows.flatMap { situation, outcomes in
        zip(
            [ControlCommand.cancel, .hold, .release, .retry, .remove], outcomes + outcomes.suffix(1)
        ).map {
            (situation, $0, $1)
        }
    }

    /// Batch `a` where it is asked for, for as long as the test wants.
    private final class Stage: Sendable {
        let fixture: SchedulerFixture
        private let origin: FlakyOrigin
        private let situation: Situation

        init(_ situation: Situation) async throws {
            self.situation = situation
            fixture = try SchedulerFixture(
                window: 4,
                board: Board.Bounds(
                    imageBudget: 10, preparedBudget: situation == .inPreparation ? 0 : 65_536))
            let origin = try fixture.origin()
            self.origin = origin
            switch situation {
            case .waits, .waitsHeld:
                fixture.holdOperations()
                try fixture.accept("busy", images: 9)
                try fixture.accept("a", images: 9)
                if situation == .waitsHeld { fixture.obey("a", .hold) }
            case .inPreparation:
                // Beside another that waits it is not kept, and has to be read from its folder.
                try fixture.accept("other", images: 2, control: .held)
                fixture.scheduler.preparation.suspend()
                try fixture.accept("a", images: 2)
                #expect(fixture.board { $0.waitingBatches[2]?.isInPreparation } == true)
                fixture.obey("other", .release)
            case .inWork:
                fixture.holdOperations()
                try fixture.accept("a", images: 9)
            case .inWorkHeld, .cancelled:
                // A transfer that has begun keeps the batch in work.
                if situation == .cancelled { fixture.scheduler.fetched.suspend() }
                try fixture.accept("a", origin: origin)
                try await fixture.wait(for: "the request") { origin.requests.count == 1 }
                fixture.obey("a", situation == .cancelled ? .cancel : .hold)
            case .ending:
                // Its last status is to be written, and is not.
                fixture.statusKeeper.queue.suspend()
                try fixture.accept("a", images: 1)
                try await fixture.wait(for: "the end") {
                    fixture.board { $0.batches[1]?.isFinishing == true }
                }
            case .notHere: break
            }
        }

        /// Lets all go on.
        func goOn() {
            origin.release()
            fixture.releaseOperations()
            switch situation {
            case .inPreparation: fixture.scheduler.preparation.resume()
            case .cancelled: fixture.scheduler.fetched.resume()
            case .ending: fixture.statusKeeper.queue.resume()
            default: break
            }
        }

        /// The commands that the journal has been told of.
        var told: [Event?] {
            fixture.journal.records.map(\.event).filter {
                [.batchCancelled, .batchHeld, .batchReleased].contains($0)
            }
        }
    }

    @Test(arguments: cells) func actsAsTheTableSays(cell: Cell) async throws {
        let (situation, command, expected) = cell
        let stage = try await Stage(situation)
        let fixture = stage.fixture
        let before = stage.told.count
        #expect(fixture.obey("a", command) == expected)
        // What acts is told of, once, and nothing else is.
        let told = stage.told.dropFirst(before)
        #expect(Array(told) == (expected == .acts ? [command.form.event] : []))
        if situation == .notHere { return }
        stage.goOn()
        try await fixture.finish()
        let isHeld =
            command == .hold && (expected == .acts || expected == .already(.held))
            || command.form.effect.isForFinished && [.waitsHeld, .inWorkHeld].contains(situation)
        if isHeld {
            #expect(try fixture.status("a")?.state == .held)
            #expect(fixture.scheduler.summary.batchesHeld == 1)
            // It is journaled, too, so that a start finds it held.
            #expect(try fixture.journaledControl("a") == .held)
            fixture.obey("a", .release)
            try await fixture.finish()
        }
        let isCancelled = situation == .cancelled || command == .cancel && expected == .acts
        #expect(try fixture.finished["a"] == (isCancelled ? .cancelled : .completed))
        #expect(fixture.scheduler.summary.unfinished == 0)
    }

    /// What a command does is told, and written down, before what follows from it.
    @Test(arguments: cells.filter { $0.2 == .acts }) func isToldFirst(cell: Cell) async throws {
        let stage = try await Stage(cell.0)
        let first = stage.fixture.board { board in
            let requests = board.requests {
                let outcome = $0.obey("a", ControlRecord(cell.1, uid: 0), isPrivileged: true)
                #expect(outcome == .acts)
            }
            guard case .effect(.recordCommand(_, let steering)) = requests.first else {
                return ControlCommand?.none
            }
            return steering.command
        }
        #expect(first == cell.1)
        stage.goOn()
    }

    @Test func coversTheWholeTable() {
        #expect(Self.cells.count == Situation.allCases.count * ControlCommand.allCases.count)
    }

    @Test(arguments: [Situation.waits, .inWork], [ControlCommand.cancel, .hold])
    func obeysOnlyTheOwners(situation: Situation, command: ControlCommand) async throws {
        let stage = try await Stage(situation)
        let scheduler = stage.fixture.scheduler
        let stranger = ControlRecord(command, uid: 1001)
        #expect(scheduler.obey("a", stranger) { _ in } == .refused(owner: 1000))
        #expect(stage.told.isEmpty)
        #expect(scheduler.obey("a", ControlRecord(command, uid: 1000)) { _ in } == .acts)
        stage.goOn()
    }

    /// In a user namespace or on a network file system, many users look like nobody.
    @Test(arguments: [
        (UInt32(1000), UInt32?(1000), true), (1000, 1001, false), (1000, nil, false),
        (65534, 65534, false), (0, 0, true),
    ])
    func knowsWhoIsTheOwner(uid: UInt32, manifest: UInt32?, isOwner: Bool) {
        #expect(
            ControlRecord(.cancel, uid: uid).isPermitted(forBatchOf: manifest, isPrivileged: false)
                == isOwner)
    }

    /// In a sticky inbox a control file may stay, and is there after a restart.
    @Test(arguments: [Situation.waits, .inWork])
    func aControlFileThatCouldNotBeRemovedActsOnce(situation: Situation) async throws {
        let stage = try await Stage(situation)
        for (file, command, outcome) in [
            ("1", ControlCommand.hold, ControlOutcome.acts), ("2", .release, .acts),
            ("1", .hold, .hasActed),
            ("3", .hold, .acts),
        ] {
            let before = stage.told.count
            #expect(stage.fixture.obey("a", command, file: file) == outcome)
            #expect(stage.told.count == before + (outcome == .acts ? 1 : 0))
        }
        stage.goOn()
    }

    /// Who asked hears of it when a restart would remember it.
    @Test func tellsWhenItIsWrittenDown() async throws {
        let fixture = try SchedulerFixture()
        fixture.holdOperations()
        try fixture.accept("a", images: 3)
        let isJournaled = Mutex<Bool?>(nil)
        let outcome = fixture.scheduler.obey("a", ControlRecord(.hold, uid: 0)) { _ in
            isJournaled.withLock { $0 = try? fixture.journaledControl("a") == .held }
        }
        #expect(outcome == .acts)
        try await fixture.wait(for: "the word") { isJournaled.withLock { $0 } != nil }
        #expect(isJournaled.withLock { $0 } == true)
    }

    // MARK: Holding

    @Test func beginsNothingMoreWhileHeld() async throws {
        let fixture = try SchedulerFixture()
        fixture.holdOperations(downloads: false)
        try fixture.accept("a", images: 100)
        try await fixture.wait(for: .imageDownloaded, count: 8)
        fixture.obey("a", .hold)
        // It leaves the board as soon as its last download has ended, which may be before this line.
        #expect([.held, nil].contains(fixture.shown("a")?.state))
        fixture.releaseOperations()
        try await fixture.finish()
        #expect(fixture.fetched.count == 8 && fixture.filtered.isEmpty)
        // It costs nothing while it is held.
        #expect(fixture.board { $0.batches.isEmpty })
        #expect(fixture.scheduler.summary.batchesHeld == 1)
        #expect(fixture.board { $0.waitingBatches.waitingCount } == 0)
        let held = try #require(try fixture.status("a"))
        #expect(held.state == .held && held.counts.new == 100)

        fixture.obey("a", .release)
        try await fixture.finish()
        #expect(try fixture.finished == ["a": .completed])
        #expect(fixture.filtered.count == 100)
        // What was fetched and not filtered is fetched again, for its bytes were given back.
        #expect(fixture.fetched.count == 108)
        #expect(try fixture.status("a")?.commands?.map(\.command) == [.hold, .release])
    }

    @Test func leavesItsRoomToOthersWhileHeld() async throws {
        let fixture = try SchedulerFixture(window: 4, board: Board.Bounds(imageBudget: 10))
        fixture.holdOperations()
        try fixture.accept("large", images: 100)
        try fixture.accept("other", images: 100)
        fixture.obey("large", .hold)
        fixture.releaseOperations()
        try await fixture.finish()
        #expect(try fixture.finished == ["other": .completed])
        fixture.obey("large", .release)
        try await fixture.finish()
        #expect(try fixture.finished["large"] == .completed)
    }

    @Test func takesItsOldPlaceWhenReleased() async throws {
        let fixture = try SchedulerFixture(window: 4, board: Board.Bounds(imageBudget: 10))
        fixture.holdOperations()
        for id in ["busy", "a", "b"] { try fixture.accept(id, images: 9) }
        fixture.obey("a", .hold)
        fixture.obey("a", .release)
        fixture.releaseOperations()
        try await fixture.finish()
        #expect(fixture.finishedOrder == ["busy", "a", "b"])
    }

    @Test func releasedBeforeItIsPutAwayItGoesOn() async throws {
        let fixture = try SchedulerFixture(window: 4)
        fixture.holdOperations(downloads: false)
        try fixture.accept("a", images: 20)
        try await fixture.wait(for: .imageDownloaded, count: 4)
        fixture.statusKeeper.queue.suspend()
        fixture.obey("a", .hold)
        fixture.obey("a", .release)
        #expect(fixture.shown("a")?.state == .processing)
        fixture.statusKeeper.queue.resume()
        fixture.releaseOperations()
        try await fixture.finish()
        #expect(try fixture.finished == ["a": .completed])
        #expect(fixture.fetched.count == 20)
    }

    /// A control file that came with the manifest acts before any image begins.
    @Test func beginsNothingOfABatchHeldFromTheFirst() async throws {
        let fixture = try SchedulerFixture(window: 4)
        let outcomes = fixture.scheduler.accept(
            try fixture.prepare("a", .ofSources(3)), [ControlRecord(.hold, uid: 0)])
        #expect(outcomes == [.acts])
        try await fixture.finish()
        #expect(fixture.fetched.isEmpty)
        #expect(fixture.scheduler.summary.batchesHeld == 1)
        fixture.obey("a", .release)
        try await fixture.finish()
        #expect(try fixture.finished == ["a": .completed])
    }

    @Test func takesBackWhatASuspensionHasPutOff() async throws {
        let fixture = try SchedulerFixture(window: 4)
        fixture.holdOperations()
        try fixture.accept("a", images: 30)
        fixture.scheduler.suspend()
        fixture.obey("a", .hold)
        fixture.scheduler.resume()
        try await fixture.finish()
        #expect(fixture.scheduler.summary.batchesHeld == 1 && fixture.fetched.isEmpty)
        fixture.obey("a", .release)
        try await fixture.finish()
        #expect(try fixture.finished == ["a": .completed])
    }
}
