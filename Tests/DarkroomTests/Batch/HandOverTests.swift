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

/// Whose pixels are handed over, for how long, and what happens where they are missing.
@Suite struct HandOverTests {
    static let jpeg = OutputOptions(format: .jpeg)

    /// A logo that is published as JPEG, two pictures marked with it, one made of the first of these, and one
    /// that has nothing to do with them.
    static let manifest = Manifest(images: [
        .init(name: "logo", origin: .source("l"), output: jpeg),
        .init(name: "a", origin: .source("a"), overlays: [0], output: jpeg),
        .init(name: "b", origin: .source("b"), overlays: [0]),
        .init(name: "c", origin: .image(1)),
        .init(name: "other", origin: .source("o"), output: jpeg),
    ])

    private func run(
        _ manifest: Manifest = Self.manifest, ended: [Int: ImageState] = [:],
        handOvers: Set<Int> = [], prepare: (inout Table) -> Void = { _ in }
    ) throws -> Table {
        var table = try Table(window: 8)
        prepare(&table)
        table.accept("x", manifest, ended: ended, handOvers: handOvers)
        table.runToTheEnd()
        #expect(table.endedTwice == 0)
        return table
    }

    @Test func pixelsAreHandedOverWhereAnOutputLosesThem() throws {
        let table = try run()
        #expect(table.handedOver == ["logo", "a"])
        #expect(table.dropped.sorted() == [0, 1])
        #expect(table.finished == ["x": .completed])
        #expect(table.endedAgain == [:])
    }

    @Test func aLosslessOutputIsReadItself() throws {
        var manifest = Self.manifest
        for index in manifest.images.indices { manifest.images[index].output = OutputOptions() }
        let table = try run(manifest)
        #expect(table.handedOver == [] && table.dropped == [])
    }

    @Test func aFileIsRemovedWithItsLastUser() throws {
        var table = try Table(window: 8)
        table.lateSources = ["o": 1]
        table.accept("x", Self.manifest)
        table.runToTheRetries()
        // The batch goes on, without them.
        #expect(table.state(of: "x") == .processing)
        #expect(table.dropped.sorted() == [0, 1])
    }

    @Test func aFileIsRemovedWhenItsUsersFail() throws {
        let table = try run { $0.failingImages = ["a", "b"] }
        // What a step that fails has written it removes itself.
        #expect(table.dropped.sorted() == [0, 1])
        #expect(table.codes["c"] == "dependency-failed")
        #expect(try run { $0.failingImages = ["logo"] }.dropped == [0])
    }

    /// A filter that was put off writes what it was to write, though its last user has failed meanwhile: the
    /// publisher syncs a file that may be there.
    @Test func whatWasBegunIsHandedOver() throws {
        var table = try Table(window: 8)
        table.accept(
            "x",
            Manifest(images: [
                .init(name: "logo", origin: .source("l"), output: Self.jpeg),
                .init(name: "bad", origin: .source("n")),
                .init(name: "marked", origin: .source("m"), overlays: [0, 1]),
            ]))
        func end(_ index: Int, _ board: inout Board) {
            var image = ImageStatus(name: "\(index)", state: .failed)
            image.error = Failure(code: "http-status", message: "404")
            _ = board.imageEnded(1, index, image)
        }
        _ = table.board.downloadBegan(1, 0)
        _ = table.board.downloadEnded(1, 0, result: .ready(DownloadNote()))
        #expect(table.board.filterBegan(1, 0)?.handsOver == true)
        _ = table.board.filterDeferred(1, 0)
        end(1, &table.board)
        end(2, &table.board)
        #expect(table.board.filterBegan(1, 0)?.handsOver == true)
        #expect(table.board.isHandedOver(1, 0))
        let ended = table.board.imageEnded(1, 0, ImageStatus(name: "logo", state: .filtered))
        #expect(ended.contains { if case .dropHandOver(_, image: 0) = $0 { true } else { false } })
    }

    /// One mark for ten thousand costs one entry, and one file.
    @Test func aMarkForManyIsOneFile() throws {
        let images =
            [Manifest.Image(name: "logo", origin: .source("l"), output: Self.jpeg)]
            + (0..<10_000).map {
                .init(name: "i\($0)", origin: .source("s\($0)"), overlays: [0], output: Self.jpeg)
            }
        let table = try run(Manifest(images: images))
        #expect(table.handedOver == ["logo"] && table.dropped == [0])
        #expect(table.mostLive <= 8)
    }

    // MARK: After a restart, or a retry

    @Test func aFileThatIsThereIsUsed() throws {
        let table = try run(ended: [0: .filtered, 1: .filtered], handOvers: [0, 1])
        #expect(table.downloads.sorted() == ["b", "o"])
        #expect(table.filtered.sorted() == ["b", "c", "other"])
        #expect(table.dropped.sorted() == [0, 1])
    }

    @Test func aFileThatNobodyNeedsIsRemovedAtOnce() throws {
        var table = try Table(window: 8)
        let ended: [Int: ImageState] = [0: .filtered, 1: .filtered, 2: .failed]
        table.accept("x", Self.manifest, ended: ended, handOvers: [0, 1])
        table.run { $0.dropped == [0] }
        #expect(table.state(of: "x") == .pending || table.state(of: "x") == .processing)
    }

    /// It is filtered again, from what it is made of, and is recorded no second time.
    @Test func aMissingFileIsMadeAgain() throws {
        let table = try run(ended: [0: .filtered, 1: .filtered, 2: .filtered, 4: .filtered])
        // `a` for `c`, and the logo for `a`.
        #expect(table.handedOver == ["logo", "a"])
        #expect(table.endedAgain == ["logo": .filtered, "a": .filtered])
        #expect(table.filtered == ["c"])
        #expect(table.dropped.sorted() == [0, 1])
        #expect(table.warnings["c"] == nil)
        #expect(table.counts["x"]?.filtered == 5)
        #expect(table.finished == ["x": .completed])
    }

    /// The logo's is there, and `a` is made again with it.
    @Test func onlyWhatIsMissingIsMadeAgain() throws {
        let table = try run(
            ended: [0: .filtered, 1: .filtered, 2: .filtered, 4: .filtered], handOvers: [0])
        #expect(table.handedOver == ["a"])
        #expect(table.downloads == ["a"])
    }

    @Test func itsUsersSeeWhatItWas() throws {
        var table = try Table(window: 8)
        let ended: [Int: ImageState] = [0: .filtered, 1: .filtered, 2: .filtered, 4: .filtered]
        table.accept("x", Self.manifest, ended: ended)
        var steps = 0
        while table.finished.isEmpty, steps < 1000 {
            steps += 1
            if let shown = table.shown("x") {
                #expect(shown.counts.filtered >= 4)
                #expect(shown.images[0].state == .filtered && shown.images[0].attempts == 0)
                #expect(shown.images[1].output?.file == "a.jpg")
                for state in ImageState.allCases {
                    #expect(shown.counts[state] == shown.images.count { $0.state == state })
                }
            }
            table.run(steps: 1)
        }
        #expect(table.begun.map(\.images) == [1])
    }

    @Test func anotherPictureIsRemarkedOn() throws {
        let table = try run(ended: [0: .filtered, 2: .filtered, 4: .filtered]) {
            $0.sums = ["logo": "another"]
        }
        #expect(
            table.warnings["a"] == [
                "logo was filtered again for this image, and the result differs from its output: its source"
                    + " or darkroomd has changed since then"
            ])
        #expect(table.warnings["c"] == nil)
        #expect(table.finished == ["x": .completed])
    }

    /// What cannot be made again stays filtered; what needs it fails.
    @Test func theOutputStaysWhereMakingAgainFails() throws {
        let ended: [Int: ImageState] = [0: .filtered, 1: .filtered, 2: .filtered, 4: .filtered]
        for prepare: (inout Table) -> Void in [
            { $0.failingSources = ["l"] }, { $0.failingImages = ["logo"] },
        ] {
            let table = try run(ended: ended, prepare: prepare)
            #expect(table.endedAgain == ["logo": .failed, "a": .failed])
            #expect(table.codes["c"] == "dependency-failed")
            #expect(table.failures["c"]?.message.contains("from a, which has failed") == true)
            let counts = try #require(table.counts["x"])
            #expect(counts.filtered == 4 && counts.failed == 1)
            #expect(table.finished == ["x": .completedWithErrors])
        }
    }

    @Test(arguments: 0..<12) func theOutputStaysWhereTheBatchIsCancelled(steps: Int) throws {
        var table = try Table(window: 8)
        let ended: [Int: ImageState] = [0: .filtered, 1: .filtered, 2: .filtered, 4: .filtered]
        table.accept("x", Self.manifest, ended: ended)
        table.run(steps: steps)
        table.obey("x", .cancel)
        table.runToTheEnd()
        let counts = try #require(table.counts["x"])
        #expect(counts.filtered >= 4 && counts.finished == 5)
        #expect(table.endedTwice == 0)
    }

    /// Holds, suspensions and full disks at any moment change nothing of the outcome.
    @Test(arguments: 0..<20 as Range<UInt64>) func nothingIsLostOnTheWay(seed: UInt64) throws {
        var table = try Table(window: 3)
        table.shuffle = SplitMix64(seed: seed)
        table.defersEvery = 3
        table.fillsEvery = 4
        table.accept("x", Self.manifest, ended: [0: .filtered, 1: .filtered])
        table.run(steps: Int(seed % 7))
        table.obey("x", .hold)
        table.runToTheEnd()
        table.obey("x", .release)
        table.runToTheEnd()
        #expect(table.finished == ["x": .completed])
        #expect(table.filtered.sorted() == ["b", "c", "other"])
        #expect(table.endedTwice == 0)
    }
}
