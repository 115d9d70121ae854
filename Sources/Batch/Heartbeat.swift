import DarkroomCore
import Synchronization

/// Something that a thread of the daemon does and that might hang, for messages.
package struct WatchedWork: Sendable, Hashable {
    /// As the subject of a sentence: `the picture 7 of trip`.
    package let text: String
    package var batch: String?
    package var image: String?

    package init(_ text: String, batch: String? = nil, image: String? = nil) {
        self.text = text
        self.batch = batch
        self.image = image
    }
}

/// How long work may take no step.
package enum Patience: Sendable {
    /// It computes, and takes a step every few milliseconds: the watchdog's interval is ample. While its thread is found
    /// to wait for a disk, it has the patience of `files`.
    case steps
    /// It waits for a file system, where one call (open, fsync, syncfs) takes as long as it takes: behind gigabytes
    /// of others' dirty pages, a disk that is retried, a server that is restarted. A kernel that waits hears no
    /// signal, so an early end would only do the same again.
    case files

    private static let longestWait = 600.0

    /// In seconds.
    func allowance(interval: Double) -> Double {
        switch self {
        case .steps: interval
        case .files: max(interval, Self.longestWait)
        }
    }
}

/// Work that has taken no step for a time.
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
        seconds >= patience.allowance(interval: interval)
    }
}

/// What threads of the daemon do now that might hang, and when each piece of it has last taken a step.
///
/// The watchdog is fed from this. Each piece counts for itself, so that one picture that hangs is not hidden by others
/// that move.
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

        /// A band has been filtered.
        package func step(now: UInt64 = Clock.nanoseconds) {
            lastStep.store(now, ordering: .relaxed)
        }
    }

    /// How long a thread is still before it is looked at what it waits for, in seconds.
    private static let notable = 1.0

    private let beats = Mutex<[ObjectIdentifier: Beat]>([:])

    package init() {}

    /// Runs `body`, which tells the beat of its steps.
    package func during<Outcome>(
        _ work: WatchedWork, _ patience: Patience, now: UInt64 = Clock.nanoseconds,
        _ body: (Beat) throws -> Outcome
    ) rethrows -> Outcome {
        let beat = Beat(work, patience, now: now)
        beats.withLock { $0[ObjectIdentifier(beat)] = beat }
        defer { _ = beats.withLock { $0.removeValue(forKey: ObjectIdentifier(beat)) } }
        return try body(beat)
    }

    /// What runs, and for how long it has been still.
    package func still(now: UInt64) -> [StillWork] {
        let beats = beats.withLock { Array($0.values) }
        return beats.map { beat in
            // Another thread may have stepped after `now` was taken.
            let last = min(beat.lastStep.load(ordering: .relaxed), now)
            let seconds = Double(now - last) / 1e9
            let waits = seconds >= Self.notable && beat.thread.waitsForDisk
            return StillWork(
                work: beat.work, patience: waits ? .files : beat.patience, seconds: seconds)
        }
    }
}
