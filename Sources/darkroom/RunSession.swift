import DarkroomClient
import DarkroomCore
import DarkroomRun
import DarkroomSpool
import Glibc

/// Shows the progress of a run until its end, and says how it has ended.
struct RunSession {
    /// The number of failed images that are shown.
    private static let shortList = 10
    /// The seconds before the first look at the progress.
    private static let patience = 0.2

    private let work: FolderRun
    private let command: RunCommand

    init(_ work: FolderRun, _ command: RunCommand) {
        self.work = work
        self.command = command
    }

    /// Returns the exit code.
    func run() throws -> ClientExit {
        let ending: FolderRun.Ending
        do {
            ending = try work.run(watch: watch)
        } catch {
            throw ClientError(error)
        }
        switch ending {
        case .finished(let status): return try tell(status, isUnchanged: false)
        case .unchanged(let status): return try tell(status, isUnchanged: true)
        case .stopped(let signal):
            try tellStop("stopped by \(Self.name(of: signal))", .tryAgain)
            return .tryAgain
        case .failed(let error):
            let error = ClientError(error)
            try tellStop(error.message, error.exit)
            return error.exit
        }
    }

    private func watch(_ wait: (Double) -> Bool) {
        let mode = command.quiet ? ProgressMode.none : command.progress.mode
        var terminal = command.color.errors
        let view = ProgressView(mode, on: terminal) { text in
            try? Console.write(text, to: STDERR_FILENO)
        }
        let daemon = DaemonState(name: .running)
        func show() -> Double? {
            guard let progress = work.progress, !progress.state.isFinal else { return nil }
            let present = command.color.errors
            if (present.width, present.height) != (terminal.width, terminal.height) {
                terminal = present
                view.resize(to: present)
            }
            return view.show([progress], daemon, at: Double(Clock.nanoseconds) / 1e9)
        }
        var next = Self.patience
        while !wait(next) { next = min(0.5, max(0.05, show() ?? 0.5)) }
        view.erase()
    }

    // MARK: The end

    private func tell(_ status: Status, isUnchanged: Bool) throws -> ClientExit {
        let exit = ClientExit(of: status.state)
        tellFailures(of: status, isUnchanged: isUnchanged)
        if command.json {
            try Console.json(
                Report(
                    id: status.id, folder: work.path, state: status.state, counts: status.counts,
                    isUnchanged: isUnchanged, exit: exit.rawValue))
        } else if !command.quiet {
            let result = BatchProgress(olderAnswer: status).result
            try Console.line(isUnchanged ? "\(result); nothing to do" : result)
        }
        return exit
    }

    private func tellFailures(of status: Status, isUnchanged: Bool) {
        let failed = status.images.filter { $0.state == .failed }
        guard !failed.isEmpty else { return }
        for image in failed.prefix(Self.shortList) {
            let reason =
                image.error.map { "\($0.message) [\($0.code)]" } ?? "no reason is known"
            Console.complain("\(image.name): \(reason)")
        }
        if failed.count > Self.shortList {
            Console.complain(
                "\(failed.count - Self.shortList) more images failed; \(work.path)/status.json has all reasons."
            )
        }
        Console.complain("The same command with --retry repeats the failed images.")
    }

    private func tellStop(_ reason: String, _ exit: ClientExit) throws {
        let progress = work.progress
        let counts = progress?.counts ?? Status.Counts()
        Console.complain(
            "\(reason); \(counts.finished) of \(Words.count(counts.total, "image")) done")
        Console.complain("The same command continues.")
        guard command.json else { return }
        try Console.json(
            Report(
                id: work.id, folder: work.path, state: progress?.state ?? .pending, counts: counts,
                isUnchanged: false, exit: exit.rawValue))
    }

    private static func name(of signal: CInt) -> String {
        switch signal {
        case SIGINT: "SIGINT"
        case SIGTERM: "SIGTERM"
        case SIGHUP: "SIGHUP"
        case SIGUSR1: "SIGUSR1"
        default: "signal \(signal)"
        }
    }

    /// `--json`.
    private struct Report: Encodable {
        let type = "run"
        let id: String
        let folder: String
        let state: BatchState
        let counts: Status.Counts
        /// Whether there was nothing to do.
        let isUnchanged: Bool
        let exit: Int32

        private enum CodingKeys: String, CodingKey {
            case type, id, folder, state, counts, exit
            case isUnchanged = "unchanged"
        }
    }
}
