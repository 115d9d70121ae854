import DarkroomAnswer
import DarkroomClient
import DarkroomCore
import DarkroomPicture
import DarkroomRun
import Glibc

/// Shows the progress of a run until its end, and says how it has ended.
struct RunSession {
    /// The seconds before the first look at the progress.
    private static let patience = 0.2

    let work: FolderRun
    let command: RunCommand
    let page: ResultPage?

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
            let name = signal.signalName
            try tellStop(
                ClientError(.tryAgain, code: "stopped", "stopped by \(name)"), isTransient: true)
            return .tryAgain
        case .failed(let failure):
            let error = ClientError(failure)
            try tellStop(error, isTransient: failure.isTransient)
            return error.exit
        }
    }

    private var progress: ProgressMode { command.quiet ? .none : command.progress.mode }

    private func watch(_ wait: (Double) -> Bool) {
        let mode = progress
        var terminal = command.color.errors
        let view = ProgressView(mode, on: terminal) { text in
            try? Console.write(text, to: STDERR_FILENO)
        }
        let daemon = DaemonState(ofRun: true)
        var tellsOfStop = mode != .none
        func show() -> Double? {
            if tellsOfStop, let signal = work.stoppingSignal {
                tellsOfStop = false
                view.erase()
                Console.complain(
                    "\(signal.signalName): finishes the pictures in work; a second one ends at once"
                )
            }
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
        var exit = ClientExit(of: status.state)
        // What was asked for is not there.
        if exit == .success, let changes = work.changes, changes.outdated > 0 {
            exit = .completedWithErrors
        }
        tellFailures(of: status, isUnchanged: isUnchanged)
        if !command.quiet { tellGone() }
        let page = makePage()
        if command.json {
            try Console.json(
                JSONObject(
                    [
                        "unchanged": isUnchanged, "exit": exit.rawValue, "page": page,
                        "changes": work.changes.map(Self.report),
                    ],
                    with: report(status.id, status.state, status.counts)))
        } else if !command.quiet {
            let shard = work.shard.map { "\($0): " } ?? ""
            try Console.sentence(
                shard + result(of: status, isUnchanged: isUnchanged), keeping: [status.id.visible])
            if let page { try Console.line(page) }
        }
        return exit
    }

    /// The run has ended, so that a signal has nothing to finish any more.
    private func makePage() -> String? {
        guard let page else { return nil }
        let stop = EarlyStop { signal, _ in
            Console.complain(
                "stopped by \(signal.signalName) before the page was made. The same command makes it."
            )
        }
        defer { stop.end() }
        return page.make(of: work.answerPath, progress: progress)
    }

    private func result(of status: Status, isUnchanged: Bool) -> String {
        var progress = BatchProgress(toldBy: status)
        let removed =
            work.changes.flatMap { $0.removed > 0 ? $0.removed : nil }
            .map { ", \(Words.count($0, "output")) removed" } ?? ""
        if isUnchanged { return "\(progress.result); nothing to do\(removed)" }
        let before = work.before.finished
        guard before > 0 || work.changes != nil else { return progress.result }
        // The time would include what was between the runs.
        progress.times.finished = nil
        let now = status.counts.finished - before
        let halves = "\(Words.count(now, "image")) now, \(before) before"
        guard let changes = work.changes else { return "\(progress.result); \(halves)\(removed)" }
        guard work.hasLookedBack else {
            return "\(progress.result); \(Self.shares(changes, status.counts))\(removed)"
        }
        let again = changes.made > 0 ? ", \(changes.made) of them made again" : ""
        return "\(progress.result); \(halves)\(again)\(removed)"
    }

    private static func shares(_ changes: RunChanges, _ counts: Status.Counts) -> String {
        // Those that have failed now.
        let failed = max(0, counts.failed - changes.failed)
        return
            "\(max(0, changes.made - failed)) made, \(changes.kept) as \(changes.kept == 1 ? "it was" : "they were")"
    }

    /// `--json`: what has changed since the former run.
    private static func report(_ changes: RunChanges) -> JSONObject {
        [
            "made": changes.made, "kept": changes.kept, "failed": changes.failed,
            "outdated": changes.outdated, "reasons": changes.reasonCounts,
            "sourcesGone": changes.alone[.gone] ?? [],
            "sourcesUnreadable": changes.alone[.unreadable] ?? [],
            "sourcesUnknown": changes.alone[.unasked] ?? [],
            "neededGone": changes.alone[.needed] ?? [], "keepsAll": changes.keepsAll,
            "stale": changes.stale, "away": changes.away, "withoutImage": changes.gone,
            "removed": changes.removed,
        ]
    }

    private func tellGone() {
        guard let changes = work.changes else { return }
        for reason in StandReason.allCases {
            guard let names = changes.alone[reason], !names.isEmpty else { continue }
            Console.complain("\(Self.words(reason, names.count)): \(ShortList.text(names))")
        }
        if changes.outdated > 0 {
            Console.complain(
                "\(Words.count(changes.outdated, "result")) of them \(changes.outdated == 1 ? "is" : "are") as the former filters and options have made \(changes.outdated == 1 ? "it" : "them"). The same command tries again."
            )
        }
        if changes.keepsAll {
            Console.complain(
                "--prune has left their results, because all sources are gone: is a file system not mounted?"
            )
        }
        ShortList.tellOfFormer(stale: changes.stale, away: changes.away, gone: changes.gone)
        if work.shard == nil, !command.arguments.prune,
            changes.alone[.gone] != nil || !changes.gone.isEmpty
        {
            Console.complain("The same command with --prune removes them.")
        }
    }

    /// What is said of images that stand alone.
    private static func words(_ reason: StandReason, _ count: Int) -> String {
        let sources = Words.count(count, "source")
        return switch reason {
        case .gone: "\(sources) \(count == 1 ? "is" : "are") gone, and the results stand"
        case .unreadable: "\(sources) cannot be read, and the results stand"
        case .unasked:
            "\(sources) could not be compared, because the server did not say whether they have changed, and the results stand"
        case .needed:
            "\(Words.count(count, "image")) cannot be made again, because another one cannot, and the results stand"
        }
    }

    private func tellFailures(of status: Status, isUnchanged: Bool) {
        let failed = status.images.filter { $0.state == .failed }
        guard !failed.isEmpty else { return }
        if isUnchanged {
            Console.complain("\(Words.count(failed.count, "image")) failed in an earlier run:")
        }
        for image in failed.prefix(ShortList.length) {
            let reason = image.error.map { "\($0.message) [\($0.code)]" } ?? "no reason is known"
            Console.complain("\(image.name): \(reason)")
        }
        if failed.count > ShortList.length {
            Console.complain(
                "\(Words.count(failed.count - ShortList.length, "more image")) failed; \(FileName(work.answerPath).text)/status.json has all reasons."
            )
        }
        Console.complain(Self.remedy(of: failed.map(\.error)))
    }

    private static func remedy(of errors: [Failure?]) -> String {
        let again = "he same command with --retry repeats the failed images."
        let blocked = errors.count { $0?.code == FileError.Code.fileExists.rawValue }
        if blocked > 0 {
            let files = blocked == 1 ? "that file" : "those \(blocked) files"
            return
                "First move \(files) away, or give the results other names if another image has it. Then t\(again)"
        }
        // Another option makes the images again by itself.
        if errors.allSatisfy({ $0?.code == PictureError.Code.tooManyBytes.rawValue }) {
            return "Allow more bytes, or make the pictures smaller."
        }
        // If every cause is in the pictures, a retry alone does not help.
        return errors.contains { $0?.isTransient ?? true }
            ? "T\(again)" : "First correct the cause. Then t\(again)"
    }

    /// - Parameter isTransient: whether the same command may succeed although nobody has changed anything.
    private func tellStop(_ error: ClientError, isTransient: Bool) throws {
        let counts = work.counts
        Console.complain(
            "\(work.shard.map { "\($0): " } ?? "")\(error.message); \(counts.finished) of \(Words.count(counts.total, "image")) done"
        )
        Console.complain("\(error.remedy.map { "\($0) Then t" } ?? "T")he same command continues.")
        guard command.json else { return }
        let cause: JSONObject = [
            "code": error.code, "message": error.message, "retryable": isTransient,
        ]
        try Console.json(
            JSONObject(
                ["unchanged": false, "exit": error.exit.rawValue, "error": cause],
                with: report(work.id, work.batchState, counts)))
    }

    /// `--json`: what is known of each run.
    private func report(_ id: String, _ state: BatchState, _ counts: Status.Counts) -> JSONObject {
        [
            "type": "run", "id": id, "folder": work.path,
            "shard": work.shard.map { Status.Shards(count: $0.count, number: $0.number) },
            "state": state, "counts": counts,
        ]
    }
}
