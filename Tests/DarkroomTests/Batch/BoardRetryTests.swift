import TestSupport
import Testing

@testable import DarkroomBatch
@testable import DarkroomCore
@testable import DarkroomDaemon
@testable import DarkroomFetch
@testable import DarkroomManifest
@testable import DarkroomPicture
@testable import DarkroomSpool

/// Downloads that are tried again, and those that wait for their host.
@Suite struct BoardRetryTests {
    private func table(window: Int = 8, retries: Int = 4) throws -> Table {
        var table = try Table(window: window)
        table.board.backOff = BackOff(retries: retries)
        table.board.jitter = { 1 }
        return table
    }

    /// Images of the sources named, one each.
    private func manifest(_ sources: [ByteString]) -> Manifest {
        Manifest(
            images: sources.enumerated().map {
                Manifest.Image(name: "i\($0)", origin: .source($1))
            })
    }

    private func begin(_ table: inout Table) -> DownloadJob? { table.board.downloadBegan(1, 0) }

    @Test func triesAgainUntilItGoesWell() throws {
        var table = try table()
        table.lateSources = ["s1": 3]
        table.accept("a", images: 3)
        table.runToTheEnd()
        #expect(table.finished == ["a": .completed])
        #expect(table.downloads == ["s0", "s1", "s2", "s1", "s1", "s1"])
        #expect(table.retries.map(\.delay) == [1, 2, 4])
        #expect(table.retries.map(\.tries) == [1, 2, 3])
        #expect(table.retries.allSatisfy { $0.mostTries == 5 && $0.image == "i1" })
        #expect(Set(table.retries.map(\.number)).count == 3)
        #expect(
            table.fetches["i1"]
                == ImageStatus.Download(attempts: 4, bytes: 7, lastError: .late))
        #expect(table.fetches["i0"] == ImageStatus.Download(attempts: 1, bytes: 7))
        #expect(table.attempts["i1"] == 1)
    }

    @Test(arguments: [0, 1, 4]) func givesUpAfterItsTries(retries: Int) throws {
        var table = try table(retries: retries)
        table.lateSources = ["s1": .max]
        table.accept("a", images: 20)
        table.runToTheEnd()
        #expect(table.finished == ["a": .completedWithErrors])
        #expect(table.counts["a"]?.failed == 1 && table.counts["a"]?.filtered == 19)
        #expect(table.codes["i1"] == "connect-failed")
        #expect(
            table.fetches["i1"] == ImageStatus.Download(attempts: retries + 1, lastError: .late))
    }

    @Test func triesARefusalOnce() throws {
        var table = try table()
        table.failingSources = ["s0"]
        table.accept("a", images: 2)
        table.runToTheEnd()
        #expect(table.downloads == ["s0", "s1"] && table.retries.isEmpty)
        #expect(table.fetches["i0"]?.attempts == 1)
    }

    /// A file of the machine is not fetched, so there is nothing to be told of that.
    @Test func countsNoTriesOfLocalFiles() throws {
        var table = try table()
        table.accept("a", images: 1)
        _ = table.board.downloadBegan(1, 0, isTransfer: false)
        #expect(table.image("a", 0)?.state == .downloading)
        _ = table.board.downloadEnded(1, 0, result: .ready(DownloadNote()))
        #expect(table.image("a", 0)?.state == .downloaded)
        #expect(table.image("a", 0)?.download == nil)
    }

    @Test func triesALocalFileOnce() throws {
        var table = try table()
        table.accept("a", images: 1)
        _ = table.board.downloadBegan(1, 0, isTransfer: false)
        let effects = table.board.downloadEnded(1, 0, result: .failed(.late))
        #expect(!effects.contains { if case .enqueueLater = $0 { true } else { false } })
    }

    @Test func waitsAsTheServerAsksOrNotAtAll() throws {
        var table = try table()
        table.lateSources = ["s0": 1]
        table.retryAfter = 30
        table.accept("a", images: 1)
        table.runToTheEnd()
        #expect(table.retries.map(\.delay) == [31])
        table.lateSources = ["s0": 1]
        table.retryAfter = 3600
        table.accept("b", images: 1)
        table.runToTheEnd()
        #expect(table.retries.count == 1)
        #expect(table.finished["b"] == .completedWithErrors)
    }

    /// A try that waits is nobody's: others of its batch and its level are worked on.
    @Test func letsOthersGoOnMeanwhile() throws {
        var table = try Table(window: 4, placesPerLevel: 4)
        table.lateSources = Dictionary(uniqueKeysWithValues: (0..<10).map { ("s\($0)", .max) })
        table.accept("a", images: 100)
        table.accept("b", images: 10)
        table.runToTheRetries()
        // As many of the one batch may wait as four windows hold, and so all others are done.
        #expect(table.filtered.count == 90)
        #expect(table.counts(of: "a").downloading == 10)
        #expect(table.board.summary.retrying == 20 && table.counts(of: "a").filtered == 90)
        #expect(table.board.waitingPlaces.reduce(0, +) == 20)
        table.runToTheEnd()
        #expect(table.counts["a"]?.failed == 10 && table.counts["b"]?.failed == 10)
        #expect(table.board.summary.retrying == 0)
        #expect(table.board.waitingPlaces.allSatisfy { $0 == 0 })
        #expect(table.board.places.allSatisfy { $0 == 0 })
    }

    @Test func boundsHowManyWait() throws {
        var table = try Table(window: 4)
        table.lateSources = Dictionary(uniqueKeysWithValues: (0..<99).map { ("s\($0)", .max) })
        table.accept("a", images: 100)
        table.runToTheRetries()
        #expect(table.board.summary.retrying == 16)
        #expect(table.filtered.isEmpty)
        table.runToTheEnd()
        #expect(table.counts["a"]?.failed == 99 && table.filtered == ["i99"])
    }

    @Test func letsLowerQualitiesOfServiceGoOnMeanwhile() throws {
        var table = try Table(window: 8, saturation: 2)
        table.lateSources = ["s0": .max, "s1": .max]
        table.accept("high", images: 2, quality: .userInteractive)
        table.accept("low", manifest(["t0", "t1"]))
        table.runToTheRetries()
        #expect(table.finished == ["low": .completed])
    }

    @Test func imagesOfOneSourceShareItsTries() throws {
        var table = try table(window: 2)
        table.lateSources = ["s": 2]
        table.accept("a", manifest(["s", "s", "t", "s", "s"]))
        table.runToTheRetries()
        // All have joined, although the window is 2.
        for index in [0, 1, 3, 4] {
            let image = try #require(table.image("a", index))
            #expect(image.state == .downloading)
            #expect(image.download?.attempts == 1 && image.download?.lastError == .late)
            #expect(image.download?.retryAt != nil)
        }
        table.runToTheEnd()
        #expect(table.finished == ["a": .completed])
        #expect(table.downloads.count == 4)
        let expected = ImageStatus.Download(attempts: 3, bytes: 7, lastError: .late)
        for name in ["i0", "i1", "i3", "i4"] { #expect(table.fetches[name] == expected) }
    }

    // MARK: Partial bodies

    private static let partial = PartialBody(bytes: 300_000, validator: "\"v\"", crc32: 1)

    @Test func goesOnWithWhatHasArrived() throws {
        var table = try table()
        table.lateSources = ["s0": 1]
        table.partial = Self.partial
        table.accept("a", images: 3)
        table.runToTheEnd()
        #expect(table.resumed == [nil, nil, nil, Self.partial])
        #expect(table.finished == ["a": .completed])
    }

    /// Its scratch file stays its own between two tries, and only then.
    @Test(arguments: [true, false]) func keepsItsScratchFile(hasPartial: Bool) throws {
        var table = try table()
        table.lateSources = ["s0": 1]
        table.partial = hasPartial ? Self.partial : nil
        table.accept("a", images: 1)
        table.runToTheRetries()
        let batch = try #require(table.board.batches[1])
        #expect((batch.sources[0].slot == 0) == hasPartial)
        #expect(batch.takeSlot(for: 0) == (hasPartial ? 1 : 0))
    }

    @Test func givesUpWhatHasArrivedWhenTheDiskIsFull() throws {
        var table = try table()
        table.lateSources = ["s0": 1]
        table.partial = Self.partial
        table.accept("a", images: 1)
        table.runToTheRetries()
        #expect(table.board.takeFreeSlots().map(\.slots) == [[0]])
        table.board.batches[1]?.returnSlots([0])
        table.runToTheEnd()
        #expect(table.resumed == [nil, nil])
        #expect(table.finished == ["a": .completed])
    }

    // MARK: Commands

    @Test func cancellingEndsItAtOnce() throws {
        var table = try table()
        table.lateSources = ["s0": .max, "s1": .max]
        table.partial = Self.partial
        table.accept("a", images: 3)
        table.runToTheRetries()
        table.obey("a", .cancel)
        #expect(table.counts(of: "a").cancelled == 2)
        #expect(table.board.summary.retrying == 0)
        table.runToTheRetries()
        #expect(table.finished == ["a": .cancelled])
        // Their times come all the same.
        table.runToTheEnd()
        #expect(table.downloads.count == 3 && table.endedTwice == 0)
        #expect(table.board.waitingPlaces.allSatisfy { $0 == 0 })
    }

    /// It begins anew when it is released, with all its tries; and a time that was asked for before means nothing.
    @Test func holdingTakesItBack() throws {
        var table = try table(retries: 2)
        table.lateSources = ["s0": 4]
        table.accept("a", images: 2)
        table.accept("other", manifest(["t"]))
        table.runToTheRetries()
        table.obey("a", .hold)
        #expect(table.counts(of: "a").new <= 1)
        table.runToTheRetries()
        #expect(table.board.summary.batchesHeld == 1 && table.board.summary.retrying == 0)
        table.comeToTheRetries()
        #expect(table.downloads == ["s0", "s1", "t"])
        table.obey("a", .release)
        table.runToTheRetries()
        #expect(table.downloads == ["s0", "s1", "t", "s0"])
        table.runToTheEnd()
        // Its four failures would have been one too many for one beginning.
        #expect(table.finished["a"] == .completedWithErrors)
        #expect(table.fetches["i0"]?.attempts == 3)
        #expect(table.endedTwice == 0)
    }

    /// While an image of the batch is at work the batch is not put away, and its statuses are kept.
    @Test func showsWhatItCameToWhileItIsHeld() throws {
        var table = try table()
        table.width = 5
        table.lateSources = ["s0": 1]
        table.accept("a", images: 2)
        table.run { $0.atWork == ["i1"] }
        table.obey("a", .hold)
        let image = try #require(table.image("a", 0))
        #expect(image.state == .new)
        #expect(image.download == ImageStatus.Download(attempts: 1, lastError: .late))
        // One that has begun has begun.
        #expect(image.attempts == 1)
    }

    /// A transfer that fails while its batch is held does not wait for another try.
    @Test func aHeldOneIsTakenBackWhenItFails() throws {
        var table = try table()
        table.accept("a", images: 1)
        _ = table.board.downloadBegan(1, 0)
        table.obey("a", .hold)
        let effects = table.board.downloadEnded(
            1, 0, result: .failed(.late, partial: Self.partial))
        #expect(effects.contains { if case .park = $0 { true } else { false } })
        #expect(!effects.contains { if case .enqueueLater = $0 { true } else { false } })
        #expect(table.board.batches[1]?.sources[0].slot == nil)
        #expect(table.board.batches[1]?.live.isEmpty == true)
    }

    @Test func aCancelledOneIsNotTriedAgain() throws {
        var table = try table()
        table.accept("a", images: 1)
        _ = table.board.downloadBegan(1, 0)
        table.obey("a", .cancel)
        let effects = table.board.downloadEnded(1, 0, result: .failed(.late))
        #expect(!effects.contains { if case .enqueueLater = $0 { true } else { false } })
    }

    /// What breaks off is no try, and begins with nothing.
    @Test func whatIsBrokenOffIsNoTry() throws {
        var table = try table(retries: 1)
        table.accept("a", images: 1)
        for _ in 0..<5 {
            _ = try #require(begin(&table))
            let again = table.board.downloadDeferred(1, 0)
            #expect(again.count == 1)
        }
        _ = try #require(begin(&table))
        let effects = table.board.downloadEnded(1, 0, result: .failed(.late))
        #expect(effects.contains { if case .enqueueLater = $0 { true } else { false } })
        // An operation of before is heard of late.
        let late = table.board.downloadDeferred(1, 0)
        #expect(late.isEmpty)
        #expect(table.board.summary.retrying == 1)
    }

    /// In any order of events, with suspensions, holds and cancellations in between: all ends, once.
    @Test(arguments: 0..<30) func nothingIsLostInAnyOrder(seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        var table = try Table(window: 1 + Int.random(in: 0..<9, using: &random))
        table.shuffle = SplitMix64(seed: seed &+ 100)
        table.defersEvery = Int.random(in: 2...9, using: &random)
        table.fillsEvery = Int.random(in: 3...9, using: &random)
        table.partial = seed % 2 == 0 ? Self.partial : nil
        for source in 0..<12 {
            table.lateSources["s\(source)"] = Int.random(in: 0..<30, using: &random)
        }
        let ids = (0..<8).map { "b\($0)" }
        for id in ids {
            let sources = (0..<30).map { _ in
                "s\(Int.random(in: 0..<20, using: &random))" as ByteString
            }
            table.accept(id, manifest(sources))
            table.run(steps: Int.random(in: 0..<60, using: &random))
            if Int.random(in: 0..<3, using: &random) == 0 { table.obey(id, .hold) }
            if Int.random(in: 0..<5, using: &random) == 0 { table.obey(id, .cancel) }
        }
        table.run(steps: 100)
        for id in ids { table.obey(id, .release) }
        table.runToTheEnd()
        #expect(table.finished.count == ids.count && table.endedTwice == 0)
        for counts in table.counts.values {
            #expect(counts.finished == 30)
            #expect(counts.new == 0 && counts.downloading == 0 && counts.downloaded == 0)
        }
        #expect(table.board.summary.retrying == 0)
        #expect(table.board.waitingPlaces.allSatisfy { $0 == 0 })
        #expect(table.board.places.allSatisfy { $0 == 0 })
    }

    // MARK: Hosts

    @Test func whatWaitsForItsHostTakesNoPlace() throws {
        var table = try table(window: 2)
        table.accept("a", images: 20)
        #expect(table.board.batches[1]?.live.count == 2)
        for source in 0..<7 { table.waitForHost(1, source) }
        // Four windows are all there may be.
        #expect(table.board.batches[1]?.live.count == 8)
        #expect(table.counts(of: "a").new == 20)
        table.runToTheEnd()
        #expect(table.filtered.count == 13)
        for source in 0..<7 { table.call(1, source) }
        table.runToTheEnd()
        #expect(table.finished == ["a": .completed])
        #expect(table.board.waitingPlaces.allSatisfy { $0 == 0 })
    }

    @Test(arguments: [ControlCommand.cancel, .hold])
    func whatWaitsForItsHostTakesCommands(command: ControlCommand) throws {
        var table = try table()
        table.accept("a", images: 2)
        table.waitForHost(1, 0)
        table.waitForHost(1, 1)
        table.obey("a", command)
        table.runToTheEnd()
        if command == .hold {
            #expect(table.board.summary.batchesHeld == 1)
            table.obey("a", .release)
            table.runToTheEnd()
        }
        #expect(table.finished == ["a": command == .hold ? .completed : .cancelled])
        // Whom the host calls now is not there any more.
        table.call(1, 0)
        table.runToTheEnd()
        #expect(table.endedTwice == 0)
    }

    /// It may have got its place before the board heard that it waits for one.
    @Test func whatHasBegunDoesNotWait() throws {
        var table = try table()
        table.accept("a", images: 1)
        _ = table.board.downloadBegan(1, 0)
        table.board.downloadWaits(1, 0)
        #expect(table.counts(of: "a").downloading == 1)
        #expect(table.board.waitingPlaces.allSatisfy { $0 == 0 })
    }
}
