import TestSupport
import Testing

@testable import DarkroomBatch
@testable import DarkroomCore
@testable import DarkroomDaemon
@testable import DarkroomFetch
@testable import DarkroomManifest
@testable import DarkroomPicture
@testable import DarkroomSpool

/// The board moved by hand: what it wants done is done at once or in the order a test chooses.
@Suite struct BoardTests {
    @Test(arguments: [1, 2, 63, 64, 65, 1000])
    func endsEveryImageOfABatch(count: Int) throws {
        var table = try Table(window: 64)
        table.accept("a", images: count)
        table.runToTheEnd()
        #expect(table.finished == ["a": .completed])
        #expect(table.counts["a"]?.filtered == count)
        #expect(table.mostLive <= 64)
        #expect(table.mostSlots <= 64)
    }

    @Test func fetchesASourceOfSeveralImagesOnce() throws {
        var table = try Table(window: 8)
        let images = (0..<100).map {
            Manifest.Image(name: "i\($0)", origin: .source("s\($0 % 3)"))
        }
        table.accept("a", Manifest(images: images))
        table.runToTheEnd()
        #expect(table.downloads.count == 3)
        #expect(table.mostSlots == 3)
        #expect(table.counts["a"]?.filtered == 100)
    }

    @Test func failsTheImagesOfASourceThatCannotBeFetched() throws {
        var table = try Table(window: 8)
        table.failingSources = ["s1"]
        table.accept(
            "a",
            Manifest(
                images: (0..<20).map {
                    Manifest.Image(name: "i\($0)", origin: .source("s\($0 % 4)"))
                }))
        table.runToTheEnd()
        #expect(table.finished == ["a": .completedWithErrors])
        #expect(table.counts["a"]?.failed == 5)
        #expect(table.counts["a"]?.filtered == 15)
    }

    @Test func startsAnImageOnlyAfterThoseItComesAfter() throws {
        var table = try Table(window: 8)
        table.accept(
            "a",
            Manifest(images: [
                Manifest.Image(name: "last", origin: .source("s0"), after: [1, 2]),
                Manifest.Image(name: "made", origin: .image(2)),
                Manifest.Image(name: "first", origin: .source("s1")),
            ]))
        table.runToTheEnd()
        #expect(table.filtered == ["first", "made", "last"])
    }

    @Test func failsWhatWasToBeMadeFromAFailedImageAndOnlyThat() throws {
        var table = try Table(window: 8)
        table.failingImages = ["base"]
        table.accept(
            "a",
            Manifest(images: [
                Manifest.Image(name: "base", origin: .source("s0")),
                Manifest.Image(name: "made", origin: .image(0)),
                Manifest.Image(name: "madeOfMade", origin: .image(1)),
                Manifest.Image(name: "after", origin: .source("s1"), after: [0]),
            ]))
        table.runToTheEnd()
        #expect(table.counts["a"]?.failed == 3)
        #expect(table.filtered == ["after"])
        #expect(table.codes["made"] == "dependency-failed")
        #expect(table.codes["madeOfMade"] == "dependency-failed")
        let base = try #require(table.failures["base"])
        let made = try #require(table.failures["made"])
        #expect(made.message == "made is made from base, which has failed (\(base.code))")
        // Trying the batch again does the other one again, too.
        #expect(made.isTransient == base.isTransient)
    }

    /// What the journal tells of the beginning: once, and whether there was one before.
    @Test func tellsOnceThatABatchBegins() throws {
        var table = try Table(window: 2)
        table.accept("a", images: 5)
        table.accept(
            "b",
            Manifest(
                images: (0..<3).map { Manifest.Image(name: "i\($0)", origin: .source("s\($0)")) }),
            ended: [1: .filtered])
        table.runToTheEnd()
        #expect(table.begun.map(\.id) == ["a", "b"])
        #expect(table.begun.map(\.images) == [5, 2])
    }

    /// Images laid over others come first, and fail those that wanted them.
    @Test func filtersWhatIsLaidOverOthersFirst() throws {
        let manifest = Manifest(images: [
            Manifest.Image(name: "marked", origin: .source("s0"), overlays: [3]),
            Manifest.Image(name: "markedTwice", origin: .image(0), overlays: [3, 2]),
            Manifest.Image(name: "frame", origin: .source("s1")),
            Manifest.Image(name: "logo", origin: .source("s2")),
        ])
        var table = try Table(window: 8)
        table.accept("a", manifest)
        table.runToTheEnd()
        #expect(table.filtered == ["frame", "logo", "marked", "markedTwice"])

        var failing = try Table(window: 8)
        failing.failingImages = ["logo"]
        failing.accept("a", manifest)
        failing.runToTheEnd()
        #expect(failing.filtered == ["frame"])
        #expect(failing.codes["marked"] == "dependency-failed")
        #expect(failing.codes["markedTwice"] == "dependency-failed")
        #expect(failing.finished == ["a": .completedWithErrors])

        // A restart between the logo's failure and that of the others.
        for state in [ImageState.failed, .cancelled] {
            var restarted = try Table(window: 8)
            restarted.accept("a", manifest, ended: [3: state])
            restarted.runToTheEnd()
            #expect(restarted.filtered == ["frame"])
            #expect(restarted.codes["marked"] == "dependency-failed")
        }
        var restarted = try Table(window: 8)
        restarted.accept("a", manifest, ended: [3: .filtered])
        restarted.runToTheEnd()
        #expect(restarted.filtered == ["marked", "frame", "markedTwice"])
    }

    @Test func endsAChainLongerThanTheWindow() throws {
        var table = try Table(window: 4)
        let images = (0..<50_000).map { index in
            Manifest.Image(
                name: "i\(index)", origin: index == 0 ? .source("s") : .image(index - 1))
        }
        table.accept("a", Manifest(images: images))
        table.runToTheEnd()
        #expect(table.counts["a"]?.filtered == 50_000)
    }

    @Test func letsAHigherPriorityGoFirst() throws {
        var table = try Table(window: 4, placesPerLevel: 4)
        table.accept("low", images: 40, priority: .low)
        table.run(steps: 6)
        table.accept("high", images: 8, priority: .high)
        table.runToTheEnd()
        let order = table.filteredBatches
        let lastHigh = try #require(order.lastIndex(of: "high"))
        #expect(order[..<lastHigh].count { $0 == "low" } <= 12)
        #expect(table.finishedOrder == ["high", "low"])
    }

    @Test func givesALowerQualityOfServiceWhatTheHigherLeaves() throws {
        var table = try Table(window: 8, saturation: 4)
        table.accept("background", images: 20, quality: .background)
        table.accept("interactive", images: 20, quality: .userInteractive)
        table.runToTheEnd()
        #expect(table.finishedOrder.first == "interactive")
    }

    @Test func letsASmallBatchPassALargeOneInWork() throws {
        var table = try Table(window: 4)
        table.accept("large", images: 10_000)
        table.run(steps: 100)
        table.accept("small", images: 1)
        table.run(steps: 100)
        #expect(table.finished["small"] == .completed)
        #expect(table.finished["large"] == nil)
    }

    @Test func keepsNoMoreThanTheBudgetInWorkButLetsOneLargeBatchIn() throws {
        var table = try Table(window: 4, imageBudget: 100)
        table.accept("a", images: 80)
        table.accept("b", images: 500)
        table.accept("c", images: 300)
        table.accept("d", images: 10)
        #expect(table.board.summary.batchesInWork == 2)
        table.runToTheEnd()
        #expect(table.finished.count == 4)
    }

    /// However many small batches there are, few of each level are in work; others of a higher level are not
    /// kept waiting by them.
    @Test func keepsFewBatchesOfALevelInWork() throws {
        var table = try Table(window: 4, batchesPerLevel: 8)
        for index in 0..<50 { table.accept("b\(index)", images: 1) }
        #expect(table.board.summary.batchesInWork == 8)
        table.accept("urgent", images: 1, priority: .veryHigh)
        #expect(table.board.summary.batchesInWork == 9)
        for index in 0..<50 where index % 7 == 0 { table.obey("b\(index)", .hold) }
        for index in 0..<50 where index % 14 == 0 { table.obey("b\(index)", .cancel) }
        for index in 0..<50 where index % 14 == 7 { table.obey("b\(index)", .release) }
        table.runToTheEnd()
        #expect(table.finished.count == 51)
        for index in 0..<50 { table.accept("c\(index)", images: 1) }
        #expect(table.board.summary.batchesInWork == 8)
    }

    /// Whatever one owner has in work, another's image is given a place.
    @Test func leavesPlacesToOtherOwners() throws {
        var table = try Table(window: 4, placesPerLevel: 16)
        for index in 0..<10 { table.accept("many\(index)", images: 10) }
        #expect(table.board.places.reduce(0, +) == 12)
        table.owners["other"] = 2
        table.accept("other", images: 1)
        #expect(table.state(of: "other") == .processing)
        table.runToTheEnd()
        #expect(table.finished.count == 11)
        #expect(table.board.placesOfOwner.allSatisfy { $0.values.allSatisfy { $0 == 0 } })
    }

    /// Nor do his manifests, many as they are, keep another's from being worked on, be that one of a lower priority.
    @Test(arguments: [DarkroomManifest.Priority.normal, .veryLow])
    func leavesRoomToOtherOwners(priority: DarkroomManifest.Priority) throws {
        var table = try Table(window: 4, imageBudget: 1600, batchesPerLevel: 8)
        for index in 0..<100 { table.accept("many\(index)", images: 300) }
        let waiting = table.board.summary.batchesWaiting
        #expect(waiting > 90)
        table.owners["other"] = 2
        table.accept("other", images: 100, priority: priority)
        #expect(table.state(of: "other") != nil)
        #expect(table.board.summary.batchesWaiting == waiting)
        // Room for those who have little is not for whom it makes have much.
        table.owners["another"] = 2
        table.accept("another", images: 150, priority: priority)
        #expect(table.state(of: "another") == nil)
        table.runToTheEnd()
        #expect(table.finished.count == 102)
        #expect(table.board.imagesOfOwner.allSatisfy { $0.value == 0 })
    }

    /// However many owners have all there is, one who has nothing is given a place.
    @Test func leavesPlacesToOwnersBesideSeveral() throws {
        var table = try Table(window: 64, placesPerLevel: 16)
        for owner in 2..<8 {
            for number in 0..<4 {
                table.owners["\(owner)-\(number)"] = UInt32(owner)
                table.accept("\(owner)-\(number)", images: 16)
            }
        }
        table.owners["other"] = 9
        table.accept("other", images: 3)
        #expect(table.state(of: "other") == .processing)
        table.runToTheEnd()
        #expect(table.finished.count == 25)
        #expect(table.board.placesOfOwner.allSatisfy { $0.values.allSatisfy { $0 == 0 } })
    }

    /// Nor does a higher quality of service keep another owner's out.
    @Test func leavesPlacesToOthersBesideAHigherQualityOfService() throws {
        var table = try Table(window: 64, saturation: 18)
        table.accept("urgent", images: 200, quality: .userInteractive)
        table.accept("own", images: 3)
        table.owners["other"] = 2
        table.accept("other", images: 3)
        #expect(table.state(of: "other") == .processing)
        #expect(table.state(of: "own") != .processing)
        table.runToTheEnd()
        #expect(table.finished.count == 3)
    }

    /// Nor do those who have filled all the room for batches keep out one who has nothing in work.
    @Test func leavesRoomToOwnersBesideSeveral() throws {
        var table = try Table(window: 4, batchesPerLevel: 16)
        for (owner, count) in [(2, 30), (3, 1), (4, 1), (5, 1), (6, 1), (7, 1)] {
            for number in 0..<count {
                table.owners["\(owner)-\(number)"] = UInt32(owner)
                table.accept("\(owner)-\(number)", images: 1)
            }
        }
        table.owners["other"] = 9
        table.accept("other", images: 1)
        #expect(table.state(of: "other") != nil)
        table.runToTheEnd()
        #expect(table.finished.count == 36)
    }

    /// The owner who has the fewest images in work is next where there is room again.
    @Test func worksOnOwnersInTurns() throws {
        var table = try Table(window: 4, imageBudget: 400, batchesPerLevel: 4)
        for index in 0..<20 { table.accept("a\(index)", images: 100) }
        for index in 0..<4 {
            table.owners["b\(index)"] = 2
            table.accept("b\(index)", images: 100)
        }
        table.runToTheEnd()
        let last = try #require(table.finishedOrder.lastIndex { $0.hasPrefix("b") })
        #expect(last < 14, "\(table.finishedOrder)")
    }

    @Test func preparesFromTheFolderWhatItHadNoRoomToKeep() throws {
        var table = try Table(window: 4, imageBudget: 10, preparedBudget: 10)
        for index in 0..<8 { table.accept("b\(index)", images: 7) }
        table.runToTheEnd()
        #expect(table.finished.count == 8)
        #expect(table.prepared > 0)
    }

    @Test func cancelsWhatWaitsAtOnceAndWhatRunsAtItsEnd() throws {
        var table = try Table(window: 8)
        table.accept("a", images: 100)
        table.run(steps: 10)
        table.obey("a", .cancel)
        #expect(table.counts(of: "a").cancelled >= 84)
        table.runToTheEnd()
        #expect(table.finished == ["a": .cancelled])
        let counts = try #require(table.counts["a"])
        #expect(counts.filtered + counts.cancelled == 100)
    }

    @Test func cancelsABatchThatStillWaits() throws {
        var table = try Table(window: 4, imageBudget: 10)
        table.accept("a", images: 9)
        table.accept("b", images: 9)
        table.accept("c", images: 9)
        table.obey("c", .cancel)
        table.runToTheEnd()
        #expect(table.finished == ["a": .completed, "b": .completed, "c": .cancelled])
    }

    @Test(arguments: [65_536, 0])
    func remembersACancellationOverARestart(preparedBudget: Int) throws {
        var table = try Table(window: 4, preparedBudget: preparedBudget)
        table.accept("a", images: 10, control: .cancelled)
        table.runToTheEnd()
        #expect(table.finished == ["a": .cancelled])
        #expect(table.counts["a"]?.cancelled == 10)
    }

    @Test func failsAfterARestartWhatWasToBeMadeFromAFailedImage() throws {
        var table = try Table(window: 4)
        table.accept(
            "a",
            Manifest(images: [
                Manifest.Image(name: "base", origin: .source("s0")),
                Manifest.Image(name: "made", origin: .image(0)),
            ]), ended: [0: .failed])
        table.runToTheEnd()
        #expect(table.codes["made"] == "dependency-failed")
        #expect(table.counts["a"]?.failed == 2)
    }

    @Test func letsAnUrgentSmallBatchInBesideAFullHouse() throws {
        var table = try Table(window: 4, imageBudget: 4000)
        for index in 0..<4 { table.accept("full\(index)", images: 1000) }
        table.accept("large", images: 3000)
        table.accept("urgent", images: 1, priority: .veryHigh)
        #expect(table.board.summary.batchesWaiting == 0)
    }

    /// Two IDs that are one string to Unicode are two folders.
    @Test func cancelsTheBatchOfThatSpelling() throws {
        var table = try Table(window: 4)
        let ids = ["caf\u{E9}", "cafe\u{301}"]
        for id in ids { table.accept(id, images: 9) }
        table.run(steps: 1)
        var effects: [Effect] = []
        let cancel = ControlRecord(.cancel, uid: 0)
        #expect(table.board.obey(ids[0], cancel, isPrivileged: true, &effects) == .acts)
        let cancelled = effects.compactMap { effect in
            if case .recordCommand(let folders, _) = effect {
                Array(folders.id.utf8)
            } else {
                nil
            }
        }
        #expect(cancelled == [Array(ids[0].utf8)])
    }

    /// A server sees no fragment, and what a user types is percent-encoded for it.
    @Test func fetchesAURLOnceHoweverItIsWritten() throws {
        var table = try Table(window: 4)
        let sources: [ByteString] = [
            "http://h/a b.png", "http://h/a%20b.png#1", "http://h/a%20b.png#2", "http://h/c.png",
            "http://h/c.png#", "http://h/C.png", "c.png", "c.png#1",
        ]
        let images = sources.enumerated().map { index, source in
            Manifest.Image(name: "i\(index)", origin: .source(source))
        }
        table.accept("a", Manifest(images: images))
        table.runToTheEnd()
        #expect(table.downloads == [0, 3, 5, 6, 7].map { sources[$0] })
        #expect(table.filtered.count == sources.count)
    }

    @Test func tellsSourcesApartByTheirBytes() throws {
        var table = try Table(window: 4)
        let sources: [ByteString] = ["caf\u{E9}.png", "cafe\u{301}.png", "caf\u{E9}.png"]
        let images = sources.enumerated().map { index, source in
            Manifest.Image(name: "i\(index)", origin: .source(source))
        }
        table.accept("a", Manifest(images: images))
        table.runToTheEnd()
        #expect(table.downloads == Array(sources.prefix(2)))
    }

    @Test func knowsNoBatchThatHasEndedOrNeverWas() throws {
        var table = try Table(window: 4)
        table.accept("a", images: 1)
        table.runToTheEnd()
        for id in ["a", "z"] {
            for command in ControlCommand.allCases {
                #expect(table.obey(id, command) == .unknown)
            }
        }
    }

    /// What a stop has broken off is told of as what it is again, for the next daemon may not come to it for long.
    @Test func tellsOfAFilterThatIsPutBack() throws {
        var table = try Table(window: 4)
        table.width = 2
        table.accept("a", images: 1)
        table.run { $0.image("a", 0)?.state == .filtering }
        let key = try #require(table.board.batches.keys.first)
        let effects = table.board.filterDeferred(key, 0)
        #expect(table.image("a", 0)?.state == .downloaded)
        #expect(effects.contains { if case .statusChanged(key) = $0 { true } else { false } })
    }

    @Test func goesOnAfterDeferrals() throws {
        var table = try Table(window: 8)
        table.defersEvery = 3
        table.accept("a", images: 200)
        table.runToTheEnd()
        #expect(table.finished == ["a": .completed])
    }

    @Test(arguments: 0..<40)
    func endsEverythingExactlyOnceWhateverTheOrder(seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        var table = try Table(window: 1 + Int.random(in: 0..<9, using: &random))
        table.shuffle = random
        table.failingSources = ["s1", "s5"]
        table.failingImages = ["i3", "i11"]
        table.defersEvery = 5
        let ids = (0..<12).map { "b\($0)" }
        var total: [String: Int] = [:]
        for id in ids {
            let count = Int.random(in: 1...40, using: &random)
            total[id] = count
            let images = (0..<count).map { index in
                let isMade = index > 0 && Int.random(in: 0..<4, using: &random) == 0
                let other = index > 0 ? Int.random(in: 0..<index, using: &random) : 0
                return Manifest.Image(
                    name: "i\(index)",
                    origin: isMade
                        ? .image(other) : .source("s\(Int.random(in: 0..<8, using: &random))"),
                    after: index > 2 && index % 5 == 0 ? [index - 2] : [])
            }
            let priority = Priority.allCases.randomElement(using: &random) ?? .normal
            table.accept(id, Manifest(images: images, priority: priority))
            table.run(steps: Int.random(in: 0..<30, using: &random))
            if Int.random(in: 0..<5, using: &random) == 0 { table.obey(id, .cancel) }
        }
        table.runToTheEnd()
        #expect(table.finished.keys.sorted() == ids.sorted())
        for id in ids {
            let counts = try #require(table.counts[id])
            #expect(counts.finished == total[id])
            #expect(counts.total == total[id])
            #expect(counts.new == 0 && counts.downloading == 0 && counts.downloaded == 0)
            #expect(counts.filtering == 0)
        }
        #expect(table.endedTwice == 0)
        #expect(table.board.summary.batchesInWork == 0)
    }

    /// An image that met a full disk gives its source back, unless another image needs it, and has it fetched
    /// again.
    @Test(arguments: [1, 4]) func endsEveryImageThatMetAFullDisk(sharing: Int) throws {
        var table = try Table(window: 8)
        table.fillsEvery = 3
        table.accept(
            "a",
            Manifest(
                images: (0..<60).map {
                    Manifest.Image(name: "i\($0)", origin: .source("s\($0 / sharing)"))
                } + [Manifest.Image(name: "made", origin: .image(0))]))
        table.runToTheEnd()
        #expect(table.finished == ["a": .completed])
        #expect(table.counts["a"]?.filtered == 61)
        #expect(table.sourcesGivenBack > 0)
        #expect(table.downloads.count == 60 / sharing + table.sourcesGivenBack)
        #expect(table.mostSlots <= 8)
        #expect(table.endedTwice == 0)
    }

    @Test(arguments: [0, 1]) func cancelsImagesThatWaitForTheDisk(isGivenBack: Int) throws {
        var table = try Table(window: 8)
        table.fillsEvery = isGivenBack == 1 ? 1 : 2
        table.accept("a", images: 20)
        table.run(steps: 30)
        table.obey("a", .cancel)
        table.runToTheEnd()
        #expect(table.finished == ["a": .cancelled])
        #expect(table.counts["a"]?.finished == 20)
        #expect(table.endedTwice == 0)
    }
}
