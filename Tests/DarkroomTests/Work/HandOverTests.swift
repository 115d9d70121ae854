import TestSupport
import Testing

@testable import DarkroomAnswer
@testable import DarkroomBoard
@testable import DarkroomCore
@testable import DarkroomFetch
@testable import DarkroomFixtures
@testable import DarkroomManifest
@testable import DarkroomPicture
@testable import DarkroomWork

/// Whose pixels are handed over, for how long, and what happens where they are missing.
struct HandOverTests {
    private static let jpeg = OutputOptions(format: .jpeg)

    /// A logo that is published as JPEG, two pictures marked with it, one made of the first of these, and one
    /// that has nothing to do with them.
    private static let manifest = Manifest(images: [
        .init(name: "logo", origin: .source("l"), output: jpeg),
        .init(name: "a", origin: .source("a"), overlays: [0], output: jpeg),
        .init(name: "b", origin: .source("b"), overlays: [0]),
        .init(name: "c", origin: .image(1)),
        .init(name: "other", origin: .source("o"), output: jpeg),
    ])

    private static func pixels(_ fixture: SchedulerFixture) throws -> Set<String> {
        try fixture.activeFiles("x").filter { $0.hasPrefix("pixels-") || $0.hasPrefix("output-") }
    }

    private static let damaged = Array(SchedulerFixture.picture.dropLast(30))

    /// What the images are, the one whose source does not come, and the pixels that are left when the others have ended:
    /// those of `a` go with `c`, and the logo's wait for `b`.
    @Test(
        arguments: [
            ("lossy", 2, ["pixels-0"]), ("lossless", 2, []), ("lossy", 4, []),
            ("unpublished", 2, ["pixels-0"]),
        ] as [(String, Int, Set<String>)])
    func pixelsStayForTheirUsers(kind: String, late: Int, pixels: Set<String>) async throws {
        let fixture = try SchedulerFixture()
        let origin = try fixture.origin()
        var manifest = Self.manifest
        manifest.images[late].origin = .source(origin.source("late"))
        switch kind {
        case "lossless":
            for index in manifest.images.indices { manifest.images[index].output = OutputOptions() }
        case "unpublished": manifest.images[0].isPublished = false
        default: break
        }
        try fixture.accept("x", manifest)
        try await fixture.wait(for: .imageFiltered, count: 4)
        try await fixture.wait(for: "the removal") { try Self.pixels(fixture) == pixels }
        // The batch goes on, with them or without.
        #expect(fixture.shown("x")?.state == .processing)
        origin.release()
        try await fixture.finish()
        #expect(try fixture.finished == ["x": .completed])
        #expect(Set(fixture.filtered).count == 5 && fixture.filtered.count == 5)
    }

    @Test(arguments: [["a", "b"], ["l"]])
    func aFileIsRemovedWhenItsUsersFail(failing: [ByteString]) async throws {
        let fixture = try SchedulerFixture()
        let origin = try fixture.origin()
        for source in failing { try fixture.setSource(source, Self.damaged) }
        var manifest = Self.manifest
        manifest.images[4].origin = .source(origin.source("o"))
        try fixture.accept("x", manifest)
        try await fixture.wait(for: "the failures") {
            fixture.shown("x").map { $0.counts.finished == 4 } ?? false
        }
        // What a step that fails has written it removes itself.
        try await fixture.wait(for: "their removal") { try Self.pixels(fixture) == [] }
        origin.release()
        try await fixture.finish()
        #expect(try fixture.image("c", of: "x").error?.code == "dependency-failed")
        #expect(try fixture.finished == ["x": .completedWithErrors])
    }

    /// A filter that was put off writes what it was to write, though its last user has failed meanwhile: the
    /// committer syncs a file that may be there.
    @Test func whatWasBegunIsHandedOver() throws {
        let fixture = try SchedulerFixture()
        fixture.holdOperations()
        try fixture.accept(
            "x",
            Manifest(images: [
                .init(name: "logo", origin: .source("l"), output: Self.jpeg),
                .init(name: "bad", origin: .source("n")),
                .init(name: "marked", origin: .source("m"), overlays: [0, 1]),
            ]))
        fixture.board { board in
            func end(_ index: Int) {
                var image = ImageStatus(name: "\(index)", state: .failed)
                image.error = Failure(code: "http-status", message: "404")
                board.imageEnded(1, index, image)
            }
            _ = board.downloadBegan(1, 0)
            board.downloadEnded(1, 0, result: .ready(DownloadNote()))
            #expect(board.filterBegan(1, 0)?.handsOver == true)
            board.filterDeferred(1, 0)
            end(1)
            end(2)
            #expect(board.filterBegan(1, 0)?.handsOver == true)
            #expect(board.isHandedOver(1, 0))
            board.filterEnded(1, 0, result: .failure(.late))
            let ended = board.requests {
                $0.imageEnded(1, 0, ImageStatus(name: "logo", state: .filtered))
            }
            #expect(
                ended.contains {
                    if case .effect(.dropHandOver(_, image: 0)) = $0 { true } else { false }
                })
        }
    }

    /// One mark for a thousand costs one entry, and one file.
    @Test func aMarkForManyIsOneFile() async throws {
        let fixture = try SchedulerFixture()
        let origin = try fixture.origin()
        let images =
            [Manifest.Image(name: "logo", origin: .source("l"), output: Self.jpeg)]
            + (0..<1000).map {
                .init(
                    name: "i\($0)",
                    origin: .source($0 == 999 ? origin.source("s") : "s\($0 % 10)"),
                    overlays: [0], output: Self.jpeg)
            }
        try fixture.accept("x", Manifest(images: images))
        try await fixture.wait(for: .imageFiltered, count: 1000)
        #expect(try Self.pixels(fixture) == ["pixels-0"])
        #expect(fixture.board { $0.batches[1]?.live.count } == 1)
        origin.release()
        try await fixture.finish()
        #expect(try fixture.status("x")?.counts.filtered == 1001)
    }

    // MARK: After a restart, or a retry

    /// A fixture that continues the batch where the journal says that some images are filtered.
    ///
    /// - Parameter pixels: the images whose pixels are there.
    private func restarted(
        filtered: [Int], failed: [Int] = [], pixels: [Int] = [],
        prepare: (SchedulerFixture) throws -> Void = { _ in }, missing: Set<ByteString> = [],
        change: (inout ImageStatus) -> Void = { _ in }
    ) async throws -> SchedulerFixture {
        let former = try SchedulerFixture()
        let images = try await former.complete("x", Self.manifest).images
        var records = filtered.map { index in
            var image = images[index]
            change(&image)
            return JournalRecord.ended(index: index, image)
        }
        records += failed.map {
            .ended(index: $0, ImageStatus(name: images[$0].name, state: .failed))
        }
        let fixture = try SchedulerFixture()
        fixture.holdOperations()
        try prepare(fixture)
        try fixture.accept(
            "x", Self.manifest, journal: records, outputs: former, pixels: pixels,
            missing: missing)
        return fixture
    }

    private func finish(_ fixture: SchedulerFixture) async throws {
        fixture.releaseOperations()
        try await fixture.finish()
    }

    /// A file that is there is used. Otherwise its image is filtered again, from what it is made of (`a` for `c`, and the
    /// logo for `a`), and is recorded no second time.
    @Test(
        arguments: [
            ([0, 1], [0, 1], ["b", "other"], ["b", "c", "other"]),
            ([0, 1, 2, 4], [], ["a", "logo"], ["c"]), ([0, 1, 2, 4], [0], ["a"], ["c"]),
        ] as [([Int], [Int], [String], [String])])
    func onlyWhatIsMissingIsMadeAgain(
        former: [Int], pixels: [Int], fetched: [String], filtered: [String]
    ) async throws {
        let fixture = try await restarted(filtered: former, pixels: pixels)
        let before = try fixture.outputIdentities("x")
        try await finish(fixture)
        #expect(fixture.fetched.sorted() == fetched && fixture.filtered.sorted() == filtered)
        #expect(try fixture.image("c", of: "x").warnings == nil)
        #expect(try fixture.status("x")?.counts.filtered == 5)
        #expect(try fixture.finished == ["x": .completed])
        // Their outputs are what they were.
        let after = try fixture.outputIdentities("x")
        for file in ["logo.jpg", "a.jpg"] { #expect(before[file] == after[file]) }
    }

    @Test func aFileThatNobodyNeedsIsRemovedAtOnce() async throws {
        let fixture = try await restarted(filtered: [0, 1], failed: [2], pixels: [0, 1])
        try await fixture.wait(for: "its removal") { try Self.pixels(fixture) == ["pixels-1"] }
        #expect(fixture.filtered.isEmpty)
        try await finish(fixture)
    }

    /// At any moment, and the warnings count as before.
    @Test func itsUsersSeeWhatItWas() async throws {
        let fixture = try await restarted(
            filtered: [0, 1, 2, 4], change: { $0.warnings = ["a former warning"] })
        func check() {
            guard let shown = fixture.shown("x") else { return }
            #expect(shown.counts.filtered >= 4 && shown.counts.warnings == 4)
            #expect(shown.images[0].state == .filtered && shown.images[0].attempts == 1)
            #expect(shown.images[1].output?.file == "a.jpg")
            #expect(shown.counts == Status.Counts(of: shown.images))
        }
        check()
        fixture.scheduler.queues.localLooks.isSuspended = false
        try await fixture.wait(for: .imageDownloaded)
        check()
        fixture.releaseOperations()
        try await fixture.wait(for: "the end") {
            check()
            return fixture.isIdle
        }
        #expect(fixture.journal.all(.batchBegun).map { $0[.count] } == ["1"])
        let status = try #require(try fixture.status("x"))
        #expect(status.counts == Status.Counts(of: status.images))
        #expect(status.counts.warnings == 4)
    }

    @Test func anotherPictureIsRemarkedOn() async throws {
        let fixture = try await restarted(
            filtered: [0, 2, 4],
            change: { if $0.name == "logo" { $0.output?.sha256 = "another" } })
        try await finish(fixture)
        #expect(
            try fixture.image("a", of: "x").warnings == [
                "logo was filtered again for this image, and the result differs from its output: its source"
                    + " or darkroomd has changed since then"
            ])
        #expect(try fixture.image("c", of: "x").warnings == nil)
        #expect(try fixture.status("x")?.counts.warnings == 1)
        #expect(try fixture.finished == ["x": .completed])
    }

    /// What cannot be made again stays filtered; what needs it fails.
    @Test(arguments: [false, true])
    func theOutputStaysWhereMakingAgainFails(isDamaged: Bool) async throws {
        let fixture = try await restarted(
            filtered: [0, 1, 2, 4],
            prepare: { if isDamaged { try $0.setSource("l", Self.damaged) } },
            missing: isDamaged ? [] : ["l"])
        try await finish(fixture)
        let status = try #require(try fixture.status("x"))
        #expect(status.images[3].error?.code == "dependency-failed")
        #expect(status.images[3].error?.message.contains("from a, which has failed") == true)
        #expect(status.counts.filtered == 4 && status.counts.failed == 1)
        #expect(status.state == .completedWithErrors)
    }

    /// Whatever has begun of it.
    @Test(arguments: 0..<3) func theOutputStaysWhereTheBatchIsCancelled(step: Int) async throws {
        let fixture = try await restarted(filtered: [0, 1, 2, 4])
        if step > 0 {
            fixture.scheduler.queues.localLooks.isSuspended = false
            try await fixture.wait(for: .imageDownloaded)
        }
        if step > 1 { fixture.scheduler.queues.filters.setSuspended(false) }
        fixture.obey("x", .cancel)
        try await finish(fixture)
        let counts = try #require(try fixture.status("x")).counts
        #expect(counts.filtered >= 4 && counts.finished == 5)
    }

    /// Holds and suspensions at any moment change nothing of the outcome.
    @Test(arguments: 0..<10) func nothingIsLostOnTheWay(step: Int) async throws {
        let fixture = try await restarted(filtered: [0, 1])
        fixture.releaseOperations()
        try await fixture.goOn(step)
        fixture.scheduler.suspend()
        fixture.scheduler.resume()
        fixture.obey("x", .hold)
        try await fixture.finish()
        fixture.obey("x", .release)
        try await fixture.finish()
        #expect(try fixture.finished == ["x": .completed])
        #expect(fixture.filtered.sorted() == ["b", "c", "other"])
    }
}
