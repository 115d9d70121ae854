import DarkroomAnswer
import DarkroomBoard
import DarkroomCore
import DarkroomSpool
import DarkroomWork

/// The line that `systemctl status` shows: what the daemon does, and what prevents it from doing more.
struct StatusLine {
    var summary = Board.Summary()
    var isPaused = false
    var isStopping = false
    var running = 0
    /// Images that have finished but are not in the outbox yet.
    var publishing = 0
    /// Why the spool does not accept writes; nil if it does.
    var storage: StorageGuard.Report?
    /// Hosts that have asked for a pause.
    var hostsPaused = 0
    /// Batches of a previous daemon that have not been read yet, and their number at the start.
    var recovery: (left: Int, total: Int)?
    /// Files in the inbox that stay there until somebody acts.
    var inbox = InboxBacklog()
    /// What is to be said about hot folders.
    var folders: [String] = []
    /// The work that has made no progress for the longest time.
    var still: StillWork?
    /// Whether the last reload refused a changed configuration.
    var isReloadRefused = false

    /// After this time without progress, in seconds, work is mentioned.
    private static let notable = 15.0

    var text: String { ([main] + details).joined(separator: "; ") }

    private var main: String {
        if isStopping {
            let written =
                publishing > 0 ? ", \(Words.count(publishing, "image")) to be published" : ""
            return "Stopping: \(Words.count(running, "operation")) finishing\(written)"
        }
        if let storage {
            let pause = isPaused ? "Paused, and waiting" : "Waiting"
            let next =
                storage.secondsBetweenAttempts.map { "next attempt in \($0) s" }
                ?? "next attempt after darkroom resume or a restart"
            return "\(pause): \(storage.message); \(next)"
        }
        let begun = summary.batchesInWork + summary.batchesWaiting
        if isPaused {
            let finishing = running > 0 ? ", \(Words.count(running, "image")) still finishing" : ""
            return "Paused: \(Words.count(begun, "batch", "batches")) waiting\(finishing)"
        }
        if begun == 0 {
            if let recovery { return resuming(recovery) }
            let ended = Words.count(summary.batchesEnded, "batch", "batches")
            return "Idle; \(ended) finished since the start"
        }
        return "Processing \(Words.count(summary.batchesInWork, "batch", "batches")), "
            + "\(summary.images.finished) of \(Words.count(summary.images.total, "image"))"
    }

    private var details: [String] {
        var details: [String] = []
        let begun = summary.batchesInWork + summary.batchesWaiting
        if isStopping {
            if summary.unfinished > 0 {
                details.append(
                    "\(Words.count(summary.unfinished, "unfinished batch", "unfinished batches")) "
                        + "for the next start")
            }
        } else if storage != nil {
            details.append("\(Words.count(summary.unfinished, "batch", "batches")) unfinished")
        } else {
            if !isPaused, summary.batchesWaiting > 0 {
                details.append("\(summary.batchesWaiting) waiting")
            }
            if summary.batchesHeld > 0 { details.append("\(summary.batchesHeld) held") }
            if let recovery, isPaused || begun > 0 { details.append(resuming(recovery)) }
            if summary.retrying > 0 {
                details.append("\(Words.count(summary.retrying, "download")) to be retried")
            }
            if hostsPaused > 0 { details.append("\(Words.count(hostsPaused, "host")) paused") }
        }
        if !isStopping { details += inbox.details + folders }
        if let still, still.seconds >= Self.notable {
            details.append(
                "\(still.work.text) has made no progress for \(Int(clamping: still.seconds)) s")
        }
        if isReloadRefused {
            details.append("the changed configuration was refused, the old one is in use")
        }
        return details
    }

    private func resuming(_ recovery: (left: Int, total: Int)) -> String {
        "Resuming: \(recovery.total - recovery.left) of "
            + "\(Words.count(recovery.total, "unfinished batch", "unfinished batches")) read"
    }
}

extension Board.Summary {
    var unfinished: Int { batchesInWork + batchesWaiting + batchesHeld }
}
