import TestSupport
import Testing

@testable import DarkroomAnswer
@testable import DarkroomBoard
@testable import DarkroomCore
@testable import DarkroomManifest
@testable import DarkroomWork

/// Images that wait for memory, and those that are filtered alone or not at all.
@Suite struct SchedulerMemoryTests {
    private static let mega = 1 << 20
    /// Whoever has the memory that others wait for.
    private static let occupant = MemoryBudget.Ticket(batch: 99, image: 0)

    private static func manifest(
        _ names: [ByteString], priority: Priority = .normal
    ) -> Manifest {
        Manifest(
            images: names.map { Manifest.Image(name: $0, origin: .source("s-\($0)")) },
            priority: priority)
    }

    /// What a process has died with so often, for these reasons.
    private static func crashes(_ index: Int, _ causes: CrashCause...) -> [JournalRecord] {
        causes.enumerated().map { .crashed(index: index, number: $0 + 1, $1) }
    }

    /// - Parameters:
    ///   - megabytes: what there is, an eighth of which is kept for idle owners.
    ///   - large: images whose pictures take 60 MB; small ones take 12.
    ///   - huge: those whose pictures take 120 MB.
    private func fixture(
        megabytes: Int = 128, width: Int = 4, large: [String] = [], huge: [String] = []
    ) throws -> SchedulerFixture {
        let fixture = try SchedulerFixture(window: 64) {
            $0.memory = megabytes * Self.mega
            $0.filterConcurrency = width
            $0.downloadConcurrency = 1
        }
        for (names, side) in [(large, 6000), (huge, 10_000)] {
            // Interlaced, so that its reader holds all of it.
            let bytes = PNGMaker.interlacedHeader(side: side)
            for name in names { try fixture.setSource(ByteString("s-\(name)"), bytes) }
        }
        return fixture
    }

    /// Has another picture of the owner take 64 MB, for as long as the test wants.
    private func occupy(_ fixture: SchedulerFixture) {
        let isTaken = fixture.board { board in
            board.pool.memory.take(.bytes(64 * Self.mega), for: Self.occupant, owner: 1000)
        }
        #expect(isTaken)
    }

    /// - Returns: the numbers of the images that get the memory, in their order.
    @discardableResult
    private func vacate(_ fixture: SchedulerFixture) -> [Int] {
        var images: [Int] = []
        fixture.scheduler.advance { board in
            board.pool.giveBackMemory(MemoryBudget.Ticket(batch: 99, image: 0))
            let requests = board.pool.takeRequests()
            for case .enter(.filter(let key, let image)) in requests {
                images.append(image)
                board.pool.enter(.filter(key, image: image))
            }
        }
        return images
    }

    private func waitForWaiters(_ fixture: SchedulerFixture, count: Int = 1) async throws {
        try await fixture.wait(for: "\(count) that wait for memory") {
            fixture.scheduler.summary.imagesWaitingForMemory == count
                && fixture.scheduler.runningCount == 0
        }
    }

    private func finish(_ fixture: SchedulerFixture) async throws {
        try await fixture.finish()
        #expect(fixture.board { $0.pool.memory.held == 0 && $0.pool.memory.waitingCount == 0 })
    }

    /// The images, in the order in which they ended, whichever way.
    private func ended(_ fixture: SchedulerFixture) -> [String] {
        fixture.journal.records.filter {
            $0.event == .imageFiltered || $0.event == .imageFailed
        }.compactMap { $0[.image] }
    }

    @Test func smallOnesPassALargeOne() async throws {
        let fixture = try fixture(large: ["b"])
        occupy(fixture)
        try fixture.accept("x", Self.manifest(["b", "c", "d", "e"]))
        try await fixture.wait(for: .imageFiltered, count: 3)
        try await waitForWaiters(fixture)
        #expect(fixture.journal.all(.imageWaits).map { $0[.image] } == ["b"])
        // It is shown as one that is not begun.
        #expect(fixture.shown("x")?.counts.downloaded == 1)
        vacate(fixture)
        try await finish(fixture)
        #expect(ended(fixture).last == "b" && ended(fixture).count == 4)
    }

    @Test func aLargeOneIsNotPassedForEver() async throws {
        let fixture = try fixture(large: ["large"])
        occupy(fixture)
        try fixture.accept("x", Self.manifest(["large"]))
        // Only those that get memory from now on pass it.
        try await waitForWaiters(fixture)
        try fixture.accept("y", Self.manifest((0..<300).map { "small\($0)" as ByteString }))
        try await fixture.wait(for: .imageFiltered, count: MemoryBudget.patience - 4)
        // From now on nobody is given anything before it.
        try await fixture.wait(for: "the standstill") {
            fixture.scheduler.runningCount == 0 && fixture.committer.pendingCount == 0
                && fixture.scheduler.summary.imagesWaitingForMemory > 1
        }
        #expect((60...72).contains(fixture.filtered.count))
        // The large one; the first small one has been filtered. The time at which it ends depends on the load.
        #expect(fixture.filtered.contains("small0") && vacate(fixture).first == 0)
        try await finish(fixture)
        #expect(try fixture.status("x")?.counts.finished == 1)
        #expect(try fixture.status("y")?.counts.finished == 300)
    }

    @Test func onlyAsManyAsFitAreFilteredAtOnce() throws {
        let fixture = try fixture(megabytes: 114, width: 8)
        fixture.holdOperations()
        try fixture.accept("x", images: 8)
        let granted = fixture.board { board in
            (0..<8).filter { image in
                _ = board.downloadBegan(1, image, isTransfer: false)
                board.downloadEnded(1, image, result: .ready(DownloadNote()))
                guard board.filterBegan(1, image) != nil else { return false }
                return board.needs(1, image, bytes: 30 * Self.mega) == .granted
            }
        }
        #expect(granted == [0, 1, 2])
    }

    @Test func oneThatNeedsMoreThanThereIsFails() async throws {
        let fixture = try fixture(megabytes: 64, width: 2, huge: ["a"])
        try fixture.accept("x", Self.manifest(["a", "c"]))
        try await finish(fixture)
        #expect(try fixture.image("a", of: "x").error?.code == "memory-limit")
        #expect(fixture.filtered == ["c"])
    }

    @Test func oneThatHasBecomeTooLargeFailsToo() async throws {
        let fixture = try fixture(width: 2, large: ["b"])
        occupy(fixture)
        try fixture.accept("x", Self.manifest(["a", "b"]))
        try await waitForWaiters(fixture)
        var settings = fixture.scheduler.settings
        settings.memory = 64 * Self.mega
        fixture.scheduler.update(settings)
        vacate(fixture)
        try await finish(fixture)
        #expect(try fixture.image("b", of: "x").error?.code == "memory-limit")
        #expect(fixture.filtered == ["a"])
    }

    /// Nobody would ever grant it what it was told to wait for. It is told so when it begins.
    @Test func oneThatWasToldToWaitBeforeTheLimitWasLoweredBeginsAgain() async throws {
        let fixture = try fixture(large: ["b"])
        fixture.holdOperations(downloads: false)
        occupy(fixture)
        try fixture.accept("x", Self.manifest(["b"]))
        try await fixture.wait(for: .imageDownloaded)
        let answer = fixture.board { board in
            board.filterBegan(1, 0).map { _ in board.needs(1, 0, bytes: 60 * Self.mega) }
        }
        #expect(answer == .later)
        var settings = fixture.scheduler.settings
        settings.memory = 64 * Self.mega
        fixture.scheduler.update(settings)
        let isRequested = fixture.board { board in
            board.requests { $0.filterPostponed(1, [0], bytes: 60 * Self.mega) }.contains {
                if case .enter(.filter(1, image: 0)) = $0 { true } else { false }
            }
        }
        #expect(isRequested)
        #expect(fixture.board { $0.pool.memory.waitingCount } == 0)
    }

    @Test func higherPrioritiesAreServedFirst() async throws {
        let fixture = try fixture(large: ["low", "high"])
        occupy(fixture)
        try fixture.accept("x", Self.manifest(["low"]))
        try await waitForWaiters(fixture)
        try fixture.accept("y", Self.manifest(["high"], priority: .high))
        try await waitForWaiters(fixture, count: 2)
        vacate(fixture)
        try await finish(fixture)
        #expect(ended(fixture) == ["high", "low"])
    }

    @Test func cancellingEndsWhoWaits() async throws {
        let fixture = try fixture(large: ["b"])
        occupy(fixture)
        try fixture.accept("x", Self.manifest(["b"]))
        try await waitForWaiters(fixture)
        fixture.obey("x", .cancel)
        #expect(fixture.board { $0.pool.memory.waitingCount } == 0)
        vacate(fixture)
        try await finish(fixture)
        #expect(try fixture.finished == ["x": .cancelled])
    }

    /// Its operation is taken back, so nobody else would give its memory back.
    @Test(arguments: [false, true])
    func holdingGivesBackWhatItWaitsForOrHas(isGranted: Bool) async throws {
        let fixture = try fixture(large: ["b"])
        occupy(fixture)
        try fixture.accept("x", Self.manifest(["b"]))
        try await waitForWaiters(fixture)
        if isGranted {
            fixture.holdOperations()
            vacate(fixture)
            #expect(fixture.board { $0.pool.memory.waitingCount == 0 && $0.pool.memory.held > 0 })
        }
        #expect(fixture.obey("x", .hold) == .acts)
        if !isGranted { vacate(fixture) }
        #expect(fixture.board { $0.pool.memory.waitingCount == 0 && $0.pool.memory.held == 0 })
        fixture.releaseOperations()
        try await fixture.finish()
        #expect(fixture.obey("x", .release) == .acts)
        try await finish(fixture)
        #expect(ended(fixture) == ["b"])
    }

    // MARK: Suspects

    @Test func aSuspectIsFilteredAlone() async throws {
        let fixture = try fixture(megabytes: 100)
        fixture.holdOperations(downloads: false)
        try fixture.accept(
            "x", Self.manifest(["a", "suspect", "b", "c"]),
            journal: Self.crashes(1, .signal("SIGSEGV")))
        try await fixture.wait(for: .imageDownloaded, count: 4)
        // Once it has begun, those that come ask in vain.
        let begun = fixture.board { board in
            [1, 0, 2, 3].filter { board.filterBegan(1, $0) != nil }
        }
        #expect(begun == [1])
        #expect(fixture.board { $0.pool.memory.held == $0.pool.memory.mostOfOne })
        fixture.board { board in
            board.filterDeferred(1, 1)
        }
        // And it does not begin beside another.
        let beside = fixture.board { board in
            [0, 1, 2, 3].filter { board.filterBegan(1, $0) != nil }
        }
        #expect(beside == [0, 2, 3])
    }

    @Test func aSuspectIsFilteredInTheEnd() async throws {
        let fixture = try fixture(megabytes: 100)
        try fixture.accept(
            "x", Self.manifest(["a", "suspect", "b", "c"]),
            journal: Self.crashes(1, .signal("SIGSEGV")))
        try await finish(fixture)
        #expect(Set(fixture.filtered) == ["a", "suspect", "b", "c"])
    }

    /// Beside it another owner's picture is filtered, of the memory that is kept.
    @Test func aSuspectKeepsNoIdleOwnerOut() async throws {
        let fixture = try fixture(megabytes: 800)
        fixture.holdOperations(downloads: false)
        try fixture.accept(
            "x", Self.manifest(["suspect", "other"]),
            journal: Self.crashes(0, .killed) + Self.crashes(1, .killed))
        try fixture.accept("y", Self.manifest(["a", "b"]), owner: 2000)
        try await fixture.wait(for: .imageDownloaded, count: 4)
        let begun = fixture.board { board in
            [(1, 0), (1, 1), (2, 0)].map { board.filterBegan($0, $1) != nil }
        }
        #expect(begun == [true, false, true])
    }

    /// A picture begins also where the whole memory is less than its share, and hears what it lacks.
    @Test func whatHasTooLittleMemoryFails() async throws {
        let fixture = try fixture(megabytes: 1, width: 2, large: ["a"])
        try fixture.accept("x", Self.manifest(["a"]))
        try await finish(fixture)
        #expect(try fixture.image("a", of: "x").error?.code == "memory-limit")
    }

    /// It has all that one may have, and does not wait for more.
    @Test func aSuspectThatNeedsMoreThanOneMayFails() async throws {
        let fixture = try fixture(large: ["most"], huge: ["more"])
        try fixture.accept(
            "x", Self.manifest(["most", "more"]),
            journal: Self.crashes(0, .killed) + Self.crashes(1, .killed))
        try await finish(fixture)
        #expect(try fixture.image("more", of: "x").error?.code == "memory-limit")
        #expect(try fixture.image("most", of: "x").error?.code != "memory-limit")
        #expect(fixture.journal.all(.imageWaits).isEmpty)
    }

    /// Someone who kills the daemon again and again must not meet the same image each time.
    @Test func suspectsComeLastTheLeastSuspectedFirst() async throws {
        let fixture = try fixture(megabytes: 100, width: 1)
        try fixture.accept(
            "x", Self.manifest(["a", "b", "c", "d", "e"]),
            journal: Self.crashes(0, .killed, .killed) + Self.crashes(1, .killed)
                + Self.crashes(3, .killed, .killed, .killed))
        try await finish(fixture)
        #expect(fixture.filtered == ["c", "e", "b", "a", "d"])
    }

    @Test func aQuarantinedOneIsNeitherFetchedNorFiltered() async throws {
        let fixture = try fixture(megabytes: 100)
        try fixture.accept(
            "x",
            Manifest(images: [
                Manifest.Image(name: "a", origin: .source("s-a")),
                Manifest.Image(name: "quarantine", origin: .source("s-quarantine")),
                Manifest.Image(name: "made", origin: .image(1)),
                Manifest.Image(name: "b", origin: .source("s-b")),
            ]),
            journal: Self.crashes(1, .signal("SIGSEGV"), .signal("SIGSEGV")))
        try await finish(fixture)
        #expect(Set(fixture.filtered) == ["a", "b"] && Set(fixture.fetched) == ["a", "b"])
        #expect(try fixture.image("quarantine", of: "x").error?.code == "quarantined")
        #expect(try fixture.image("made", of: "x").error?.code == "dependency-failed")
        #expect(try fixture.finished == ["x": .completedWithErrors])
    }

    @Test func someoneWhoKillsTheDaemonQuarantinesNothing() async throws {
        let fixture = try fixture(megabytes: 100)
        try fixture.accept(
            "x", Self.manifest(["a"]),
            journal: Self.crashes(0, .killed, .killed, .killed, .killed))
        try await finish(fixture)
        #expect(fixture.filtered == ["a"])
    }
}

extension PNGMaker {
    /// The beginning of an interlaced gray picture, whose reader asks for memory for the whole of it and then finds that
    /// the rest is missing.
    static func interlacedHeader(side: Int) -> [UInt8] {
        var maker = PNGMaker(
            width: 1, height: 1, colourType: .gray, depth: 8, interlaced: true, samples: [0])
        let stream = maker.stream(of: maker.filteredRows())
        (maker.width, maker.height) = (side, side)
        return PNGChunk.file(maker.chunks(around: stream))
    }
}
