import Foundation
import TestSupport

/// The parser's description of itself.
struct CommandDump: Decodable {
    let command: Command

    /// The commands of the program, in the order of its help.
    static func commands() async throws -> [Command] {
        let text = try await ClientProcess.end([option]).output
        return (try command(text).subcommands ?? []).filter { $0.commandName != "help" }
    }

    static func daemon() async throws -> Command {
        try command(await DaemonProcess.end(arguments: [option]).output)
    }

    private static let option = "--experimental-dump-help"

    private static func command(_ text: String) throws -> Command {
        try JSONDecoder().decode(Self.self, from: Data(text.utf8)).command
    }

    struct Command: Decodable {
        let commandName: String
        let abstract: String
        let discussion: String?
        let subcommands: [Command]?
        let arguments: [Argument]?

        /// Those that people see, without the ones of the parser.
        var options: [Argument] {
            (arguments ?? []).filter {
                $0.shouldDisplay && $0.kind != "positional"
                    && !["--help", "--version"].contains($0.long)
            }
        }

        var operands: String {
            let operands = (arguments ?? []).filter { $0.kind == "positional" }.map {
                let name = ($0.valueName ?? "").replacing("|", with: "/")
                let text = name + ($0.isRepeating ? "..." : "")
                return $0.isOptional ? "[\(text)]" : text
            }
            return operands.joined(separator: " ")
        }

        /// The exit statuses that its help describes.
        var codes: Set<Int32> {
            guard let text = discussion, let start = text.range(of: "Exit status: ") else {
                return []
            }
            let end = text[start.lowerBound...]
            return Set(
                end.matches(of: /(?:Exit status: |, and |, |\. |also )(\d+) [a-z\/]/)
                    .compactMap { Int32($0.1) })
        }
    }

    struct Argument: Decodable {
        let kind: String
        /// Its help.
        let abstract: String?
        let shouldDisplay: Bool
        let isOptional: Bool
        let isRepeating: Bool
        let names: [Name]?
        let valueName: String?

        var long: String { names?.first { $0.kind == "long" }.map { "--\($0.name)" } ?? "" }

        /// What must be the same in all commands.
        var form: String {
            let short = (names ?? []).filter { $0.kind == "short" }.map(\.name).joined()
            // The value of --output is a file or a folder.
            let value = kind == "flag" ? "" : long == "--output" ? "path" : valueName ?? ""
            return "\(kind) -\(short) \(value)\(isRepeating ? "..." : "")"
        }
    }

    struct Name: Decodable {
        let kind: String
        let name: String
    }
}
