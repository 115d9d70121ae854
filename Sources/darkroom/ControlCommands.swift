import ArgumentParser
import DarkroomAnswer
import DarkroomClient
import DarkroomCore
import DarkroomManifest
import DarkroomSpool

/// A subcommand that gives a command to batches; `ControlCommand` has the table of them.
protocol ControlSubcommand: ParsableCommand {
    static var command: ControlCommand { get }
    var ids: [String] { get }
    var options: ControlOptions { get }
    /// `--wait`, for commands after which a batch has an end to wait for.
    var waits: Bool { get }
}

/// A control command with `--wait`.
protocol WaitingControlSubcommand: ControlSubcommand {
    var waiting: WaitOption { get }
}

extension WaitingControlSubcommand {
    var waits: Bool { waiting.wait }
}

extension ControlSubcommand {
    static var configuration: CommandConfiguration {
        let form = command.form
        let verb = command.rawValue
        let canWait = Self.self is any WaitingControlSubcommand.Type
        // For cancel, this end is the success.
        let ends = command == .cancel ? "" : ", 4 cancelled"
        return CommandConfiguration(
            commandName: verb,
            abstract: form.summary,
            discussion: """
                \(form.remark.map { $0 + " " } ?? "")Prints what became of each batch. You may do this to batches of \
                your own; root and the owner of the spool may do it to all.

                Examples:
                  darkroom \(verb) holiday
                  darkroom \(verb)\(canWait ? " --wait" : "") holiday beach

                Exit status: 0 done, or so already, 1 it can have no effect, 64 the command line is wrong, 66 no such batch, 69 \
                no daemon is running, 75 no name is free in the inbox, 77 no permission.\(canWait ? " With --wait also 3 completed with errors\(ends)." : "")
                """)
    }

    func run() throws {
        try ControlRun(
            command: Self.command, ids: ids, json: options.json, waits: waits,
            folder: options.spool.open()
        ).run()
    }
}

struct CancelCommand: WaitingControlSubcommand {
    static let command = ControlCommand.cancel
    @Argument(help: ControlOptions.ids, completion: SpoolCompletion.unfinished)
    var ids: [String]
    @OptionGroup var options: ControlOptions
    @OptionGroup var waiting: WaitOption
}

struct HoldCommand: WaitingControlSubcommand {
    static let command = ControlCommand.hold
    @Argument(help: ControlOptions.ids, completion: SpoolCompletion.unfinished)
    var ids: [String]
    @OptionGroup var options: ControlOptions
    @OptionGroup var waiting: WaitOption
}

struct ReleaseCommand: WaitingControlSubcommand {
    static let command = ControlCommand.release
    @Argument(help: ControlOptions.ids, completion: SpoolCompletion.unfinished)
    var ids: [String]
    @OptionGroup var options: ControlOptions
    @OptionGroup var waiting: WaitOption
}

struct RetryCommand: WaitingControlSubcommand {
    static let command = ControlCommand.retry
    @Argument(help: ControlOptions.ids, completion: SpoolCompletion.finished)
    var ids: [String]
    @OptionGroup var options: ControlOptions
    @OptionGroup var waiting: WaitOption
}

struct RemoveCommand: ControlSubcommand {
    static let command = ControlCommand.remove
    @Argument(help: ControlOptions.ids, completion: SpoolCompletion.finished)
    var ids: [String]
    @OptionGroup var options: ControlOptions
    var waits: Bool { false }
}

struct ControlOptions: ParsableArguments {
    static let ids = ArgumentHelp("IDs of batches.", valueName: "id")

    @Flag(help: "Print JSON Lines: one object for each batch, then a summary.")
    var json = false

    @OptionGroup var spool: SpoolOptions
}

struct WaitOption: ParsableArguments {
    @Flag(
        help:
            "Wait until the batch has ended; after a hold, until none of its images is in work.")
    var wait = false
}

/// Gives one command to several batches and says what became of it.
struct ControlRun {
    let command: ControlCommand
    let ids: [String]
    let json: Bool
    let waits: Bool
    let folder: SpoolFolder

    private enum Effect: String, Encodable { case done, already, none, refused }

    func run() throws {
        let queue = try folder.queue()
        try folder.requireDaemon(queue, remedy: "Nothing has changed.")
        Interruption.advise(
            "Commands that were given take effect without this command; darkroom list shows the batches."
        )
        var worst = ClientExit.success
        // All are given before the first is waited for.
        var orders: [(id: String, order: ControlOrder)] = []
        for id in ids {
            do {
                orders.append((id, try ControlOrder(command, id, in: folder, queue: queue)))
            } catch {
                worst = .worst(worst, try refuse(id, error))
            }
        }
        for (id, order) in orders {
            do {
                worst = .worst(worst, try finish(order))
            } catch {
                worst = .worst(worst, try refuse(id, error))
            }
        }
        try Console.conclude(worst, json: json ? ["batches": ids.count] : nil)
    }

    /// A line of `--json`: what became of one batch.
    private func report(
        _ id: String, _ effect: Effect, _ message: String, _ state: BatchState? = nil
    ) throws(ClientError) {
        try Console.json([
            "type": "control", "command": command, "id": id, "effect": effect, "message": message,
            "state": state,
        ])
    }

    private func refuse(_ id: String, _ error: ClientError) throws(ClientError) -> ClientExit {
        if json {
            try report(id, .refused, error.message)
        } else {
            Console.complain(error)
        }
        return error.exit
    }

    private func finish(_ order: ControlOrder) throws(ClientError) -> ClientExit {
        let patience = Patience(folder, order.name)
        let outcome = try BatchWait.until(
            nil, watching: [try folder.inbox(), try folder.outbox()]
        ) { () throws(ClientError) -> ControlOrder.Outcome? in
            patience.remind()
            return try order.outcome()
        }
        switch outcome {
        case .done(let id):
            return try tell(id, .done, "\(id) \(command.form.words)")
        case .already(let id, let words):
            return try tell(id, .already, "\(id) \(words)")
        case .noEffect(let id, let words):
            if json {
                try report(id, .none, "\(id) \(words)")
            } else {
                Console.complain("\(id) \(words)")
            }
            return .noEffect
        case nil:
            preconditionFailure("a wait without end has ended")
        }
    }

    private func tell(
        _ id: String, _ effect: Effect, _ message: String
    ) throws(ClientError) -> ClientExit {
        if !json { try Console.line(message) }
        let batch = waits ? try wait(id) : nil
        if json { try report(id, effect, message, batch?.state) }
        guard let batch, batch.state.isFinal else { return .success }
        if command == .cancel, batch.state == .cancelled { return .success }
        return ClientExit(of: batch.state)
    }

    /// A held batch does not end; its wait ends with the last image in work.
    private func wait(_ id: String) throws(ClientError) -> BatchView.Batch? {
        let view = BatchView(id, in: folder)
        guard let now = try view.read(), let place = try view.folder() else {
            throw folder.noSuchBatch(id)
        }
        guard command == .hold else {
            return try BatchWait.end(of: id, in: folder, retries: now.retries)
        }
        return try BatchWait.until(nil, watching: [place]) {
            () throws(ClientError) -> BatchView.Batch? in
            guard let batch = try view.read() else { throw folder.noSuchBatch(id) }
            return batch.isAtRest || batch.state.isFinal ? batch : nil
        }
    }
}
