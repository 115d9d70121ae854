import DarkroomAnswer
import DarkroomClient
import DarkroomCore
import Glibc

/// Shows the progress of batches until all of them have ended: for `watch`, and for `submit --watch`.
struct WatchSession {
    private let watcher: BatchWatcher
    private let view: ProgressView
    private let ids: [String]
    private let stream: CInt
    private let color: ColorChoice
    private var hasEnded: [Bool]
    /// Where a line tells how each batch has ended; nil for nowhere.
    var results: CInt?

    /// - Throws: `no-such-batch` if one of them does not exist.
    init(
        _ ids: [String], in spool: SpoolFolder, progress: ProgressMode,
        stream: CInt = STDERR_FILENO, color: ColorChoice = .auto
    ) throws(ClientError) {
        self.ids = ids
        self.stream = stream
        self.color = color
        watcher = try BatchWatcher(ids, in: spool)
        view = ProgressView(progress, on: Terminal(stream, color: color)) { text in
            try? Console.write(text, to: stream)
        }
        hasEnded = Array(repeating: false, count: ids.count)
        // From now on signals set a flag, which `run` sees.
        StopSignals.begin()
        Interruption.end()
    }

    /// Returns the batches as they have ended, in the order of the IDs.
    ///
    /// - Throws: `interrupted` after a signal.
    mutating func run() throws(ClientError) -> [BatchProgress] {
        defer { view.erase() }
        while true {
            try watcher.look()
            try printResults()
            let next = view.show(
                watcher.batches, watcher.daemon, at: Double(Clock.nanoseconds) / 1e9)
            if watcher.allHaveEnded { return watcher.batches }
            switch watcher.wait(atMost: next ?? 0.5) {
            case .timeOrChange: break
            case .resized: view.resize(to: Terminal(stream, color: color))
            case .interrupted: throw leave()
            }
        }
    }

    private func leave() -> ClientError {
        view.erase()
        let unfinished = zip(ids, watcher.batches).filter { !$1.state.isFinal }.map(\.0)
        let subject = unfinished.count == 1 ? "The batch goes on" : "The batches go on"
        let named = unfinished.count <= 5 ? unfinished.map { " " + $0.shellQuoted }.joined() : ""
        let isAttended = watcher.daemon.isPresent
        return ClientError(
            .interrupted, code: "interrupted",
            "\(isAttended ? subject : "No daemon is running"). To watch again: darkroom watch\(named)"
        )
    }

    private mutating func printResults() throws(ClientError) {
        guard let results else { return }
        for (place, batch) in watcher.batches.enumerated()
        where batch.state.isFinal && !hasEnded[place] {
            hasEnded[place] = true
            view.erase()
            let lines = batch.result.wrapped(to: Terminal(results).width, indent: 2)
            try Console.write(lines.joined(separator: "\n") + "\n", to: results)
        }
    }

    var states: [BatchState] { watcher.batches.map(\.state) }

    static func summary(_ states: [BatchState], exit: ClientExit) -> String {
        JSONText.line([
            "type": "summary", "batches": states.count,
            "states": Dictionary(grouping: states, by: \.rawValue).mapValues(\.count),
            "exit": exit.rawValue,
        ])
    }
}
