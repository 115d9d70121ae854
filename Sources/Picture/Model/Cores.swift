import CDarkroomShims
import DarkroomCore
import Foundation
import Synchronization

/// The processor's cores, and how many of them are at work on pictures.
///
/// Each picture has the core of the thread it runs on. A picture may borrow those that are idle to
/// encode its strips. So one picture alone has all cores, and as many pictures as cores have one
/// each.
package final class Cores: Sendable {
    /// Those this process may run on.
    package static let shared = Cores(count: ProcessInfo.processInfo.activeProcessorCount)

    private let count: Int
    /// More than `count` where more pictures run than there are cores.
    private let busy = Atomic(0)

    package init(count: Int) {
        self.count = count
    }

    /// How many can be borrowed by one picture.
    package var most: Int { count - 1 }

    /// A picture begins to run on its thread. It does so even where no core is idle.
    package func enter() { busy.add(1, ordering: .relaxed) }

    package func leave() { busy.subtract(1, ordering: .relaxed) }

    /// Takes an idle core, to be given back; false where there is none.
    package func tryBorrow() -> Bool {
        var seen = busy.load(ordering: .relaxed)
        while seen < count {
            let (exchanged, original) = busy.weakCompareExchange(
                expected: seen, desired: seen + 1, ordering: .relaxed)
            if exchanged { return true }
            seen = original
        }
        return false
    }

    /// Runs `body` on another thread, for the picture that this thread works for: should it crash, that
    /// picture is to blame.
    package static func lend(_ body: @escaping @Sendable () -> Void) {
        let slot = darkroom_crash_slot()
        DispatchQueue.global().async {
            let former = darkroom_crash_enter(slot)
            defer { _ = darkroom_crash_enter(former) }
            body()
        }
    }

    package func giveBack() { busy.subtract(1, ordering: .relaxed) }

    /// Whether a picture has begun since that has no core of its own, so that who has borrowed one
    /// is to give it back.
    package var isShort: Bool { busy.load(ordering: .relaxed) > count }

    /// How many could be borrowed now.
    package var idle: Int { max(0, count - busy.load(ordering: .relaxed)) }
}
