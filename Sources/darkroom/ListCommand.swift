import ArgumentParser
import DarkroomAnswer
import DarkroomClient
import DarkroomCore
import Foundation

struct ListCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List batches, one in each line.",
        usage: "darkroom list [<options>]",
        discussion: """
            Without an option, only unfinished batches are listed. REASON says why nothing happens.

            Examples:
              darkroom list
              darkroom list --all --since 1d
              darkroom list --state completedWithErrors,rejected
              darkroom list --json | jq -r 'select(.type == "batch").id'

            Exit status: 0 success, 64 the command line is wrong, 66 there is no spool, 74 a batch cannot be read, 77 no \
            permission.
            """)

    @OptionGroup var spool: SpoolOptions
    @OptionGroup var color: ColorOptions

    @Flag(name: .shortAndLong, help: "List finished batches too.")
    var all = false

    @Option(
        help: ArgumentHelp(
            "List only batches in these states, separated by commas: \(Words.list(BatchState.allCases.map(\.rawValue), "or")).",
            valueName: "state"),
        completion: .list(BatchState.allCases.map(\.rawValue)),
        transform: StateList.init(argument:))
    var state: [StateList] = []

    @Option(
        help: ArgumentHelp(
            "List unfinished batches, and those that ended after this time: \(SinceTime.forms).",
            valueName: "time"),
        transform: SinceTime.init(argument:))
    var since: SinceTime?

    @Flag(help: "Print JSON Lines: one object for each batch, then a summary.")
    var json = false

    func run() throws {
        let selection = BatchList.Selection(
            all: all, states: Set(state.flatMap(\.states)), since: since?.date)
        let list = try BatchList(of: spool.open(), selection)
        let terminal = color.output
        try Console.lines(json ? list.jsonLines : list.lines(on: terminal))
        if list.rows.isEmpty, list.errors.isEmpty, !json {
            Console.complain(
                !state.isEmpty || since != nil
                    ? "There is no such batch."
                    : all
                        ? "The spool has no batch."
                        : "No batch is unfinished. --all lists the others.")
        }
        guard let error = list.errors.first else { return }
        Console.complain(
            "\(Words.count(list.errors.count, "batch", "batches")) cannot be read: \(error.message)"
        )
        throw error.exit
    }
}

/// A value of `--state`: `completedWithErrors,rejected`.
struct StateList {
    /// What people write for a state.
    private static let synonyms: [String: BatchState] = [
        "failed": .completedWithErrors, "done": .completed, "running": .processing,
        "waiting": .pending, "canceled": .cancelled,
        "witherrors": .completedWithErrors,
    ]

    let states: [BatchState]

    init(argument: String) throws {
        states = try argument.split(separator: ",", omittingEmptySubsequences: false).map { word in
            let all = BatchState.allCases
            if let state = all.first(where: { $0.rawValue.lowercased() == word.lowercased() }) {
                return state
            }
            let word = String(word)
            let meant =
                Self.synonyms[word.lowercased()]?.rawValue
                ?? Suggestion.nearest(to: word, among: all.map(\.rawValue))
            throw ValidationError(
                "there is no state ‘\(FileName(word).text)’"
                    + (meant.map { "; did you mean ‘\($0)’?" }
                        ?? ". The states are \(Words.list(all.map(\.rawValue), "and"))."))
        }
    }
}

/// The value of `--since`, such as `7d` or `2026-11-21`.
struct SinceTime {
    /// What is accepted, in words.
    static let forms =
        "a date (2026-11-21, with or without a time), today, yesterday, or how long ago (90min, 12h, 7d)"

    let date: Date

    init(argument: String) throws {
        guard let date = TimeArgument.date(argument) else {
            throw ValidationError("write \(Self.forms)")
        }
        self.date = date
    }
}
