import DarkroomCore
import Glibc
import Synchronization

/// Lets the groups of a burst grow. A group of batches shares its waits for the disk, and takes what has come during the
/// waits for the group before it. If the disk is fast, that is little, and the syncs cost more than the work. So a group
/// that follows closely on one of several batches waits a moment for more. A single batch never waits.
final class BurstPause: Sendable {
    /// In nanoseconds.
    private static let closely: UInt64 = 10_000_000
    static let length: UInt64 = 3_000_000

    /// The time until which the next group waits, if it comes at all before then, in nanoseconds.
    private let burstUntil = Atomic<UInt64>(0)

    func ended(batches: Int, now: UInt64 = Clock.nanoseconds) {
        burstUntil.store(batches > 1 ? now + Self.closely : 0, ordering: .relaxed)
    }

    /// Whether a group that begins now waits.
    func isDue(now: UInt64 = Clock.nanoseconds) -> Bool {
        now < burstUntil.load(ordering: .relaxed)
    }

    /// Waits on the calling thread, so that nothing overtakes the group in its queue.
    func wait() {
        guard isDue() else { return }
        var time = timespec(tv_sec: 0, tv_nsec: Int(Self.length))
        nanosleep(&time, nil)
    }
}
