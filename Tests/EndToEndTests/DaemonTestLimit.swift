import Synchronization
import Testing

/// Lets only a few tests through at a time, each with a daemon and an origin of its own: all at once
/// would starve each other on a small machine.
struct DaemonTestLimit: SuiteTrait, TestTrait, TestScoping {
    private static let places = Places(count: 4)

    var isRecursive: Bool { true }

    func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
    ) async throws {
        // A suite and a test with arguments hold no place while their cases wait for one.
        guard testCase != nil else { return try await function() }
        await Self.places.take()
        defer { Self.places.giveBack() }
        try await function()
    }
}

extension Trait where Self == DaemonTestLimit {
    /// At most a few tests of all suites with this trait run at a time.
    static var fewAtATime: Self { Self() }
}

/// A counting semaphore for tasks.
private final class Places: Sendable {
    private struct State {
        var free: Int
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    private let state: Mutex<State>

    init(count: Int) {
        state = Mutex(State(free: count))
    }

    func take() async {
        await withCheckedContinuation { continuation in
            let goesOn = state.withLock { state in
                if state.free == 0 {
                    state.waiting.append(continuation)
                    return false
                }
                state.free -= 1
                return true
            }
            if goesOn { continuation.resume() }
        }
    }

    func giveBack() {
        let next: CheckedContinuation<Void, Never>? = state.withLock { state in
            if state.waiting.isEmpty {
                state.free += 1
                return nil
            }
            return state.waiting.removeFirst()
        }
        next?.resume()
    }
}
