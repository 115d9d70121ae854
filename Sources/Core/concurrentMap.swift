import Dispatch
import Synchronization

/// Computes a value for each element, on all cores that this process may use.
///
/// - Parameter step: so many elements are taken at once.
package func concurrentMap<Element: Sendable, Value: Sendable>(
    _ elements: [Element], step: Int = 16, _ body: @escaping @Sendable (Element) -> Value
) -> [Value] {
    let next = Atomic(0)
    let parts = Mutex<[(start: Int, values: [Value])]>([])
    let threads = min(Machine.cores, (elements.count + step - 1) / step)
    DispatchQueue.concurrentPerform(iterations: threads) { _ in
        while true {
            let start = next.add(step, ordering: .relaxed).oldValue
            guard start < elements.count else { return }
            let values = elements[start..<min(start + step, elements.count)].map(body)
            parts.withLock { $0.append((start, values)) }
        }
    }
    return parts.withLock { $0.sorted { $0.start < $1.start }.flatMap(\.values) }
}
