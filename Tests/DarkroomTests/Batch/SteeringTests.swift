import TestSupport
import Testing

@testable import DarkroomBatch
@testable import DarkroomCore
@testable import DarkroomDaemon
@testable import DarkroomFetch
@testable import DarkroomManifest
@testable import DarkroomSpool

/// The table of `BoardSteering`, cell by cell, and what holding does to a batch's images.
@Suite struct SteeringTests {
    /// How a batch may stand when a control comes.
    enum Standing: CaseIterable, Sendable {
        case waits, waitsHeld, inPreparation, inWork, inWorkHeld, cancelled, ending, notHere
    }

    typealias Cell = (Standing, Steering.Action, SteeringOutcome)

    static let cells: [Cell] = [
        (.waits, .cancel, .acts), (.waits, .hold, .acts), (.waits, .release, .already),
        (.waits, .retry, .isInWork),
        (.waitsHeld, .cancel, .acts), (.waitsHeld, .hold, .already), (.waitsHeld, .release, .acts),
        (.waitsHeld, .retry, .isInWork),
        (.inPreparation, .cancel, .acts), (.inPreparation, .hold, .acts),
        (.inPreparation, .release, .already), (.inPreparation, .retry, .isInWork),
        (.inWork, .cancel, .acts), (.inWork, .hold, .acts), (.inWork, .release, .already),
        (.inWork, .retry, .isInWork),
        (.inWorkHeld, .cancel, .acts), (.inWorkHeld, .hold, .already),
        (.inWorkHeld, .release, .acts), (.inWorkHeld, .retry, .isInWork),
        (.cancelled, .cancel, .already), (.cancelled, .hold, .isCancelled),
        (.cancelled, .release, .isCancelled), (.cancelled, .retry, .isInWork),
        (.ending, .cancel, .isEnding), (.ending, .hold, .isEnding), (.ending, .release, .isEnding),
        (.ending, .retry, .isEnding),
        (.notHere, .cancel, .unknown), (.notHere, .hold, .unknown), (.notHere, .release, .unknown),
        (.notHere, .retry, .unknown),
    ]

    /// A table on which batch `a` stands as asked for.
    private func table(_ standing: Standing) throws -> Table {
        let budget = standing == .inPreparation ? 0 : 65_536
        var table = try Table(window: 4, imageBudget: 10, preparedBudget: budget)
        switch standing {
        case .waits, .waitsHeld:
            table.accept("busy", images: 9)
            table.accept("a", images: 9)
            if standing == .waitsHeld { table.steer("a", .hold) }
        case .inPreparation:
            // Beside another that waits it is not kept, and has to be read from its folder.
            table.accept("other", images: 2, isHeld: true)
            table.accept("a", images: 2)
            #expect(table.board.waitingBatches[2]?.isInPreparation == true)
            table.steer("other", .release)
        case .inWork: table.accept("a", images: 9)
        case .inWorkHeld:
            table.accept("a", images: 9)
            table.run(steps: 3)
            table.steer("a", .hold)
        case .cancelled:
            table.accept("a", images: 9)
            // A transfer that has begun keeps the batch from ending at once.
            _ = table.board.downloadBegan(1, 0)
            table.steer("a", .cancel)
        case .ending:
            table.accept("a", images: 1)
            // Its end is asked for, and not done.
            while table.state(of: "a") == .processing { table.run(steps: 1) }
        case .notHere: break
        }
        return table
    }

    @Test(arguments: cells) func actsAsTheTableSays(cell: Cell) throws {
        let (standing, action, expected) = cell
        var table = try table(standing)
        let before = table.steered.count
        #expect(table.steer("a", action) == expected)
        // What acts is journaled, once, and nothing else is.
        #expect(
            table.steered.dropFirst(before).map(\.action) == (expected == .acts ? [action] : []))
        if standing == .cancelled { table.endDownload(1, 0) }
        let isHeld =
            action == .hold && (expected == .acts || expected == .already)
            || action == .retry && [.waitsHeld, .inWorkHeld].contains(standing)
        table.runToTheEnd()
        #expect(table.endedTwice == 0)
        guard standing != .notHere else { return }
        if isHeld {
            #expect(table.finished["a"] == nil)
            #expect(table.board.summary.batchesHeld == 1)
            table.steer("a", .release)
            table.runToTheEnd()
        }
        let isCancelled = standing == .cancelled || action == .cancel && expected == .acts
        #expect(table.finished["a"] == (isCancelled ? .cancelled : .completed))
        #expect(table.endedTwice == 0)
        #expect(table.board.summary.unfinished == 0)
    }

    /// What a control does is told, and written down, before what follows from it.
    @Test(arguments: cells.filter { $0.2 == .acts }) func isToldFirst(cell: Cell) throws {
        var board = try table(cell.0).board
        var effects: [Effect] = []
        #expect(board.steer("a", Steering(cell.1, uid: 0), isPrivileged: true, &effects) == .acts)
        guard case .recordSteering(_, let steering) = try #require(effects.first) else {
            Issue.record("\(effects)")
            return
        }
        #expect(steering.action == cell.1)
    }

    @Test func coversTheWholeTable() {
        #expect(Self.cells.count == Standing.allCases.count * Steering.Action.allCases.count)
    }

    @Test(arguments: [Standing.waits, .inWork]) func obeysOnlyTheOwners(standing: Standing) throws {
        for action in Steering.Action.allCases where action != .retry && action != .release {
            var board = try table(standing).board
            var effects: [Effect] = []
            let stranger = Steering(action, uid: 1001)
            #expect(
                board.steer("a", stranger, isPrivileged: false, &effects) == .refused(owner: 1000))
            #expect(effects.isEmpty)
            let owner = Steering(action, uid: 1000)
            #expect(board.steer("a", owner, isPrivileged: false, &effects) == .acts)
        }
    }

    /// In a user namespace or on a network file system, many users look like nobody.
    @Test(arguments: [
        (UInt32(1000), UInt32?(1000), true), (1000, 1001, false), (1000, nil, false),
        (65534, 65534, false), (0, 0, true),
    ])
    func knowsWhoIsTheOwner(uid: UInt32, manifest: UInt32?, isOwner: Bool) {
        #expect(Steering(.cancel, uid: uid).isOwners(of: manifest) == isOwner)
    }

    @Test func beginsNothingMoreWhileHeld() throws {
        var table = try Table(window: 8)
        table.accept("a", images: 100)
        // Each step is a download or a filter with its record, so that nothing runs between them.
        table.run(steps: 12)
        let begun = table.downloads.count
        let filtered = table.filtered.count
        #expect(filtered < begun, "some images wait for their filters")
        table.steer("a", .hold)
        #expect(table.state(of: "a") == .held)
        table.runToTheEnd()
        #expect(table.downloads.count == begun)
        #expect(table.filtered.count == filtered)
        // It costs nothing while it is held.
        #expect(table.board.batches.isEmpty)
        #expect(table.board.summary.batchesHeld == 1)
        #expect(table.board.waitingBatches.waitingCount == 0)

        table.steer("a", .release)
        table.runToTheEnd()
        #expect(table.finished == ["a": .completed])
        #expect(table.filtered.count == 100)
        // What was fetched and not filtered is fetched again, for its bytes were given back.
        #expect(table.downloads.count == 100 + begun - filtered)
        #expect(table.steered.map(\.action) == [.hold, .release])
    }

    /// In a sticky inbox a control may stay, and is there after a restart.
    @Test(arguments: [Standing.waits, .inWork])
    func aControlThatCouldNotBeRemovedActsOnce(standing: Standing) throws {
        var table = try Table(window: 1, imageBudget: 10)
        table.accept("busy", images: standing == .waits ? 10 : 1)
        table.accept("a", images: 10)
        if standing == .inWork { table.run(steps: 3) }
        for (file, action, outcome) in [
            ("1", Steering.Action.hold, SteeringOutcome.acts), ("2", .release, .acts),
            ("1", .hold, .hasActed),
            ("3", .hold, .acts),
        ] {
            var effects: [Effect] = []
            let act = Steering(action, uid: 0, file: file)
            #expect(table.board.steer("a", act, isPrivileged: true, &effects) == outcome)
            #expect(effects.isEmpty == (outcome != .acts))
        }
    }

    @Test func leavesItsRoomToOthersWhileHeld() throws {
        var table = try Table(window: 4, imageBudget: 10)
        table.accept("large", images: 100)
        table.accept("other", images: 100)
        table.run(steps: 5)
        table.steer("large", .hold)
        table.runToTheEnd()
        #expect(table.finished == ["other": .completed])
        table.steer("large", .release)
        table.runToTheEnd()
        #expect(table.finished["large"] == .completed)
    }

    @Test func takesItsOldPlaceWhenReleased() throws {
        var table = try Table(window: 4, imageBudget: 10)
        for id in ["busy", "a", "b"] { table.accept(id, images: 9) }
        table.steer("a", .hold)
        table.steer("a", .release)
        table.runToTheEnd()
        #expect(table.finishedOrder == ["busy", "a", "b"])
    }

    @Test func releasedBeforeItIsPutAwayItGoesOn() throws {
        var table = try Table(window: 4)
        table.accept("a", images: 20)
        table.run(steps: 6)
        table.steer("a", .hold)
        table.run(steps: 1)
        table.steer("a", .release)
        #expect(table.state(of: "a") == .processing)
        table.runToTheEnd()
        #expect(table.finished == ["a": .completed])
        #expect(table.downloads.count == 20)
    }

    /// A control that came with the manifest acts before any image begins.
    @Test func beginsNothingOfABatchHeldFromTheFirst() throws {
        var table = try Table(window: 4)
        table.accept("a", images: 3, isHeld: true)
        table.runToTheEnd()
        #expect(table.downloads.isEmpty)
        #expect(table.finished.isEmpty)
        #expect(table.board.summary.batchesHeld == 1)
        table.steer("a", .release)
        table.runToTheEnd()
        #expect(table.finished == ["a": .completed])
    }

    @Test func putsOffADownloadThatHadNotBegun() throws {
        var table = try Table(window: 4)
        table.defersEvery = 2
        table.accept("a", images: 30)
        table.run(steps: 9)
        table.steer("a", .hold)
        table.runToTheEnd()
        #expect(table.board.summary.batchesHeld == 1)
        table.steer("a", .release)
        table.runToTheEnd()
        #expect(table.finished == ["a": .completed])
    }

    @Test(arguments: 0..<40)
    func endsEverythingHoweverItIsSteered(seed: UInt64) throws {
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
                    let action = Steering.Action.allCases.randomElement(using: &random),
                    action != .cancel || Int.random(in: 0..<4, using: &random) == 0
                else { continue }
                table.steer(other, action)
            }
        }
        table.runToTheEnd()
        for id in ids { table.steer(id, .release) }
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
