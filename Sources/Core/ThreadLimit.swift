import Dispatch
import Glibc
import SystemPackage

/// How many threads the process may have: RLIMIT_NPROC counts all threads of the user, RLIMIT_AS the memory of their
/// stacks.
///
/// Dispatch does not fail without a thread. It tries again each second, in whichever thread has asked for work, so that a
/// program with too few threads stands still and sees no signal.
package struct ThreadLimit: CodedError, Equatable {
    /// A run has about six further threads: signals, queues and transfers. Each core may have one
    /// for filters and one for the parts of a picture.
    package static let least = 6 + 2 * Machine.cores

    package let message: String
    package var code: String { "too-few-threads" }
    package var isTransient: Bool { false }

    /// Starts `least` threads at once, and ends them again.
    ///
    /// - Throws: if not all of them can be started.
    package static func check() throws(ThreadLimit) { try check(least, start: start) }

    /// Starts a thread that waits for the semaphore at the pointer.
    ///
    /// - Returns: an error, or 0.
    static func start(_ thread: inout pthread_t, _ gate: UnsafeMutableRawPointer) -> CInt {
        pthread_create(
            &thread, nil,
            { gate in
                guard let gate else { return nil }
                Unmanaged<DispatchSemaphore>.fromOpaque(gate).takeUnretainedValue().wait()
                return nil
            }, gate)
    }

    static func check(
        _ count: Int, start: (inout pthread_t, UnsafeMutableRawPointer) -> CInt
    ) throws(ThreadLimit) {
        let gate = DispatchSemaphore(value: 0)
        var threads: [pthread_t] = []
        var error: CInt = 0
        while threads.count < count, error == 0 {
            var thread = pthread_t()
            error = start(&thread, Unmanaged.passUnretained(gate).toOpaque())
            if error == 0 { threads.append(thread) }
        }
        for _ in threads { gate.signal() }
        for thread in threads { pthread_join(thread, nil) }
        guard error != 0 else { return }
        throw ThreadLimit(
            message:
                "only \(threads.count) of \(count) threads can be started: \(Errno(rawValue: error)); "
                + "raise the limit of threads (ulimit -u) or of memory (ulimit -v)")
    }
}
