import DarkroomCore
import Synchronization

/// Work of a thread of the daemon that may hang, for messages.
package struct WatchedWork: Sendable, Hashable {
    /// The subject of a sentence: `the picture 7 of trip`.
    package let text: String
    package var batch: String?
    package var image: String?

    package init(_ text: String, batch: String? = nil, image: String? = nil) {
        self.text = text
        self.batch = batch
        self.image = image
    }
}

/// How long work may make no progress.
package enum Patience: Sendable {
    /// It computes, and takes a step every few milliseconds. The watchdog's interval is more than enough. While its
    /// thread waits for a disk, it has the patience of `files`.
    case steps
    /// It waits for a file system, where one call (open, fsync, syncfs) may take very long: after gigabytes of other
    /// programs' dirty pages, during retries of a disk, or during the restart of a server. A waiting kernel does not
    /// handle signals, so to end the daemon early would only repeat the wait.
    case files

    /// In seconds.
    fileprivate static let longestWait = 600.0
}

/// Work that has taken no step for some time.
package struct StillWork: Sendable, Equatable {
    package let work: WatchedWork
    package let patience: Patience
    package let seconds: Double

    package init(work: WatchedWork, patience: Patience, seconds: Double) {
        self.work = work
        self.patience = patience
        self.seconds = seconds
    }

    package func isStuck(interval: Double) -> Bool {
        seconds >= (patience == .files ? max(interval, Patience.longestWait) : interval)
    }
}

/// The work of the daemon's threads that may hang, and the time of the last step of each.
///
/// The watchdog depends on this. Each piece of work counts separately, so that the progress of others does not hide one
/// picture that hangs.
package final class Heartbeat: Sendable {
    /// One piece of work, from its beginning to its end.
    package final class Beat: Sendable {
        fileprivate let work: WatchedWork
        fileprivate let patience: Patience
        fileprivate let lastStep: Atomic<UInt64>
        fileprivate let thread = ThreadState.current

        fileprivate init(_ work: WatchedWork, _ patience: Patience, now: UInt64) {
            self.work = work
            self.patience = patience
            lastStep = Atomic(now)
        }

        /// A step: for example, a band has been filtered.
        package func step(now: UInt64 = Clock.nanoseconds) {
            lastStep.store(now, ordering: .relaxed)
        }
    }

    /// After this time without a step, in seconds, it is checked what the thread waits for.
    private static let notable = 1.0

    private let beats = Mutex<[ObjectIdentifier: Beat]>([:])

    package init() {}

    /// Runs `body`, which reports its steps to the beat.
    package func during<Outcome>(
        _ work: WatchedWork, _ patience: Patience, now: UInt64 = Clock.nanoseconds,
        _ body: (Beat) throws -> Outcome
    ) rethrows -> Outcome {
        let beat = Beat(work, patience, now: now)
        beats.withLock { $0[ObjectIdentifier(beat)] = beat }
        defer { _ = beats.withLock { $0.removeValue(forKey: ObjectIdentifier(beat)) } }
        return try body(beat)
    }

    /// The work in progress, and the time since the last step of each.
    package func still(now: UInt64) -> [StillWork] {
        let beats = beats.withLock { Array($0.values) }
        return beats.map { beat in
            // Another thread may have taken a step after `now` was read.
            let last = min(beat.lastStep.load(ordering: .relaxed), now)
            let seconds = Double(now - last) / 1e9
            let waits = seconds >= Self.notable && beat.thread.waitsForDisk
            return StillWork(
                work: beat.work, patience: waits ? .files : beat.patience, seconds: seconds)
        }
    }
}
