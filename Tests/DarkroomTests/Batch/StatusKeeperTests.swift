import Foundation
import Synchronization
import TestSupport
import Testing

@testable import DarkroomBatch
@testable import DarkroomCore
@testable import DarkroomSelfTest
@testable import DarkroomSpool

/// What a stop does with the statuses of the batches in work.
@Suite(.tags(.concurrency)) struct StatusKeeperTests {
    /// Batches of these keys, and how often their status was asked for.
    private final class Source: StatusSource {
        let asked = Mutex<[BatchKey]>([])
        private let spool: Spool
        private let asking: @Sendable () -> Void

        /// - Parameter asking: called before a status is given.
        init(
            _ spool: Spool, _ keys: ClosedRange<BatchKey>,
            asking: @escaping @Sendable () -> Void = {}
        ) throws {
            self.spool = spool
            self.asking = asking
            for key in keys {
                try spool.active.makeDirectory(FileName("\(key)"))
                try spool.outbox.makeDirectory(FileName("\(key)"))
            }
        }

        func snapshot(of key: BatchKey) -> StatusSnapshot? {
            asked.withLock { $0.append(key) }
            asking()
            let status = Status(
                id: "\(key)", manifest: .init(name: "", file: "", sha256: "", bytes: 0),
                state: .processing, times: .init(received: ""))
            return StatusSnapshot(
                folders: BatchFolders(spool: spool, id: "\(key)"), status: status, startedAt: nil)
        }

        func finished(_ key: BatchKey) {}
        func parked(_ key: BatchKey) {}

        /// The batches that have a status.
        var written: [BatchKey] {
            get throws {
                try (1...9).filter { key in
                    guard try spool.outbox.exists(FileName("\(key)")) else { return false }
                    return try Directory(FileName("\(key)"), in: spool.outbox)
                        .exists(BatchFile.status)
                }
            }
        }
    }

    private func keeper(interval: Double = 0) -> StatusKeeper {
        let log = RecordedJournal().log()
        return StatusKeeper(
            interval: interval, durably: false, storage: StorageGuard(log: log), log: log)
    }

    @Test func leavesEachStatusOnce() throws {
        let scratch = try ScratchDirectory()
        let source = try Source(Spool(path: scratch.path), 1...3)
        let keeper = keeper()
        keeper.close(finishingUntil: .max)
        // What changes while what runs is finished is written at the end.
        for key in 1...3 { keeper.changed(key, source) }
        keeper.leave([2, 1, 3], source, before: .max)
        #expect(source.asked.withLock { $0 } == [2, 1, 3])
        #expect(try source.written == [1, 2, 3])
    }

    /// The first takes longer than there is time for all.
    @Test func leavesNoMoreThanThereIsTimeFor() throws {
        let scratch = try ScratchDirectory()
        let source = try Source(Spool(path: scratch.path), 1...3) { usleep(60_000) }
        let keeper = keeper()
        keeper.close(finishingUntil: .max)
        keeper.leave([1, 2, 3], source, before: Clock.nanoseconds + 30_000_000)
        // It is broken off, however many images it has.
        #expect(source.asked.withLock { $0.count } <= 1)
        #expect(try source.written == [])
        keeper.leave([1, 2, 3], source, before: 0)
        #expect(try source.written == [])
        keeper.leave([1, 2, 3], source, before: .max)
        #expect(try source.written == [1, 2, 3])
    }

    /// Many large statuses may be due at once, and a small batch that has ended has its last one between them.
    @Test func aBatchThatEndsDoesNotWaitForAllThatIsDue() async throws {
        let scratch = try ScratchDirectory()
        let keeper = keeper()
        let mayGoOn = DispatchSemaphore(value: 0)
        let count = Atomic(0)
        let ending = Mutex<Source?>(nil)
        let source = try Source(Spool(path: scratch.path), 1...9) {
            switch count.add(1, ordering: .relaxed).newValue {
            case 1: mayGoOn.wait()
            case 2: if let source = ending.withLock({ $0 }) { keeper.finish(10, source) }
            default: break
            }
            usleep(60_000)
        }
        ending.withLock { $0 = source }
        keeper.changed(1, source)
        try await eventually("the first writing") {
            source.asked.withLock { $0.isEmpty } ? nil : true
        }
        // While it lasts the others become due, and one ends once the next of them is begun.
        for key in 2...9 { keeper.changed(key, source) }
        mayGoOn.signal()
        let asked = try await eventually("all") {
            let asked = source.asked.withLock { $0 }
            return asked.count >= 10 ? asked : nil
        }
        ending.withLock { $0 = nil }
        #expect(try #require(asked.firstIndex(of: 10)) <= 3, "\(asked)")
    }

    /// What is due when the daemon is asked to stop is not waited for.
    @Test func stopsInTheMiddleOfWhatIsDue() async throws {
        let scratch = try ScratchDirectory()
        let mayGoOn = DispatchSemaphore(value: 0)
        let source = try Source(Spool(path: scratch.path), 1...9) { mayGoOn.wait() }
        let keeper = keeper()
        for key in 1...9 { keeper.changed(key, source) }
        try await eventually("the first writing") {
            source.asked.withLock { $0.isEmpty } ? nil : true
        }
        keeper.close(finishingUntil: .max)
        for _ in 1...10 { mayGoOn.signal() }
        keeper.leave([], source, before: 0)
        #expect(source.asked.withLock { $0.count } == 1)
        // Nor is the one that was being written; all are written at the end.
        #expect(try source.written == [])
        keeper.leave([], source, before: .max)
        #expect(try source.written == Array(1...9))
    }
}
