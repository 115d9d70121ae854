import Foundation
import Synchronization
import TestSupport
import Testing

@testable import DarkroomFixtures
@testable import DarkroomWork

@Suite(.tags(.concurrency)) struct FilterQueuesTests {
    /// Each operation waits in its thread for the others: none of the threads is shared.
    @Test func moreThanThereAreCoresRunAtOnce() async throws {
        let count = ProcessInfo.processInfo.activeProcessorCount * 2 + 3
        let lanes = FilterQueues()
        let begun = DispatchSemaphore(value: 0)
        let goOn = DispatchSemaphore(value: 0)
        let ended = Atomic(0)
        for lane in 0..<count {
            lanes.add(
                BlockOperation {
                    begun.signal()
                    goOn.wait()
                    ended.add(1, ordering: .relaxed)
                }, to: lane)
        }
        await withCheckedContinuation { continuation in
            Thread.detachNewThread {
                for _ in 0..<count { begun.wait() }
                for _ in 0..<count { goOn.signal() }
                continuation.resume()
            }
        }
        try await eventually("all to end") {
            ended.load(ordering: .relaxed) == count ? true : nil
        }
    }

    /// Those that are made meanwhile, too.
    @Test func suspendedLanesBeginNothing() async throws {
        let lanes = FilterQueues()
        let begun = Mutex<[String]>([])
        let add = { (name: String, lane: Int) in
            lanes.add(BlockOperation { begun.withLock { $0.append(name) } }, to: lane)
        }
        add("before", 0)
        try await eventually("the first") { begun.withLock(\.count) == 1 ? true : nil }
        lanes.setSuspended(true)
        add("old lane", 0)
        add("new lane", 1)
        // Of a queue that is not suspended.
        await OperationQueue().run([BlockOperation { begun.withLock { $0.append("other") } }])
        #expect(begun.withLock { $0 } == ["before", "other"])
        lanes.setSuspended(false)
        try await eventually("the rest") { begun.withLock(\.count) == 4 ? true : nil }
    }
}
