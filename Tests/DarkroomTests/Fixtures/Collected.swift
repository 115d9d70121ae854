import Foundation
import Synchronization

/// Collects what completions say, and waits for a number of them.
final class Collected<Value: Sendable>: Sendable {
    private let values = Mutex<[Value]>([])
    private let stream: AsyncStream<Void>
    private let continuation: AsyncStream<Void>.Continuation

    init() {
        (stream, continuation) = AsyncStream.makeStream()
    }

    var all: [Value] { values.withLock { $0 } }

    func add(_ value: Value) {
        values.withLock { $0.append(value) }
        continuation.yield()
    }

    func wait(for count: Int) async -> [Value] {
        var arrived = stream.makeAsyncIterator()
        while all.count < count { await arrived.next() }
        return all
    }
}

extension OperationQueue {
    /// Adds the operations at once and returns.
    func add(_ operations: [Operation]) {
        addOperations(operations, waitUntilFinished: false)
    }

    /// Adds the operations and waits for the end of all there are in the queue.
    func run(_ operations: [Operation]) async {
        add(operations)
        await withCheckedContinuation { continuation in
            addBarrierBlock { continuation.resume() }
        }
    }
}
