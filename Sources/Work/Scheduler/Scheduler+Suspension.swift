import DarkroomCore
import DarkroomFetch
import Dispatch

extension Scheduler {
    /// Lets no new work begin. Running work continues to its end.
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
        deliveries.tryAgain()
        originals.tryAgain()
        queues.setSuspended(false)
        advance { _ in }
    }

    /// Lets no new work begin until the end.
    package func close() {
        queues.setSuspended(true)
        gate.stop()
        stopped.set()
        storage.stop()
    }

    /// How long a stop finishes batches that have ended, in seconds. There may be thousands of them. Batches that are
    /// not finished get their answers after the next start.
    private static let finishing = 3.0

    /// Waits for running work for at most `seconds`, and then ends it at its next step. Transfers that no server has
    /// begun to answer end at once. Returns when all results have been written.
    ///
    /// - Parameter expired: called if the time was not sufficient, before any work is interrupted.
    package func stop(within seconds: Double, progress: () -> Void, expired: () -> Void = {}) {
        let deadline = DispatchTime.now() + seconds
        committer.close(
            finishingUntil: time.now + UInt64(clamping: min(seconds, Self.finishing) * 1e9))
        statusKeeper.close()
        deliveries.stop()
        originals.stop()
        engine.cancelUnanswered()
        while running.wait(timeout: min(deadline, .now() + 1)) == .timedOut {
            progress()
            // A transfer may have been about to begin when the queue was closed.
            engine.cancelUnanswered()
            if DispatchTime.now() >= deadline {
                if !gate.isAborting { expired() }
                abort()
                break
            }
        }
        _ = running.wait(timeout: .now() + 5)
        statusKeeper.queue.sync {}
        committer.drain()
        leaveStatuses()
    }

    /// Ends running work at its next step. It is repeated after the next start.
    package func abort() {
        gate.abort()
        queues.cancelRunning()
    }
}
