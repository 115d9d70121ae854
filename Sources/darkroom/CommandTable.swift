import ArgumentParser

/// The commands of `darkroom`, in the order of its help.
///
/// A new command needs a row here and a file of its own. The parser gets the list of commands from these rows, and
/// `ArgumentCheck` the names, the short options and the operands.
enum CommandTable {
    struct Row {
        let type: any ParsableCommand.Type
        /// Its short options without a value, except `-h`.
        var flags = ""
        /// Its short options with a value.
        var values = ""
        var operands = Operands.nothing
        /// Whether it cannot work without /proc: the commands that filter reach their files by it, and those that send a
        /// signal find the process there. Others tell what they know without it.
        var needsProc = false

        var name: String { type.configuration.commandName ?? "" }
    }

    /// What the arguments without a dash are.
    enum Operands { case files, ids, nothing }

    static let rows = [
        Row(type: SubmitCommand.self, operands: .files),
        Row(type: MakeCommand.self, values: "o", operands: .files),
        Row(type: CheckCommand.self, operands: .files),
        Row(type: WaitCommand.self, operands: .ids),
        Row(type: CancelCommand.self, operands: .ids),
        Row(type: HoldCommand.self, operands: .ids),
        Row(type: ReleaseCommand.self, operands: .ids),
        Row(type: RetryCommand.self, operands: .ids),
        Row(type: RemoveCommand.self, operands: .ids),
        Row(type: ListCommand.self, flags: "a"),
        Row(type: ShowCommand.self, operands: .ids),
        Row(type: PageCommand.self, flags: "a", values: "o", operands: .files),
        Row(type: StatusCommand.self),
        Row(type: WatchCommand.self, operands: .ids),
        Row(type: LogsCommand.self, flags: "f", operands: .ids),
        Row(type: PauseCommand.self, needsProc: true),
        Row(type: ResumeCommand.self, needsProc: true),
        Row(type: RecipesCommand.self),
        Row(type: FormatsCommand.self),
        Row(type: RunCommand.self, flags: "q", values: "o", operands: .files, needsProc: true),
        Row(type: PlanCommand.self, values: "o", operands: .files, needsProc: true),
        Row(type: MergeCommand.self, operands: .files, needsProc: true),
        Row(type: VerifyCommand.self, operands: .files),
        Row(type: FilterCommand.self, values: "o", operands: .files, needsProc: true),
    ]

    static func row(named name: String) -> Row? { rows.first { $0.name == name } }

    /// nil for the help, and for the program without a command.
    static func row(of command: any ParsableCommand) -> Row? {
        rows.first { $0.type == type(of: command) }
    }
}
