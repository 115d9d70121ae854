import Synchronization

final class Calls<Value: Sendable>: Sendable {
    private let kept = Mutex<[Value]>([])

    var all: [Value] { kept.withLock { $0 } }

    /// All, which are forgotten.
    func take() -> [Value] {
        kept.withLock { kept in
            defer { kept = [] }
            return kept
        }
    }

    func add(_ value: Value) { kept.withLock { $0.append(value) } }
}
