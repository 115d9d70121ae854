import Synchronization

final class Calls<Value: Sendable>: Sendable {
    private let kept = Mutex<[Value]>([])

    var all: [Value] { kept.withLock { $0 } }

    func add(_ value: Value) { kept.withLock { $0.append(value) } }
}
