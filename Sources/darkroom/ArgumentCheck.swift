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

    let arguments: [String]

    func check() throws(ClientError) {
        guard let first = arguments.first, !first.hasPrefix("---") else { return }
        guard !first.hasPrefix("-") else { return try checkOptionFirst(first) }
        if first == "help" {
            guard arguments.count > 1, arguments[1] != "help", !arguments[1].hasPrefix("-") else {
                return
            }
            _ = try Self.row(arguments[1])
        } else {
            try Self.checkDashes(arguments.dropFirst(), of: try Self.row(first))
        }
    }

    private static func row(_ name: String) throws(ClientError) -> CommandTable.Row {
        if let row = CommandTable.row(named: name) { return row }
        let names = CommandTable.rows.map(\.name)
        let meant = synonyms[name] ?? Suggestion.nearest(to: name, among: names)
        throw ClientError(
            .usage, code: "unknown-command",
            "there is no command ‘\(FileName(name).text)’"
                + (meant.map { "; did you mean ‘\($0)’?" } ?? ""),
            remedy: "darkroom --help lists the commands.")
    }

    private func checkOptionFirst(_ first: String) throws(ClientError) {
        let option = String(first.prefix { $0 != "=" })
        if first.hasPrefix("--") {
            let later = arguments.dropFirst().first { CommandTable.row(named: $0) != nil }
            guard let later, !Self.rootOptions.contains(option) else { return }
            throw ClientError(
                .usage, code: "option-first",
                "write \(FileName(option).text) after the command: darkroom \(later) \(FileName(option).text)"
            )
        }
        try Self.checkDashes(arguments.prefix(1), of: nil)
    }

    /// - Parameter command: nil for the program without a command.
    private static func checkDashes(
        _ arguments: some Sequence<String>, of command: CommandTable.Row?
    ) throws(ClientError) {
        for argument in arguments {
            // What follows --exec belongs to another program.
            if argument == "--" || argument == "--exec" && command?.name == "watch" { return }
            guard argument.hasPrefix("-"), !argument.hasPrefix("--"),
                argument.unicodeScalars.count > 2
            else { continue }
            let letters = argument.dropFirst()
            if letters.allSatisfy({ $0 == "h" || command?.flags.contains($0) == true }) { continue }
            if command?.values.contains(where: { letters.hasPrefix("\($0)=") }) == true { continue }
            let shown = FileName(argument).text
            let way =
                switch command?.operands ?? .nothing {
                case .files: "; write ./\(shown), or put -- before it"
                case .ids: "; put -- before it"
                case .nothing: ""
                }
            throw ClientError(.usage, code: "unknown-option", "unknown option ‘\(shown)’\(way)")
        }
    }
}
