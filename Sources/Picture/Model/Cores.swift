import CDarkroomShims
import DarkroomCore
import Dispatch
import Synchronization

/// The processor's cores, and how many of them work on pictures.
///
/// Each picture has the core of its thread. It may borrow idle cores to encode its strips. So a single picture has all
/// cores, and if there are as many pictures as cores, each has one.
package final class Cores: Sendable {
    /// The cores on which this process may run.
    package static let shared = Cores(count: Machine.cores)

    private let limit: Atomic<Int>
    /// More than `count` if there are more pictures in work than cores.
    private let busy = Atomic(0)

    package init(count: Int) { limit = Atomic(count) }

    private var count: Int { limit.load(ordering: .relaxed) }

    /// Uses at most this many of them from now on.
    package func restrict(to most: Int) {
        limit.store(max(1, min(most, count)), ordering: .relaxed)
    }

    /// How many cores one picture can borrow.
    package var most: Int { count - 1 }

    /// A picture begins to run on its thread, even if no core is idle.
    package func enter() { busy.add(1, ordering: .relaxed) }

    package func leave() { busy.subtract(1, ordering: .relaxed) }

    /// Borrows an idle core, which must be returned.
    ///
    /// - Returns: false if there is none.
    package func tryBorrow() -> Bool {
        let count = count
        var seen = busy.load(ordering: .relaxed)
        while seen < count {
            let (exchanged, original) = busy.weakCompareExchange(
                expected: seen, desired: seen + 1, ordering: .relaxed)
            if exchanged { return true }
            seen = original
        }
        return false
    }

    /// Runs `body` on another thread for the picture of this thread. If it crashes, the crash is attributed to that
    /// picture.
    package static func lend(_ body: @escaping @Sendable () -> Void) {
        let slot = darkroom_crash_slot()
        DispatchQueue.global().async {
            let former = darkroom_crash_enter(slot)
            defer { _ = darkroom_crash_enter(former) }
            body()
        }
    }

    package func giveBack() { busy.subtract(1, ordering: .relaxed) }

    /// Whether a picture without its own core has begun since. Then borrowed cores must be returned.
    package var isShort: Bool { busy.load(ordering: .relaxed) > count }

    /// How many cores could be borrowed now.
    package var idle: Int { max(0, count - busy.load(ordering: .relaxed)) }
}
