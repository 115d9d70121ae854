import Glibc

/// A mutex for a value that many threads use for a moment each.
///
/// `Synchronization.Mutex` inherits priorities (FUTEX_LOCK_PI), so the kernel passes a contended lock on to the thread
/// that waits longest. Until that thread runs, nobody else can have the lock. If there are more threads than cores, they
/// then all wait for each other. A mutex of pthread is free at once, for whoever comes first.
package final class UnfairMutex<Value>: @unchecked Sendable {
    // @unchecked: the value is used under the lock only.

    private let lock: UnsafeMutablePointer<pthread_mutex_t>
    private var value: Value

    package init(_ value: sending Value) {
        self.value = value
        lock = .allocate(capacity: 1)
        lock.initialize(to: pthread_mutex_t())
        let result = pthread_mutex_init(lock, nil)
        precondition(result == 0, "a mutex cannot be made: \(result)")
    }

    deinit {
        pthread_mutex_destroy(lock)
        lock.deallocate()
    }

    /// Runs `body` with the value, which nobody else uses meanwhile.
    package func withLock<Result, Failure: Error>(
        _ body: (inout Value) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        pthread_mutex_lock(lock)
        defer { pthread_mutex_unlock(lock) }
        return try body(&value)
    }
}
