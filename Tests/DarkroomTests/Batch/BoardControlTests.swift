import TestSupport
import Testing

@testable import DarkroomBatch
@testable import DarkroomCore
@testable import DarkroomDaemon
@testable import DarkroomFetch
@testable import DarkroomManifest
@testable import DarkroomSpool

/// The table of `Board.obey`, cell by cell, and what holding does to a batch's images.
@Suite struct BoardControlTests {
    /// Where a batch may be when a command comes.
    enum Situation: CaseIterable, Sendable {
        case waits, waitsHeld, inPreparation, inWork, inWorkHeld, cancelled, ending, notHere
    }

    typealias Cell = (Situation, ControlCommand, ControlOutcome)

    static let cells: [Cell] = [
        (.waits, .cancel, .acts), (.waits, .hold, .acts), (.waits, .release, .already(.free)),
        (.waits, .retry, .isInWork),
        (.waitsHeld, .cancel, .acts), (.waitsHeld, .hold, .already(.held)),
        (.waitsHeld, .release, .acts),
        (.waitsHeld, .retry, .isInWork),
        (.inPreparation, .cancel, .acts), (.inPreparation, .hold, .acts),
        (.inPreparation, .release, .already(.free)), (.inPreparation, .retry, .isInWork),
        (.inWork, .cancel, .acts), (.inWork, .hold, .acts), (.inWork, .release, .already(.free)),
        (.inWork, .retry, .isInWork),
        (.inWorkHeld, .cancel, .acts), (.inWorkHeld, .hold, .already(.held)),
        (.inWorkHeld, .release, .acts), (.inWorkHeld, .retry, .isInWork),
        (.cancelled, .cancel, .already(.cancelled)), (.cancelled, .hold, .isCancelled),
        (.cancelled, .release, .isCancelled), (.cancelled, .retry, .isInWork),
        (.ending, .cancel, .isEnding), (.ending, .hold, .isEnding), (.ending, .release, .isEnding),
        (.ending, .retry, .isEnding),
        (.notHere, .cancel, .unknown), (.notHere, .hold, .unknown), (.notHere, .release, .unknown),
        (.notHere, .retry, .unknown),
    ]

    /// A table on which batch `a` is where it is asked for.
    private func table(_ situation: Situation) throws -> Table {
        let budget = situation == .inPreparation ? 0 : 65_536
        var table = try Table(window: 4, imageBudget: 10, preparedBudget: budget)
        switch situation {
        case .waits, .waitsHeld:
            table.accept("busy", images: 9)
            table.accept("a", images: 9)
            if situation == .waitsHeld { table.obey("a", .hold) }
        case .inPreparation:
            // Beside another that waits it is not kept, and has to be read from its folder.
            table.accept("other", images: 2, control: .held)
            table.accept("a", images: 2)
            #expect(table.board.waitingBatches[2]?.isInPreparation == true)
            table.obey("other", .release)
        case .inWork: table.accept("a", images: 9)
        case .inWorkHeld:
            table.accept("a", images: 9)
            table.run(steps: 3)
            table.obey("a", .hold)
        case .cancelled:
            table.accept("a", images: 9)
            // A transfer that has begun keeps the batch from ending at once.
            _ = table.board.downloadBegan(1, 0)
            table.obey("a", .cancel)
        case .ending:
            table.accept("a", images: 1)
            // Its end is asked for, and not done.
            while table.state(of: "a") == .processing { table.run(steps: 1) }
        case .notHere: break
        }
        return table
    }

    @Test(arguments: cells) func actsAsTheTableSays(cell: Cell) throws {
        let (situation, command, expected) = cell
        var table = try table(situation)
        let before = table.commands.count
        #expect(table.obey("a", command) == expected)
        // What acts is journaled, once, and nothing else is.
        #expect(
            table.commands.dropFirst(before).map(\.command) == (expected == .acts ? [command] : []))
        if situation == .cancelled { table.endDownload(1, 0) }
        let isHeld =
            command == .hold && (expected == .acts || expected == .already(.held))
            || command == .retry && [.waitsHeld, .inWorkHeld].contains(situation)
        table.runToTheEnd()
        #expect(table.endedTwice == 0)
        guard situation != .notHere else { return }
        if isHeld {
            #expect(table.finished["a"] == nil)
            #expect(table.board.summary.batchesHeld == 1)
            table.obey("a", .release)
            table.runToTheEnd()
        }
        let isCancelled = situation == .cancelled || command == .cancel && expected == .acts
        #expect(table.finished["a"] == (isCancelled ? .cancelled : .completed))
        #expect(table.endedTwice == 0)
        #expect(table.board.summary.unfinished == 0)
    }

    /// What a command does is told, and written down, before what follows from it.
    @Test(arguments: cells.filter { $0.2 == .acts }) func isToldFirst(cell: Cell) throws {
        var board = try table(cell.0).board
        var effects: [Effect] = []
        #expect(
            board.obey("a", ControlRecord(cell.1, uid: 0), isPrivileged: true, &effects) == .acts)
        guard case .recordCommand(_, let record) = try #require(effects.first) else {
            Issue.record("\(effects)")
            return
        }
        #expect(record.command == cell.1)
    }

    @Test func coversTheWholeTable() {
        #expect(Self.cells.count == Situation.allCases.count * ControlCommand.allCases.count)
    }

    @Test(arguments: [Situation.waits, .inWork]) func obeysOnlyTheOwners(situation: Situation)
        throws
    {
        for command in ControlCommand.allCases where command != .retry && command != .release {
            var board = try table(situation).board
            var effects: [Effect] = []
            let stranger = ControlRecord(command, uid: 1001)
            #expect(
                board.obey("a", stranger, isPrivileged: false, &effects) == .refused(owner: 1000))
            #expect(effects.isEmpty)
            let owner = ControlRecord(command, uid: 1000)
            #expect(board.obey("a", owner, isPrivileged: false, &effects) == .acts)
        }
    }

    /// In a user namespace or on a network file system, many users look like nobody.
    @Test(arguments: [
        (UInt32(1000), UInt32?(1000), true), (1000, 1001, false), (1000, nil, false),
        (65534, 65534, false), (0, 0, true),
    ])
    func knowsWhoIsTheOwner(uid: UInt32, manifest: UInt32?, isOwner: Bool) {
        #expect(
            ControlRecord(.cancel, uid: uid).isPermitted(
                forBatchOf: manifest, isPrivileged: false) == isOwner)
    }

    @Test func beginsNothingMoreWhileHeld() throws {
        var table = try Table(window: 8)
        table.accept("a", images: 100)
        // Each step is a download or a filter with its record, so that nothing runs between them.
        table.run(steps: 12)
        let begun = table.downloads.count
        let filtered = table.filtered.count
        #expect(filtered < begun, "some images wait for their filters")
        table.obey("a", .hold)
        #expect(table.state(of: "a") == .held)
        table.runToTheEnd()
        #expect(table.downloads.count == begun)
        #expect(table.filtered.count == filtered)
        // It costs nothing while it is held.
        #expect(table.board.batches.isEmpty)
        #expect(table.board.summary.batchesHeld == 1)
        #expect(table.board.waitingBatches.waitingCount == 0)

        table.obey("a", .release)
        table.runToTheEnd()
        #expect(table.finished == ["a": .completed])
        #expect(table.filtered.count == 100)
        // What was fetched and not filtered is fetched again, for its bytes were given back.
        #expect(table.downloads.count == 100 + begun - filtered)
        #expect(table.commands.map(\.command) == [.hold, .release])
    }

    /// In a sticky inbox a control file may stay, and is there after a restart.
    @Test(arguments: [Situation.waits, .inWork])
    func aControlFileThatCouldNotBeRemovedActsOnce(situation: Situation) throws {
        var table = try Table(window: 1, imageBudget: 10)
        table.accept("busy", images: situation == .waits ? 10 : 1)
        table.accept("a", images: 10)
        if situation == .inWork { table.run(steps: 3) }
        for (file, command, outcome) in [
            ("1", ControlCommand.hold, ControlOutcome.acts), ("2", .release, .acts),
            ("1", .hold, .hasActed),
            ("3", .hold, .acts),
        ] {
            var effects: [Effect] = []
            let act = ControlRecord(command, uid: 0, file: file)
            #expect(table.board.obey("a", act, isPrivileged: true, &effects) == outcome)
            #expect(effects.isEmpty == (outcome != .acts))
        }
    }

    @Test func leavesItsRoomToOthersWhileHeld() throws {
        var table = try Table(window: 4, imageBudget: 10)
        table.accept("large", images: 100)
        table.accept("other", images: 100)
        table.run(steps: 5)
        table.obey("large", .hold)
        table.runToTheEnd()
        #expect(table.finished == ["other": .completed])
        table.obey("large", .release)
        table.runToTheEnd()
        #expect(table.finished["large"] == .completed)
    }

    @Test func takesItsOldPlaceWhenReleased() throws {
        var table = try Table(window: 4, imageBudget: 10)
        for id in ["busy", "a", "b"] { table.accept(id, images: 9) }
        table.obey("a", .hold)
        table.obey("a", .release)
        table.runToTheEnd()
        #expect(table.finishedOrder == ["busy", "a", "b"])
    }

    @Test func releasedBeforeItIsPutAwayItGoesOn() throws {
        var table = try Table(window: 4)
        table.accept("a", images: 20)
        table.run(steps: 6)
        table.obey("a", .hold)
        table.run(steps: 1)
        table.obey("a", .release)
        #expect(table.state(of: "a") == .processing)
        table.runToTheEnd()
        #expect(table.finished == ["a": .completed])
        #expect(table.downloads.count == 20)
    }

    /// A control file that came with the manifest acts before any image begins.
    @Test func beginsNothingOfABatchHeldFromTheFirst() throws {
        var table = try Table(window: 4)
        table.accept("a", images: 3, control: .held)
        table.runToTheEnd()
        #expect(table.downloads.isEmpty)
        #expect(table.finished.isEmpty)
        #expect(table.board.summary.batchesHeld == 1)
        table.obey("a", .release)
        table.runToTheEnd()
        #expect(table.finished == ["a": .completed])
    }

    @Test func putsOffADownloadThatHadNotBegun() throws {
        var table = try Table(window: 4)
        table.defersEvery = 2
        table.accept("a", images: 30)
        table.run(steps: 9)
        table.obey("a", .hold)
        table.runToTheEnd()
        #expect(table.board.summary.batchesHeld == 1)
        table.obey("a", .release)
        table.runToTheEnd()
        #expect(table.finished == ["a": .completed])
    }

    @Test(arguments: 0..<40)
    func endsEverythingWhateverTheCommands(seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        var table = try Table(
            window: 1 + Int.random(in: 0..<5, using: &random), imageBudget: 60, preparedBudget: 40)
        table.shuffle = random
        table.failingSources = ["s1"]
        table.defersEvery = 4
        let ids = (0..<8).map { "b\($0)" }
        for id in ids {
            table.accept(id, images: Int.random(in: 1...30, using: &random))
            for _ in 0..<6 {
                table.run(steps: Int.random(in: 0..<12, using: &random))
                guard let other = ids.randomElement(using: &random),
                    let command = ControlCommand.allCases.randomElement(using: &random),
                    command != .cancel || Int.random(in: 0..<4, using: &random) == 0
                else { continue }
                table.obey(other, command)
            }
        }
        table.runToTheEnd()
        for id in ids { table.obey(id, .release) }
        table.runToTheEnd()
        #expect(table.finished.keys.sorted() == ids)
        for id in ids {
            let counts = try #require(table.counts[id])
            #expect(counts.finished == counts.total)
        }
        #expect(table.endedTwice == 0)
        #expect(table.board.summary.unfinished == 0)
        #expect(table.board.places.allSatisfy { $0 == 0 })
        #expect(table.board.imagesPrepared == 0)
    }
}
