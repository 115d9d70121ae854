import DarkroomCore
import DarkroomFetch
import Dispatch

/// Suspending, resuming and stopping.
extension Scheduler {
    /// Lets nothing new begin; what runs goes on to its end.
    package func suspend() {
        gate.setSuspended(true)
        queues.setSuspended(true)
        suspensionChanged()
    }

    package func resume() {
        gate.setSuspended(false)
        guard !gate.isStopping else { return }
        suspensionChanged()
        storage.tryAgain()
        queues.setSuspended(false)
        advance { _ in [] }
    }

    /// Lets nothing new begin until the end.
    package func close() {
        queues.setSuspended(true)
        gate.stop()
        stopped.set()
        storage.stop()
    }

    /// How long a stop finishes batches that have ended, in seconds. There may be thousands, and their answers come after
    /// the next start too.
    private static let finishing = 3.0

    /// Waits for what runs, up to `seconds`, and then has it end at its next step; transfers that no server has begun to
    /// answer end at once. Returns when all that has ended is written down.
    ///
    /// - Parameter expired: called where that time was not enough, before anything is broken off.
    package func stop(
        within seconds: Double, progress: () -> Void, expired: () -> Void = {}
    ) {
        let deadline = DispatchTime.now() + seconds
        publisher.leaveKept()
        statusKeeper.close(
            finishingUntil: time.now + UInt64(clamping: min(seconds, Self.finishing) * 1e9)
        )
        engine.cancelUnanswered()
        while running.wait(timeout: min(deadline, .now() + 1)) == .timedOut {
            progress()
            // One that was about to begin when the queue was closed.
            engine.cancelUnanswered()
            if DispatchTime.now() >= deadline {
                if !gate.isAborting { expired() }
                abort()
                break
            }
        }
        _ = running.wait(timeout: .now() + 5)
        publisher.drain()
        leaveStatuses()
    }

    /// Ends what runs at its next step; it is done again after the next start.
    package func abort() {
        gate.abort()
        queues.cancelRunning()
    }
}
