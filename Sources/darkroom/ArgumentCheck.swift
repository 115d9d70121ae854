import DarkroomClient
import DarkroomCore

/// Refuses command lines that the parser would misread, before it reads them.
///
/// The parser takes `-dash` for the short options `-d`, `-a`, `-s` and `-h`, and prints the help because of the last
/// one. It also prints the general help for `help` with an unknown command, and does not know what a misspelt command
/// is meant to be.
struct ArgumentCheck {
    /// What the parser knows without a command. Words that begin with three dashes come from completion scripts.
    private static let rootOptions = [
        "--help", "--version", "--help-hidden", "--experimental-dump-help",
        "--generate-completion-script",
    ]
    /// The names that other programs have for these commands.
    private static let synonyms = [
        "ls": "list", "ps": "list", "stop": "cancel", "kill": "cancel", "delete": "remove",
        "rm": "remove", "info": "show", "log": "logs", "add": "submit", "unhold": "release",
    ]

    /// A command, as far as it matters here.
    struct Command {
        let name: String
        /// Its short options without a value, except `-h`.
        var flags = ""
        /// Its short options with a value.
        var values = ""
        let operands: Operands
    }

    /// What the arguments without a dash are.
    enum Operands { case files, ids, none }

    static let commands = [
        Command(name: "submit", operands: .files),
        Command(name: "make", values: "o", operands: .files),
        Command(name: "check", operands: .files),
        Command(name: "wait", operands: .ids),
        Command(name: "cancel", operands: .ids),
        Command(name: "hold", operands: .ids),
        Command(name: "release", operands: .ids),
        Command(name: "retry", operands: .ids),
        Command(name: "remove", operands: .ids),
        Command(name: "list", flags: "a", operands: .none),
        Command(name: "show", operands: .ids),
        Command(name: "page", flags: "a", values: "o", operands: .files),
        Command(name: "status", operands: .none),
        Command(name: "watch", operands: .ids),
        Command(name: "logs", flags: "f", operands: .ids),
        Command(name: "pause", operands: .none),
        Command(name: "resume", operands: .none),
        Command(name: "recipes", operands: .none),
        Command(name: "formats", operands: .none),
        Command(name: "run", flags: "q", values: "o", operands: .files),
        Command(name: "plan", values: "o", operands: .files),
        Command(name: "merge", operands: .files),
        Command(name: "verify", operands: .files),
        Command(name: "filter", values: "o", operands: .files),
    ]

    let arguments: [String]

    func check() throws(ClientError) {
        guard let first = arguments.first, !first.hasPrefix("---") else { return }
        guard !first.hasPrefix("-") else { return try checkOptionFirst(first) }
        if first == "help" {
            guard arguments.count > 1, arguments[1] != "help", !arguments[1].hasPrefix("-") else {
                return
            }
            _ = try Self.command(arguments[1])
        } else {
            try Self.checkDashes(arguments.dropFirst(), of: try Self.command(first))
        }
    }

    private static func command(_ name: String) throws(ClientError) -> Command {
        if let command = commands.first(where: { $0.name == name }) { return command }
        let meant = synonyms[name] ?? Suggestion.nearest(to: name, among: commands.map(\.name))
        throw ClientError(
            .usage, code: "unknown-command",
            "there is no command ‘\(FileName(name).text)’"
                + (meant.map { "; did you mean ‘\($0)’?" } ?? ""),
            remedy: "darkroom --help lists the commands.")
    }

    private func checkOptionFirst(_ first: String) throws(ClientError) {
        let option = String(first.prefix { $0 != "=" })
        if first.hasPrefix("--") {
            let later = arguments.dropFirst().first { word in
                Self.commands.contains { $0.name == word }
            }
            guard let later, !Self.rootOptions.contains(option) else { return }
            throw ClientError(
                .usage, code: "option-first",
                "write \(FileName(option).text) after the command: darkroom \(later) \(FileName(option).text)"
            )
        }
        try Self.checkDashes(arguments.prefix(1), of: Command(name: "", operands: .none))
    }

    private static func checkDashes(
        _ arguments: some Sequence<String>, of command: Command
    ) throws(ClientError) {
        for argument in arguments {
            // What follows --exec belongs to another program.
            if argument == "--" || argument == "--exec" && command.name == "watch" { return }
            guard argument.hasPrefix("-"), !argument.hasPrefix("--"),
                argument.unicodeScalars.count > 2
            else { continue }
            let letters = argument.dropFirst()
            if letters.allSatisfy({ (command.flags + "h").contains($0) }) { continue }
            if command.values.contains(where: { letters.hasPrefix("\($0)=") }) { continue }
            let shown = FileName(argument).text
            let way =
                switch command.operands {
                case .files: "; write ./\(shown), or put -- before it"
                case .ids: "; put -- before it"
                case .none: ""
                }
            throw ClientError(.usage, code: "unknown-option", "unknown option ‘\(shown)’\(way)")
        }
    }
}
