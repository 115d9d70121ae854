import DarkroomClient
import Foundation
import TestSupport
import Testing

/// Holds all subcommands against the table of the command's grammar in architecture.md.
@Suite(.fewAtATime) struct CommandGrammarTests {
    private static let heading = "The grammar of the command"

    /// The exit codes that every command has, and which the table does not repeat.
    private static let common: Set<Int32> = [0, 64, 74, 130]

    /// A row of the table.
    struct Row: Sendable, CustomTestStringConvertible {
        let name: String
        let operands: String
        let options: Set<String>
        /// `object`, `lines` or a dash.
        let json: String
        let codes: Set<Int32>

        var testDescription: String { name }

        init?(_ cells: [String], groups: [String: Set<String>]) {
            guard cells.count == 7, cells[0].hasPrefix("`") else { return nil }
            func words(_ cell: String) -> [String] {
                cell == "–" ? [] : cell.replacing("`", with: "").components(separatedBy: ", ")
            }
            name = words(cells[0])[0]
            operands = words(cells[1]).first ?? ""
            var options = Set(words(cells[3]))
            for group in words(cells[2]) { options.formUnion(groups[group] ?? [group]) }
            self.options = options
            json = cells[4]
            codes = Set(words(cells[6]).compactMap { Int32($0) })
        }
    }

    private static func rows() throws -> [Row] {
        let cells = try MarkdownDocument("etc/doc/architecture.md").rows
            .filter { $0.heading == heading }.map(\.cells)
        var groups: [String: Set<String>] = [:]
        for row in cells where row.count == 2 && row[0] != "group" {
            groups[row[0]] = Set(row[1].replacing("`", with: "").components(separatedBy: ", "))
        }
        return cells.compactMap { Row($0, groups: groups) }
    }

    @Test func eachCommandIsAsTheTableSays() async throws {
        let rows = try Self.rows()
        let commands = try await CommandDump.commands()
        try #require(rows.map(\.name) == commands.map(\.commandName))
        for (row, command) in zip(rows, commands) {
            #expect(Set(command.options.map(\.long)) == row.options, "\(row.name)")
            #expect(command.operands == row.operands, "\(row.name)")
            #expect(command.codes.subtracting(Self.common) == row.codes, "\(row.name)")
            #expect(row.options.contains("--json") == (row.json != "–"), "\(row.name)")
        }
        let known = rows.reduce(into: Self.common) { $0.formUnion($1.codes) }
        #expect(known == Set(ClientExit.allCases.map(\.rawValue)))
    }

    /// The list of `darkroom --help` says what to do, as in `Cancel a batch`: no first word is `Cancels`.
    @Test func theListOfCommandsHasOneMood() async throws {
        let commands = try await CommandDump.commands()
        #expect(commands.count > 20)
        for command in commands {
            let verb = command.abstract.prefix { $0 != " " }
            #expect(!verb.hasSuffix("s") && verb.first?.isUppercase == true, "\(command.abstract)")
        }
    }

    /// The help of an option is a sentence that says what to do: `Set the quality`, `With -o: print one JSON object.`
    @Test func theHelpOfOptionsHasOneMood() async throws {
        let nouns: Set = [
            "a", "an", "the", "each", "how", "what", "when", "which", "whether", "results",
        ]
        for command in try await CommandDump.commands() {
            for option in command.options {
                let help = option.abstract ?? ""
                let text = help.replacing(#/^With --?[a-z-]+: /#, with: "")
                let place = "\(command.commandName) \(option.long): \(help)"
                let verb = text.prefix { $0 != " " }.lowercased()
                #expect(help.first?.isUppercase == true && help.hasSuffix("."), "\(place)")
                #expect(!nouns.contains(verb) && !verb.hasSuffix("s"), "\(place)")
            }
        }
    }

    @Test func oneNameHasOneForm() async throws {
        var forms: [String: Set<String>] = [:]
        for command in try await CommandDump.commands() {
            for option in command.options { forms[option.long, default: []].insert(option.form) }
        }
        for (name, forms) in forms { #expect(forms.count == 1, "\(name): \(forms)") }
    }

    /// What the parser itself checks only in a build for debugging.
    @Test func aCommandHasANameOnce() async throws {
        for command in try await CommandDump.commands() + [CommandDump.daemon()] {
            let arguments = command.arguments ?? []
            let names = arguments.flatMap { $0.names ?? [] }.map { "\($0.kind) \($0.name)" }
            #expect(
                !names.isEmpty && Set(names).count == names.count,
                "\(command.commandName): \(names)")
            // It would take the words of those that follow.
            let operands = arguments.filter { $0.kind == "positional" }
            #expect(operands.dropLast().allSatisfy { !$0.isRepeating }, "\(command.commandName)")
        }
    }

    @Test func eachCommandHasHelpAndCompletion() async throws {
        let script = try await ClientProcess.end(["--generate-completion-script", "bash"]).output
        for command in try await CommandDump.commands() {
            let name = command.commandName
            // Its check of arguments knows the command, too.
            let help = try await ClientProcess.end(["help", name])
            #expect(help.exit == 0 && help.errors == "", "\(name): \(help)")
            #expect(help.output.contains("Example"), "\(name)")
            // It fits on a terminal.
            for line in help.output.split(separator: "\n") { #expect(line.count <= 80, "\(line)") }
            for words in [[name, "--help"], [name, "-hh"]] {
                #expect(try await ClientProcess.end(words).exit == 0, "\(words)")
            }
            #expect(command.discussion?.contains(" darkroom \(name)") == true, "\(name)")
            #expect(command.codes.contains(0) || name == "logs", "\(name)")
            #expect(script.contains("_darkroom_\(name)()"), "\(name)")
        }
    }

    /// The last object on standard output. Its form is checked by `ClientProcess`.
    private static func last(of output: String) throws -> [String: Any] {
        // One object may have several lines.
        let whole = try? JSONSerialization.jsonObject(with: Data(output.utf8))
        if let object = whole as? [String: Any] { return object }
        let line = try #require(output.split(separator: "\n").last)
        return try jsonObject(line.utf8)
    }

    @Test func errorsAreTheLastObject() async throws {
        let folder = try ScratchDirectory()
        for row in try Self.rows() where row.json != "–" {
            let operand =
                row.operands.contains("id")
                ? ["x"] : row.operands.contains("file") ? ["x.yaml"] : []
            var table = [(words: operand + ["--no-such-option"], types: ["error"])]
            // Nothing of what they need is there.
            if row.options.contains("--spool"), row.name != "recipes" {
                table.append((operand + ["--spool", "\(folder.path)/none"], ["error", "summary"]))
            }
            if row.name == "recipes" { table.append((["none"], ["error"])) }
            if row.name == "run" { table.append((operand + ["-o", "out"], ["error"])) }
            if row.name == "merge" { table.append((["none"], ["error"])) }
            for (words, types) in table {
                let result = try await ClientProcess.end(
                    [row.name, "--json"] + words, folder: folder.path)
                let object = try Self.last(of: result.output)
                #expect(types.contains(object["type"] as? String ?? ""), "\(row.name): \(result)")
                #expect(object["exit"] as? Int == Int(result.exit), "\(row.name): \(result)")
                let isError = object["type"] as? String == "error"
                #expect(result.exit != 0 && (!isError || result.errors != ""), "\(row.name)")
                #expect(
                    Self.common.union(row.codes).contains(result.exit), "\(row.name): \(result)")
            }
        }
    }

    @Test func streamsEndWithASummary() async throws {
        let (fixture, daemon) = try await DaemonFixture.running(pictures: 1)
        try await fixture.finish(["x"], daemon)
        try fixture.write("images: [\(fixture.url("0.png"))]\n", to: "good.yaml")
        let lines: [[String]] = [
            ["submit", "good.yaml", "--wait"], ["check", "good.yaml"], ["list", "--all"],
            ["watch", "x"], ["watch"], ["recipes"], ["formats"],
            ["verify", "x"], ["retry", "x"],
            ["remove", "x"],
        ]
        for words in lines {
            let result = try await fixture.begin(words + ["--json"]).result()
            let object = try Self.last(of: result.output)
            #expect(object["type"] as? String == "summary", "\(words): \(result)")
            #expect(object["exit"] as? Int == Int(result.exit), "\(words): \(result)")
        }
        for verb in ["pause", "resume"] {
            let result = try await fixture.begin([verb, "--json"]).result()
            let object = try Self.last(of: result.output)
            #expect(object["type"] as? String == "daemon", "\(result)")
            #expect(object["command"] as? String == verb && result.exit == 0, "\(result)")
        }
        #expect(try await daemon.stop() == .exited(0))
    }

    /// A name without a slash is an ID if there is such a batch, in each command that takes an ID or a folder.
    @Test func aNameIsAnIDBeforeItIsAFolder() async throws {
        let (fixture, daemon) = try await DaemonFixture.running(pictures: 1)
        try await fixture.finish(["x"], daemon)
        try FileManager.default.makeFolder(atPath: fixture.documents.path + "/x")
        let hint = "darkroom: x is a batch and a folder; this is the batch. ./x is the folder.\n"
        for row in try Self.rows() where row.operands.contains("id/dir") {
            let batch = try await fixture.client(row.name, "x")
            #expect(batch.exit == 0 && batch.errors == hint, "\(row.name): \(batch)")
            let folder = try await fixture.client(row.name, "./x")
            #expect(folder.exit != 0 && folder.errors != hint, "\(row.name): \(folder)")
        }
        #expect(try await daemon.stop() == .exited(0))
    }
}
