import DarkroomAnswer
import DarkroomCore
import DarkroomManifest

extension BatchProgress {
    /// Why the batch is as it is, or why nothing happens, as one short sentence without its full stop; nil if there is
    /// nothing to say.
    ///
    /// - Parameter problem: the first problem of a rejected manifest.
    package func reason(_ daemon: DaemonState, problem: ManifestProblem? = nil) -> String? {
        switch state {
        case .completed, .completedWithErrors: return nil
        case .rejected: return problem.map(\.sentence)
        case .cancelled: return last(.cancel).map { "cancelled by \($0)" }
        case .pending, .processing, .held: break
        }
        if !daemon.isPresent { return daemon.obstacle }
        if state == .held { return last(.hold).map { "held by \($0)" } ?? "held" }
        if let waiting { return waiting.message.visible }
        if let obstacle = daemon.obstacle { return obstacle }
        guard state == .pending else { return nil }
        // A run has one batch, which waits for no other.
        return daemon.isOfRun ? "is being prepared" : "waits for its turn"
    }

    /// The user who gave this command last.
    private func last(_ command: ControlCommand) -> String? {
        commands?.last { $0.command == command }.map { HumanText.user($0.uid) }
    }
}

extension ManifestProblem {
    /// The problem with its place: `line 3, column 5, images[3].name: MESSAGE`.
    package var sentence: String {
        let places = [
            line.map { "line \($0)" }, column.map { "column \($0)" },
            path.isEmpty ? nil : path.visible,
        ]
        let place = places.compactMap(\.self).joined(separator: ", ")
        return (place.isEmpty ? "" : "\(place): ") + message.visible
    }
}

extension BatchState {
    package var style: TextStyle? {
        switch self {
        case .pending: .dim
        case .processing: .cyan
        case .completed: .green
        case .held, .completedWithErrors, .cancelled: .yellow
        case .rejected: .red
        }
    }

    /// The state where its word has no room; nil if it is short.
    var shortWord: String? { self == .completedWithErrors ? "withErrors" : nil }
}

extension BatchProgress {
    /// How the finished batch has ended, in one line.
    package var result: String {
        let took = BatchDuration(times, commands).map { " in \($0.words)" }
        let outcome: [String?] =
            switch state {
            case .completed:
                ["\(Words.count(counts.total, "image"))\(took ?? "")", counts.warningText]
            case .rejected: ["darkroom show \(id.shellQuoted) lists its errors"]
            default:
                [
                    "\(counts.filtered) of \(Words.count(counts.total, "image")) done",
                    counts.warningText,
                    counts.failed > 0 ? "\(counts.failed) failed" : nil,
                    counts.cancelled > 0 ? "\(counts.cancelled) cancelled" : nil,
                ]
            }
        let words = outcome.compactMap(\.self).joined(separator: ", ")
        return "\(id.visible): \(state.words), \(words)"
    }
}
