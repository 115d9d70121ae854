import Foundation
import Logging
import Synchronization
import TestSupport
import Testing

@testable import DarkroomAnswer
@testable import DarkroomCore
@testable import DarkroomFixtures
@testable import DarkroomSpool

/// Real folders and made-up times. Nothing in the suite changes, so threads may share it.
final class RetentionTests: SpoolSuite, @unchecked Sendable {
    static let now = Date(timeIntervalSince1970: 2_000_000_000)

    let log = EventLog(Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })

    /// Makes an entry that was finished `age` seconds before `now`, with a picture of `bytes` bytes.
    private func make(
        _ id: String, age: Double, bytes: Int = 10, state: BatchState = .completed,
        called: String? = nil
    ) throws {
        let status = Status(
            of: called ?? id, state, finished: Clock.timestamp(Self.now - age),
            images: [.filtered("a")])
        try spool.outbox.makeDirectory(FileName(id))
        let folder = try entry(id)
        try folder.write(status.encoded(), to: "status.json", durably: false)
        try folder.write([UInt8](repeating: 0, count: bytes), to: "a.png", durably: false)
        touch(id, age)
    }

    /// As if the status had been written when it says that it was.
    private func touch(_ id: String, _ age: Double) {
        setTimes(
            of: "\(spool.outbox.path)/\(id)/status.json",
            to: Int(Self.now.timeIntervalSince1970 - age))
    }

    private func entry(_ id: String) throws -> Directory {
        try Directory(FileName(id), in: spool.outbox)
    }

    private func ids() throws -> Set<String> { try entries(of: spool.outbox) }

    @discardableResult
    private func sweep(
        age: Double = 0, bytes: Int = 0, stopped: @escaping @Sendable () -> Bool = { false },
        tell: @escaping (FileName, String) -> Void = { _, _ in }
    ) throws -> Retention.Outcome {
        var limits = Retention.Limits()
        limits.age = age
        limits.bytes = bytes
        let retention = Retention(
            spool: spool, limits: limits, durably: true, log: log, isStopped: stopped, tell: tell)
        return try retention.sweep(now: Self.now)
    }

    // MARK: What is removed

    @Test func removesWhatIsOldEnough() throws {
        try make("old", age: 100)
        try make("just", age: 60)
        try make("young", age: 59)
        let outcome = try sweep(age: 60)
        #expect(try ids() == ["young"])
        #expect(try spool.active.names().isEmpty)
        #expect(outcome.entries == 2)
        #expect(outcome.nextDue == Self.now + 1)
        #expect(log.metrics.expiredEntries.value == 2)
        #expect(log.metrics.expiredBytes.value == outcome.bytes)
    }

    @Test func isOffByDefault() throws {
        try make("old", age: 1e9)
        #expect(try sweep() == Retention.Outcome())
        #expect(try ids() == ["old"])
    }

    @Test(arguments: [BatchState.rejected, .cancelled, .completedWithErrors])
    func removesWhateverIsFinal(state: BatchState) throws {
        try make("x", age: 100, state: state)
        try sweep(age: 60)
        #expect(try ids() == [])
    }

    @Test func removesTheOldestUntilTheRestIsSmallEnough() throws {
        // Not in the order of their names.
        for (id, age) in [("c", 500.0), ("a", 400), ("d", 300), ("b", 200)] {
            try make(id, age: age, bytes: 100_000)
        }
        try make("working", age: 900, bytes: 1_000_000, state: .processing)
        try sweep(bytes: 250_000)
        #expect(try ids() == ["b", "d", "working"])
        try sweep(bytes: 250_000)
        #expect(try ids() == ["b", "d", "working"])
    }

    /// A file counts as what it takes on the disk, whatever length it has.
    @Test func countsBlocksNotLengths() throws {
        for (id, age) in [("a", 300.0), ("b", 200)] { try make(id, age: age, bytes: 100_000) }
        for id in ["a", "b"] {
            #expect(truncate("\(spool.outbox.path)/\(id)/a.png", 1 << 42) == 0)
        }
        try sweep(bytes: 250_000)
        #expect(try ids() == ["a", "b"])
        let outcome = try sweep(bytes: 150_000)
        #expect(try ids() == ["b"])
        #expect((100_000..<150_000).contains(outcome.bytes))
    }

    @Test func goesByWhatTheStatusSaysNotByTheFilesTimes() throws {
        try make("old", age: 100)
        // Touched since: it is removed later than it could be, never too early.
        touch("old", 0)
        #expect(try sweep(age: 60).nextDue == Self.now + 60)
        #expect(try ids() == ["old"])
        try make("young", age: 10)
        touch("young", 1000)
        try sweep(age: 60)
        #expect(try ids() == ["old", "young"])
    }

    @Test func stopsAtOnce() throws {
        for index in 0..<20 { try make("\(index)", age: 100) }
        let asked = Atomic(0)
        try sweep(age: 60, stopped: { asked.add(1, ordering: .relaxed).newValue > 20 })
        let left = try ids().count
        #expect(left > 10 && left < 20)
        try sweep(age: 60)
        #expect(try ids() == [])
    }

    // MARK: What stays

    @Test(arguments: [BatchState.pending, .processing])
    func keepsWhatIsNotFinished(state: BatchState) throws {
        try make("x", age: 1e6, state: state)
        try sweep(age: 60)
        try sweep(bytes: 1)
        #expect(try ids() == ["x"])
    }

    @Test func keepsWhatIsNotItsOwn() throws {
        try make("other", age: 100, called: "another")
        try spool.outbox.makeDirectory("empty")
        try spool.outbox.makeDirectory("strange")
        try entry("strange").write(
            Array("{\"state\": \"completed\"}".utf8), to: "status.json", durably: false)
        touch("strange", 100)
        try spool.outbox.write([1], to: "file", durably: false)
        try make("holds", age: 100)
        try entry("holds").makeDirectory("folder")
        try make("timeless", age: 100)
        try entry("timeless").write(
            Status(of: "timeless", finished: nil).encoded(), to: "status.json", replacing: true,
            durably: false)
        touch("timeless", 100)
        let before = try ids()
        for limits in [(60.0, 0), (0, 1)] {
            var kept: [String] = []
            try sweep(age: limits.0, bytes: limits.1, tell: { name, _ in kept.append(name.text) })
            #expect(kept.sorted() == ["holds", "other", "strange", "timeless"])
            #expect(try ids() == before)
        }
    }

    @Test func followsNoLink() throws {
        let outside = try ScratchDirectory()
        let precious = outside.url.appending(path: "precious")
        try Data([1]).write(to: precious)
        try make("target", age: 100)
        // An entry that is a link, one whose status is, and one that holds links to a file and a folder.
        symlink(outside.path, spool.outbox.path + "/link")
        try make("status", age: 100)
        try entry("status").remove("status.json")
        symlink("../target/status.json", spool.outbox.path + "/status/status.json")
        symlink(precious.path, spool.outbox.path + "/target/file.png")
        symlink(outside.path, spool.outbox.path + "/target/folder.png")
        symlink("/nowhere", spool.outbox.path + "/target/dangling.png")
        try sweep(age: 60)
        #expect(try ids() == ["link", "status"])
        #expect(try Data(contentsOf: precious) == Data([1]))
    }

    // MARK: Opened again

    @Test func leavesAnEntryThatIsOpenAgain() throws {
        try make("x", age: 100)
        try spool.active.makeDirectory("x")
        try sweep(age: 60)
        #expect(try ids() == ["x"])
        try spool.active.removeDirectory("x")
        try sweep(age: 60)
        #expect(try ids() == [])
    }

    /// One side opens finished entries again, as a retry does, while the other removes them: each ends either
    /// open, with its answer, or gone.
    @Test func doesNotRaceWithARetry() throws {
        let count = 60
        for index in 0..<count { try make("\(index)", age: 100) }
        let opened = Mutex<Set<String>>([])
        DispatchQueue.concurrentPerform(iterations: 2) { side in
            guard side == 1 else {
                #expect((try? sweep(age: 60)) != nil)
                return
            }
            for index in (0..<count).reversed() {
                let name = FileName("\(index)")
                try? spool.finishedBatches.withLock { _ throws(FileError) in
                    guard try spool.outbox.exists(name) else { return }
                    try spool.active.makeDirectory(name)
                    opened.withLock { _ = $0.insert("\(index)") }
                }
            }
        }
        #expect(try ids() == opened.withLock { $0 })
        #expect(try entries(of: spool.active) == opened.withLock { $0 })
    }

    // MARK: Leftovers

    @Test func removesWhatAFormerDaemonHadBegunToRemove() throws {
        try make("x", age: 100)
        try spool.outbox.rename("x", to: spool.active, as: Expired.name(of: "x"))
        try spool.active.makeDirectory("work")
        let expired = Expired(spool: spool, isStopped: { false })
        #expect(try expired.clear() == 1)
        #expect(try spool.active.names() == ["work"])
    }

    /// An entry of the same name comes of age before the leftover of the first is gone.
    @Test func replacesALeftoverOfTheSameName() throws {
        for _ in 0..<2 {
            try make("x", age: 100)
            try spool.outbox.rename("x", to: spool.active, as: Expired.name(of: "x"))
            try make("x", age: 100)
            try sweep(age: 60)
            #expect(try ids() == [])
            #expect(try spool.active.names().isEmpty)
        }
    }

    // MARK: The outline

    @Test(arguments: [0, 1, 2, 3000])
    func readsAStatusWithoutItsImages(count: Int) throws {
        var status = Status.full
        status.images = (0..<count).map { index in
            ImageStatus(
                name: "]\n  ],\n\"images\" : [ \(index) "
                    + String(repeating: "x", count: index % 300),
                source: "s", state: .failed,
                error: Failure(code: "c", message: "{\n  \"id\" : \"no\"\n}"))
        }
        try spool.outbox.makeDirectory("holiday")
        let folder = try entry("holiday")
        try folder.write(status.encoded(), to: "status.json", durably: false)
        let outline = try #require(try StatusOutline(in: folder))
        #expect(outline.id == status.id)
        #expect(outline.state == status.state)
        #expect(outline.times == status.times)
    }

    @Test(arguments: ["", "{", "[]", "null", "{}", "\n\n  ]\n"])
    func takesNothingElseForAStatus(text: String) throws {
        try spool.outbox.makeDirectory("x")
        try entry("x").write(Array(text.utf8), to: "status.json", durably: false)
        #expect(try StatusOutline(in: entry("x")) == nil)
    }
}
