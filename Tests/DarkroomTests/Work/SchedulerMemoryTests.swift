import TestSupport
import Testing

@testable import DarkroomAnswer
@testable import DarkroomBoard
@testable import DarkroomCore
@testable import DarkroomFixtures
@testable import DarkroomManifest
@testable import DarkroomWork

/// Images that wait for memory, and those that are filtered alone or not at all.
struct SchedulerMemoryTests {
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

    /// The images, in the order in which they ended, whichever way.
    private func ended(_ fixture: SchedulerFixture) -> [String] {
        fixture.journal.records.filter {
            $0.event == .imageFiltered || $0.event == .imageFailed
        }.compactMap { $0[.image] }
    }

    @Test func smallOnesPassALargeOne() async throws {
        let fixture = try SchedulerFixture.withMemory(large: ["s-b"])
        fixture.occupy()
        try fixture.accept("x", Self.manifest(["b", "c", "d", "e"]))
        try await fixture.wait(for: .imageFiltered, count: 3)
        try await fixture.waitForWaiters()
        #expect(fixture.journal.all(.imageWaits).map { $0[.image] } == ["b"])
        // It is shown as one that is not begun.
        #expect(fixture.shown("x")?.counts.downloaded == 1)
        fixture.vacate()
        try await fixture.finishWithoutMemory()
        #expect(ended(fixture).last == "b" && ended(fixture).count == 4)
    }

    /// A picture begins also where the whole memory is less than its share, and hears what it lacks.
    @Test(arguments: [64, 1]) func oneThatNeedsMoreThanThereIsFails(megabytes: Int) async throws {
        let fixture = try SchedulerFixture.withMemory(
            megabytes: megabytes, width: 2, huge: ["s-a"])
        let names: [ByteString] = megabytes > 1 ? ["a", "c"] : ["a"]
        try fixture.accept("x", Self.manifest(names))
        try await fixture.finishWithoutMemory()
        #expect(try fixture.image("a", of: "x").error?.code == "memory-limit")
        #expect(fixture.filtered == (megabytes > 1 ? ["c"] : []))
    }

    @Test func oneThatHasBecomeTooLargeFailsToo() async throws {
        let fixture = try SchedulerFixture.withMemory(width: 2, large: ["s-b"])
        fixture.occupy()
        try fixture.accept("x", Self.manifest(["a", "b"]))
        try await fixture.waitForWaiters()
        fixture.setMemory(megabytes: 64)
        fixture.vacate()
        try await fixture.finishWithoutMemory()
        #expect(try fixture.image("b", of: "x").error?.code == "memory-limit")
        #expect(fixture.filtered == ["a"])
    }

    /// Nobody would ever grant it what it was told to wait for. It is told so when it begins.
    @Test func oneThatWasToldToWaitBeforeTheLimitWasLoweredBeginsAgain() async throws {
        let fixture = try SchedulerFixture.withMemory(large: ["s-b"])
        fixture.holdOperations(downloads: false)
        fixture.occupy()
        try fixture.accept("x", Self.manifest(["b"]))
        try await fixture.wait(for: .imageDownloaded)
        let answer = fixture.board { board in
            board.filterBegan(1, 0).map { _ in board.needs(1, 0, bytes: 60 * SchedulerFixture.mega)
            }
        }
        #expect(answer == .later)
        fixture.setMemory(megabytes: 64)
        let isRequested = fixture.board { board in
            board.requests {
                $0.change(1) { $0.filterPostponed([0], bytes: 60 * SchedulerFixture.mega, &$1) }
            }.entered.contains(.filter(1, image: 0))
        }
        #expect(isRequested)
        #expect(fixture.board { $0.pool.memory.waitingCount } == 0)
    }

    @Test func higherPrioritiesAreServedFirst() async throws {
        let fixture = try SchedulerFixture.withMemory(large: ["s-low", "s-high"])
        fixture.occupy()
        try fixture.accept("x", Self.manifest(["low"]))
        try await fixture.waitForWaiters()
        try fixture.accept("y", Self.manifest(["high"], priority: .high))
        try await fixture.waitForWaiters(2)
        fixture.vacate()
        try await fixture.finishWithoutMemory()
        #expect(ended(fixture) == ["high", "low"])
    }

    /// Its operation is taken back, so nobody else would give its memory back.
    @Test(arguments: [false, true])
    func holdingGivesBackWhatItWaitsForOrHas(isGranted: Bool) async throws {
        let fixture = try SchedulerFixture.withMemory(large: ["s-b"])
        fixture.occupy()
        try fixture.accept("x", Self.manifest(["b"]))
        try await fixture.waitForWaiters()
        if isGranted {
            fixture.holdOperations()
            fixture.vacate()
            #expect(fixture.board { $0.pool.memory.waitingCount == 0 && $0.pool.memory.held > 0 })
        }
        #expect(fixture.obey("x", .hold) == .acts)
        if !isGranted { fixture.vacate() }
        #expect(fixture.board { $0.pool.memory.waitingCount == 0 && $0.pool.memory.held == 0 })
        fixture.releaseOperations()
        try await fixture.finish()
        #expect(fixture.obey("x", .release) == .acts)
        try await fixture.finishWithoutMemory()
        #expect(ended(fixture) == ["b"])
    }

    // MARK: Suspects

    @Test func aSuspectIsFilteredAlone() async throws {
        let fixture = try SchedulerFixture.withMemory(megabytes: 100)
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

    /// Beside it another owner's picture is filtered, of the memory that is kept.
    @Test func aSuspectKeepsNoIdleOwnerOut() async throws {
        let fixture = try SchedulerFixture.withMemory(megabytes: 800)
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

    /// It has all that one may have, and does not wait for more.
    @Test func aSuspectThatNeedsMoreThanOneMayFails() async throws {
        let fixture = try SchedulerFixture.withMemory(large: ["s-most"], huge: ["s-more"])
        try fixture.accept(
            "x", Self.manifest(["most", "more"]),
            journal: Self.crashes(0, .killed) + Self.crashes(1, .killed))
        try await fixture.finishWithoutMemory()
        #expect(try fixture.image("more", of: "x").error?.code == "memory-limit")
        #expect(try fixture.image("most", of: "x").error?.code != "memory-limit")
        #expect(fixture.journal.all(.imageWaits).isEmpty)
    }

    /// Someone who kills the daemon again and again must not meet the same image each time.
    @Test func suspectsComeLastTheLeastSuspectedFirst() async throws {
        let fixture = try SchedulerFixture.withMemory(megabytes: 100, width: 1)
        try fixture.accept(
            "x", Self.manifest(["a", "b", "c", "d", "e"]),
            journal: Self.crashes(0, .killed, .killed) + Self.crashes(1, .killed)
                + Self.crashes(3, .killed, .killed, .killed))
        try await fixture.finishWithoutMemory()
        #expect(fixture.filtered == ["c", "e", "b", "a", "d"])
    }

    @Test func aQuarantinedOneIsNeitherFetchedNorFiltered() async throws {
        let fixture = try SchedulerFixture.withMemory(megabytes: 100)
        try fixture.accept(
            "x",
            Manifest(images: [
                Manifest.Image(name: "a", origin: .source("s-a")),
                Manifest.Image(name: "quarantine", origin: .source("s-quarantine")),
                Manifest.Image(name: "made", origin: .image(1)),
                Manifest.Image(name: "b", origin: .source("s-b")),
            ]),
            journal: Self.crashes(1, .signal("SIGSEGV"), .signal("SIGSEGV")))
        try await fixture.finishWithoutMemory()
        #expect(Set(fixture.filtered) == ["a", "b"] && Set(fixture.fetched) == ["a", "b"])
        #expect(try fixture.image("quarantine", of: "x").error?.code == "quarantined")
        #expect(try fixture.image("made", of: "x").error?.code == "dependency-failed")
        #expect(try fixture.finished == ["x": .completedWithErrors])
    }

    @Test func someoneWhoKillsTheDaemonQuarantinesNothing() async throws {
        let fixture = try SchedulerFixture.withMemory(megabytes: 100)
        try fixture.accept(
            "x", Self.manifest(["a"]),
            journal: Self.crashes(0, .killed, .killed, .killed, .killed))
        try await fixture.finishWithoutMemory()
        #expect(fixture.filtered == ["a"])
    }
}
