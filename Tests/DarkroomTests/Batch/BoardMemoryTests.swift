import TestSupport
import Testing

@testable import DarkroomBatch
@testable import DarkroomCore
@testable import DarkroomDaemon
@testable import DarkroomFetch
@testable import DarkroomManifest
@testable import DarkroomPicture
@testable import DarkroomSelfTest
@testable import DarkroomSpool

/// Images that wait for memory, and those that are filtered alone or not at all.
@Suite struct BoardMemoryTests {
    private static let mega = 1 << 20

    private static func manifest(
        _ names: [ByteString], priority: Priority = .normal
    ) -> Manifest {
        Manifest(
            images: names.map { Manifest.Image(name: $0, origin: .source("s-\($0)")) },
            priority: priority)
    }

    private static func crashes(_ causes: CrashCause...) -> Crashes {
        var crashes = Crashes()
        for (index, cause) in causes.enumerated() { crashes.add(cause, number: index + 1) }
        return crashes
    }

    private func table(megabytes: Int, width: Int, keptForOwners: Int = 0) throws -> Table {
        var table = try Table(window: 64)
        table.width = width + keptForOwners
        table.setMemory(
            limit: megabytes * Self.mega, width: width, keptForOwners: keptForOwners)
        return table
    }

    @Test func smallOnesPassALargeOne() throws {
        var table = try table(megabytes: 100, width: 4)
        table.needs = ["a": 60 * Self.mega, "b": 60 * Self.mega]
        table.accept("x", Self.manifest(["a", "b", "c", "d", "e"]))
        table.runToTheEnd()
        #expect(table.admitted == ["a", "c", "d", "e", "b"])
        #expect(table.postponements == 1 && table.endedTwice == 0)
        #expect(table.finished == ["x": .completed])
        #expect(table.board.memory.held == 0 && table.board.memory.waitingCount == 0)
    }

    @Test func aLargeOneIsNotPassedForEver() throws {
        var table = try table(megabytes: 100, width: 2)
        table.needs = ["small0": 60 * Self.mega, "large": 100 * Self.mega]
        table.accept("x", Self.manifest(["small0", "large"] + (1..<300).map { "small\($0)" }))
        table.runToTheEnd()
        let place = try #require(table.admitted.firstIndex(of: "large"))
        // Those that pass, and those that were at work when the last of them began.
        #expect((1...MemoryBudget.patience + 4).contains(place))
        #expect(table.counts["x"]?.filtered == 301)
    }

    @Test func onlyAsManyAsFitAreFilteredAtOnce() throws {
        var table = try table(megabytes: 100, width: 8)
        let names = (0..<50).map { "i\($0)" }
        table.needs = Dictionary(uniqueKeysWithValues: names.map { ($0, 30 * Self.mega) })
        table.accept("x", Self.manifest(names.map { ByteString($0) }))
        table.runToTheEnd()
        #expect(table.mostAtOnce == 3)
        #expect(table.counts["x"]?.filtered == 50 && table.endedTwice == 0)
    }

    @Test func oneThatNeedsMoreThanThereIsFails() throws {
        var table = try table(megabytes: 100, width: 2)
        table.needs = ["a": 101 * Self.mega, "b": 100 * Self.mega]
        table.accept("x", Self.manifest(["a", "b", "c"]))
        table.runToTheEnd()
        #expect(table.codes["a"] == "memory-limit")
        #expect(table.counts["x"]?.filtered == 2 && table.counts["x"]?.failed == 1)
    }

    @Test func oneThatHasBecomeTooLargeFailsToo() throws {
        var table = try table(megabytes: 100, width: 2)
        table.needs = ["a": 50 * Self.mega, "b": 90 * Self.mega]
        table.accept("x", Self.manifest(["a", "b"]))
        table.run { $0.postponements == 1 }
        table.setMemory(limit: 80 * Self.mega, width: 2)
        table.runToTheEnd()
        #expect(table.codes["b"] == "memory-limit")
        #expect(table.filtered == ["a"])
    }

    @Test func higherPrioritiesAreServedFirst() throws {
        var table = try table(megabytes: 100, width: 4)
        table.needs = ["a": 90 * Self.mega, "low": 80 * Self.mega, "high": 80 * Self.mega]
        table.accept("x", Self.manifest(["a", "low"]))
        table.run { $0.postponements == 1 }
        table.accept("y", Self.manifest(["high"], priority: .high))
        table.run { $0.postponements == 2 }
        table.runToTheEnd()
        #expect(table.admitted == ["a", "high", "low"])
    }

    @Test func whoWaitsIsShownAsDownloaded() throws {
        var table = try table(megabytes: 100, width: 4)
        table.needs = ["a": 90 * Self.mega, "b": 80 * Self.mega]
        table.accept("x", Self.manifest(["a", "b"]))
        table.run { $0.postponements == 1 }
        #expect(table.counts(of: "x").filtering == 1 && table.counts(of: "x").downloaded == 1)
        #expect(table.board.summary.imagesWaitingForMemory == 1)
        #expect(table.board.summary.memoryGranted == 90 * Self.mega)
    }

    @Test func cancellingEndsWhoWaits() throws {
        var table = try table(megabytes: 100, width: 4)
        table.needs = ["a": 90 * Self.mega, "b": 80 * Self.mega]
        table.accept("x", Self.manifest(["b"]))
        table.accept("y", Self.manifest(["a", "c"]))
        table.run { $0.postponements == 1 }
        let waiting = table.board.memory.waitingCount
        table.obey(table.admitted == ["a"] ? "x" : "y", .cancel)
        #expect(waiting == 1 && table.board.memory.waitingCount == 0)
        table.runToTheEnd()
        #expect(table.finished.count == 2 && table.endedTwice == 0)
        #expect(table.finished.values.count { $0 == .cancelled } == 1)
        #expect(table.board.memory.held == 0)
    }

    /// Its operation is taken back, so nobody else would give its memory back.
    @Test(arguments: [false, true])
    func holdingGivesBackWhatItWaitsForOrHas(isGranted: Bool) throws {
        var table = try table(megabytes: 100, width: 4)
        table.needs = ["large": 90 * Self.mega, "made": 50 * Self.mega]
        table.accept(
            "x",
            Manifest(images: [
                Manifest.Image(name: "a", origin: .source("s")),
                Manifest.Image(name: "made", origin: .image(0)),
            ]))
        table.accept("y", Self.manifest(["large"]))
        table.run { $0.postponements == 1 }
        #expect(table.board.memory.waitingCount == 1)
        if isGranted { table.run { $0.board.memory.waitingCount == 0 } }
        #expect(table.obey("x", .hold) == .acts)
        #expect(table.board.memory.waitingCount == 0)
        table.runToTheEnd()
        #expect(table.board.memory.held == 0)
        #expect(table.obey("x", .release) == .acts)
        table.runToTheEnd()
        #expect(table.finished["x"] == .completed && table.finished["y"] == .completed)
        #expect(table.board.memory.held == 0)
    }

    /// In any order of events, with suspensions and cancellations in between: all ends, once, and all memory
    /// comes back.
    @Test(arguments: 0..<20) func nothingIsLostInAnyOrder(seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        var table = try table(megabytes: 60, width: Int.random(in: 1...5, using: &random))
        table.shuffle = SplitMix64(seed: seed &+ 100)
        table.defersEvery = Int.random(in: 2...9, using: &random)
        for batch in 0..<6 {
            let names = (0..<40).map { "\(batch)-\($0)" }
            for name in names {
                table.needs[name] = Int.random(in: 1...70, using: &random) * Self.mega
            }
            let suspect = Int.random(in: 0..<40, using: &random)
            table.accept(
                "b\(batch)",
                Self.manifest(names.map { ByteString($0) }, priority: batch < 3 ? .low : .high),
                crashes: [suspect: Self.crashes(.killed)])
            table.run(steps: Int.random(in: 0..<60, using: &random))
        }
        table.obey("b1", .cancel)
        table.run(steps: 200)
        table.setMemory(limit: 40 * Self.mega, width: 3)
        table.run(steps: 200)
        table.obey("b4", .cancel)
        table.runToTheEnd()
        #expect(table.finished.count == 6 && table.endedTwice == 0)
        for counts in table.counts.values { #expect(counts.finished == 40) }
        #expect(table.board.memory.held == 0 && table.board.memory.waitingCount == 0)
    }

    // MARK: Suspects

    @Test func aSuspectIsFilteredAlone() throws {
        var table = try table(megabytes: 100, width: 4)
        table.accept(
            "x", Self.manifest(["a", "suspect", "b", "c"]),
            crashes: [1: Self.crashes(.signal("SIGSEGV"))])
        table.run { $0.admitted.last == "suspect" }
        // The others have ended; those that come ask in vain.
        #expect(table.board.memory.held == 100 * Self.mega)
        #expect(table.atWork == ["suspect"])
        table.runToTheEnd()
        #expect(Set(table.filtered) == ["a", "suspect", "b", "c"])
    }

    /// Beside it another owner's picture is filtered, of the memory that is kept.
    @Test func aSuspectKeepsNoIdleOwnerOut() throws {
        var table = try table(megabytes: 800, width: 2, keptForOwners: 8)
        table.owners = ["y": 2000]
        table.accept(
            "x", Self.manifest(["suspect", "other"]),
            crashes: [0: Self.crashes(.killed), 1: Self.crashes(.killed)])
        table.run { $0.atWork == ["suspect"] }
        table.accept("y", Self.manifest(["a", "b"]))
        table.run { $0.admitted.last == "a" }
        #expect(table.atWork == ["suspect", "a"])
        table.runToTheEnd()
        #expect(Set(table.filtered) == ["suspect", "other", "a", "b"])
        #expect(table.board.memory.held == 0 && table.board.memory.waitingCount == 0)
    }

    /// A picture begins also where the whole memory is less than its share, and hears what it lacks.
    @Test func whatHasTooLittleMemoryFails() throws {
        var table = try table(megabytes: 1, width: 2, keptForOwners: 8)
        table.needs = ["a": 8 * Self.mega]
        table.accept("x", Self.manifest(["a"]))
        table.runToTheEnd()
        #expect(table.codes == ["a": "memory-limit"])
    }

    /// It has all that one may have, and does not wait for more.
    @Test func aSuspectThatNeedsMoreThanOneMayFails() throws {
        var table = try table(megabytes: 800, width: 2, keptForOwners: 8)
        table.needs = ["most": 700 * Self.mega, "more": 701 * Self.mega]
        table.accept(
            "x", Self.manifest(["most", "more"]),
            crashes: [0: Self.crashes(.killed), 1: Self.crashes(.killed)])
        table.runToTheEnd()
        #expect(table.codes == ["more": "memory-limit"])
        #expect(table.filtered == ["most"])
    }

    /// Someone who kills the daemon again and again must not meet the same image each time.
    @Test func suspectsComeLastTheLeastSuspectedFirst() throws {
        var table = try table(megabytes: 100, width: 1)
        table.accept(
            "x", Self.manifest(["a", "b", "c", "d", "e"]),
            crashes: [
                0: Self.crashes(.killed, .killed), 1: Self.crashes(.killed),
                3: Self.crashes(.killed, .killed, .killed),
            ])
        table.runToTheEnd()
        #expect(table.admitted == ["c", "e", "b", "a", "d"])
    }

    @Test func aConvictIsNeitherFetchedNorFiltered() throws {
        var table = try table(megabytes: 100, width: 4)
        table.accept(
            "x",
            Manifest(images: [
                Manifest.Image(name: "a", origin: .source("s-a")),
                Manifest.Image(name: "quarantine", origin: .source("s-quarantine")),
                Manifest.Image(name: "made", origin: .image(1)),
                Manifest.Image(name: "b", origin: .source("s-b")),
            ]),
            crashes: [1: Self.crashes(.signal("SIGSEGV"), .signal("SIGSEGV"))])
        table.runToTheEnd()
        #expect(table.filtered == ["a", "b"] && Set(table.downloads) == ["s-a", "s-b"])
        #expect(table.codes["quarantine"] == "quarantined")
        #expect(table.codes["made"] == "dependency-failed")
        #expect(table.finished == ["x": .completedWithErrors])
    }

    @Test func someoneWhoKillsTheDaemonConvictsNobody() throws {
        var table = try table(megabytes: 100, width: 4)
        table.accept(
            "x", Self.manifest(["a"]),
            crashes: [0: Self.crashes(.killed, .killed, .killed, .killed)])
        table.runToTheEnd()
        #expect(table.filtered == ["a"])
    }
}
