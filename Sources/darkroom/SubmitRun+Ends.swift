import DarkroomAnswer
import DarkroomClient
import DarkroomCore
import DarkroomSpool
import Glibc

/// The wait until the submitted batches have ended: for `--wait` silently, for `--watch` with their progress.
extension SubmitRun {
    func waitForEnds(of ids: [String]) throws(ClientError) -> ClientExit {
        guard !ids.isEmpty else { return .success }
        return command.watch ? try watch(ids) : try waitSilently(ids)
    }

    /// Standard output has the IDs alone, so the results go to standard error with the progress.
    private func watch(_ ids: [String]) throws(ClientError) -> ClientExit {
        var session = try WatchSession(
            ids, in: folder, progress: command.progress.mode, color: command.color.color)
        session.results = command.json ? nil : STDERR_FILENO
        let batches = try session.run()
        if command.json {
            for batch in batches { try Console.json(.ended(batch.id, batch.state, batch.counts)) }
        }
        return ClientExit(ofWorst: batches.map(\.state))
    }

    /// What an interruption of the silent wait says; that of `--watch` has its own words.
    func adviseToWait(for ids: [String]) {
        guard command.wait, !command.watch else { return }
        let names = ids.map(\.shellQuoted).joined(separator: " ")
        Interruption.advise(
            "The work goes on without this command. To wait again: darkroom wait \(names)")
    }

    private func waitSilently(_ ids: [String]) throws(ClientError) -> ClientExit {
        var worst = ClientExit.success
        for id in ids {
            guard let batch = try BatchWait.end(of: id, in: folder) else { continue }
            if command.json {
                try Console.json(.ended(id, batch.state, batch.counts))
            } else if let words = Self.words(id, batch) {
                Console.complain(words)
            }
            worst = .worst(worst, ClientExit(of: batch.state))
        }
        return worst
    }

    /// How it ended, in a sentence; nil if there is nothing to say.
    private static func words(_ id: String, _ batch: BatchView.Batch) -> String? {
        let counts = batch.counts
        let warnings = counts.warningText
        if batch.state == .completed {
            return warnings.map {
                "\(id) has ended: \($0). darkroom show \(id) --warnings lists them."
            }
        }
        let what =
            switch batch.state {
            case .cancelled: "was cancelled"
            case .rejected: "was rejected"
            default:
                "has ended: \(counts.failed) of \(Words.count(counts.total, "image")) failed"
                    + (warnings.map { ", \($0)" } ?? "")
            }
        return "\(id) \(what). darkroom show \(id) tells more."
    }
}
