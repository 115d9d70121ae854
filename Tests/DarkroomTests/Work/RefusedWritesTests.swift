import Dispatch
import Synchronization
import TestSupport
import Testing

@testable import DarkroomCore
@testable import DarkroomWork

/// Which refused writes the guard has repeated, and when. Only the test moves the time on.
struct RefusedWritesTests {
    private static let full = Failure(FileError(.write, "status.json", .noSpace))

    /// A station whose writes need some space of a disk.
    private final class Station: Sendable {
        let time = ManualTime()
        let storage: StorageGuard
        let queue = DispatchQueue(label: "station")
        let writes: RefusedWrites
        let space = Atomic(0)
        private let log = Mutex<(attempts: [String], written: [String])>(([], []))

        init() {
            storage = StorageGuard(log: .silent, time: time.source)
            writes = RefusedWrites(queue: queue, storage: storage)
            storage.add(writes)
        }

        var attempts: [String] { log.withLock(\.attempts) }
        var written: [String] { log.withLock(\.written) }

        /// - Parameter bytes: nil if it is not needed.
        func write(_ name: String, _ bytes: Int?, batch: FileName? = nil) -> RefusedWrites.Write {
            RefusedWrites.Write(batch: batch) { [self] in
                log.withLock { $0.attempts.append(name) }
                guard let bytes else { return .undecided }
                guard bytes <= space.load(ordering: .relaxed) else {
                    storage.writeRefused(RefusedWritesTests.full)
                    return .refused
                }
                log.withLock { $0.written.append(name) }
                return .succeeded
            }
        }

        func attempt(_ name: String, _ bytes: Int? = 1) {
            queue.sync { writes.attempt(write(name, bytes).carryOut) }
        }

        /// Moves the time on, and waits for the attempts that this has begun.
        func advance(by seconds: Double) {
            time.advance(by: seconds)
            queue.sync {}
        }

        func wait(for what: String, until isReached: () -> Bool) async throws {
            try await eventually(what, context: { "\(self.attempts)" }) {
                isReached() ? true : nil
            }
        }
    }

    @Test func whatSucceedsIsNotKept() {
        let station = Station()
        station.space.store(1, ordering: .relaxed)
        station.attempt("a")
        #expect(station.written == ["a"] && !station.writes.tryStorage())
    }

    @Test func everythingIsWrittenOnceAfterASuccessfulAttempt() async throws {
        let station = Station()
        for name in ["a", "b", "c"] { station.attempt(name) }
        station.advance(by: 0.9)
        #expect(station.attempts == ["a", "b", "c"])
        station.space.store(1, ordering: .relaxed)
        station.advance(by: 0.1)
        try await station.wait(for: "all") { station.written.count == 3 }
        #expect(station.written == ["a", "b", "c"] && station.storage.mayWork)
        #expect(station.attempts.count == 6 && !station.writes.tryStorage())
    }

    /// A write that is kept while the spool accepts writes, because it was refused just before that, is not forgotten.
    @Test func whatIsKeptTooLateIsRepeated() async throws {
        let station = Station()
        station.space.store(1, ordering: .relaxed)
        station.writes.keep(station.write("late", 1))
        try await station.wait(for: "it") { station.written == ["late"] }
    }

    /// As long as nothing changes, one write is tried at a time, and less and less often.
    @Test func aFullDiskIsLeftAlone() {
        let station = Station()
        station.attempt("a")
        station.attempt("b")
        for _ in 0..<200 { station.advance(by: 0.5) }
        // After 1, 2, 4, 8, 16, 30 and 30 seconds, in turns.
        #expect(station.attempts == ["a", "b", "a", "b", "a", "b", "a", "b", "a"])
        #expect(station.written == [] && !station.storage.mayWork)
    }

    @Test func aLargeWriteDoesNotKeepSmallOnesFromTheDisk() async throws {
        let station = Station()
        station.attempt("large", 9)
        station.attempt("small", 1)
        station.space.store(1, ordering: .relaxed)
        station.advance(by: 1)
        #expect(station.written == [])
        station.advance(by: 2)
        #expect(station.written == ["small"])
        // The rest of the work has gone on, and has met the refusal of the large one.
        try await station.wait(for: "the refusal") {
            station.attempts.count == 5 && !station.storage.mayWork
        }
        station.space.store(9, ordering: .relaxed)
        try await station.wait(for: "it") {
            // The guard asks for its next tick after it has stopped the work, so perhaps only now.
            station.advance(by: 5)
            return station.written == ["small", "large"]
        }
    }

    /// What is not needed any more shows nothing of the disk.
    @Test func whatIsNotNeededIsPassedOver() {
        let station = Station()
        station.attempt("first", 1)
        station.writes.keep(station.write("unneeded", nil))
        station.writes.keep(station.write("second", 2))
        station.space.store(0, ordering: .relaxed)
        station.advance(by: 1)
        #expect(station.attempts == ["first", "first"])
        station.advance(by: 2)
        #expect(station.attempts == ["first", "first", "unneeded", "second"])
        #expect(!station.storage.mayWork)
    }

    /// If nothing else waits, the guard learns at once that the attempt has shown nothing.
    @Test func anAttemptWithoutAWriteEnds() async throws {
        let station = Station()
        station.storage.writeRefused(Self.full)
        station.writes.keep(station.write("unneeded", nil))
        station.advance(by: 1)
        #expect(station.attempts == ["unneeded"] && !station.storage.mayWork)
        station.advance(by: 0.01)
        #expect(station.storage.mayWork)
    }

    // MARK: Batches

    /// The lines of a journal are read in their order.
    @Test func theWritesOfABatchKeepTheirOrder() async throws {
        let station = Station()
        station.storage.writeRefused(Self.full)
        for (name, batch) in [("a1", "a"), ("b1", "b"), ("a2", "a")] as [(String, FileName)] {
            station.writes.keep(station.write(name, 1, batch: batch))
        }
        #expect(station.writes.holds("a") && !station.writes.holds("c"))
        station.advance(by: 1)
        #expect(station.attempts == ["a1"])
        // Behind the other batch, and before what comes after it.
        station.space.store(1, ordering: .relaxed)
        station.advance(by: 2)
        try await station.wait(for: "all") { station.written.count == 3 }
        #expect(station.written == ["b1", "a1", "a2"])
    }

    @Test func whatComesAfterwardsWaitsForItsBatchOnly() async throws {
        let station = Station()
        let called = Mutex<[String]>([])
        station.storage.writeRefused(Self.full)
        station.writes.keep(station.write("a1", 1, batch: "a"))
        for batch in ["a", "b"] as [FileName] {
            station.queue.sync {
                station.writes.afterwards(of: batch) { called.withLock { $0.append(batch.text) } }
            }
        }
        #expect(called.withLock { $0 } == ["b"])
        station.space.store(1, ordering: .relaxed)
        station.advance(by: 1)
        try await station.wait(for: "its write") { called.withLock { $0 } == ["b", "a"] }
        #expect(station.written == ["a1"])
    }

    /// Of a write that was refused in part, the rest is repeated.
    @Test func theRestIsRepeated() async throws {
        let station = Station()
        let rest = station.write("rest", 1)
        station.queue.sync {
            station.writes.attempt { [storage = station.storage] in
                storage.writeRefused(Self.full)
                return .refusedPartly(rest)
            }
        }
        station.space.store(1, ordering: .relaxed)
        station.advance(by: 1)
        try await station.wait(for: "it") { station.written == ["rest"] }
    }

    @Test func nothingIsKeptAfterLeaving() {
        let station = Station()
        let left = Atomic(0)
        station.storage.writeRefused(Self.full)
        let write = RefusedWrites.Write(leave: { left.add(1, ordering: .relaxed) }) { .refused }
        station.writes.keep(write)
        station.queue.sync { station.writes.leave() }
        #expect(left.load(ordering: .relaxed) == 1 && !station.writes.tryStorage())
        station.writes.keep(write)
        #expect(left.load(ordering: .relaxed) == 2 && !station.writes.tryStorage())
    }
}
