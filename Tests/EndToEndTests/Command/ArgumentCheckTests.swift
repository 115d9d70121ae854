import Foundation
import TestSupport
import Testing

/// Command lines that the program refuses before it does anything, and those that look like them.
@Suite(.fewAtATime) struct ArgumentCheckTests {
    private static let list = "\ndarkroom: darkroom --help lists the commands."

    /// The command line, and what standard error gets.
    private static let refused = [
        "submit a.png -dash.png":
            "unknown option ‘-dash.png’; write ./-dash.png, or put -- before it",
        "submit -wh": "unknown option ‘-wh’; write ./-wh, or put -- before it",
        "make -oh": "unknown option ‘-oh’; write ./-oh, or put -- before it",
        "check -ah.json": "unknown option ‘-ah.json’; write ./-ah.json, or put -- before it",
        "show -has": "unknown option ‘-has’; put -- before it",
        "remove a -dash": "unknown option ‘-dash’; put -- before it",
        "logs -fah": "unknown option ‘-fah’; put -- before it",
        "list -alh": "unknown option ‘-alh’",
        "-has": "unknown option ‘-has’",
        "sumbit a.png": "there is no command ‘sumbit’; did you mean ‘submit’?" + list,
        "rm --help": "there is no command ‘rm’; did you mean ‘remove’?" + list,
        "frobnicate": "there is no command ‘frobnicate’" + list,
        "help statsu": "there is no command ‘statsu’; did you mean ‘status’?" + list,
        "--spool /x list": "write --spool after the command: darkroom list --spool",
        "--spool=/x show a": "write --spool after the command: darkroom show --spool",
    ]

    @Test(arguments: refused) func refuses(line: String, errors: String) async throws {
        let words = line.split(separator: " ").map(String.init)
        try await ClientProcess.end(words).expect(exit: 64, errors: "darkroom: \(errors)\n")
    }

    @Test(arguments: [
        ("ls", "list"), ("ps", "list"), ("stop", "cancel"), ("delete", "remove"), ("info", "show"),
        ("log", "logs"),
    ]) func knowsTheNamesOfOthers(word: String, command: String) async throws {
        let result = try await ClientProcess.end(["help", word])
        #expect(result.exit == 64 && result.output == "")
        #expect(
            result.errors.hasPrefix(
                "darkroom: there is no command ‘\(word)’; did you mean ‘\(command)’?\n"))
    }

    @Test(arguments: [
        ["--help"], ["-h"], ["help"], ["help", "help"], ["help", "submit"], ["list", "-ah"],
        ["logs", "-fh"], ["submit", "-h"], ["--version"], ["--generate-completion-script", "bash"],
    ]) func answers(words: [String]) async throws {
        let result = try await ClientProcess.end(words)
        #expect(result.exit == 0 && result.output != "" && result.errors == "")
    }

    /// A name from outside cannot write to the terminal.
    @Test(arguments: [
        ["make", "a\u{1B}[2J.png"], ["check", "a\u{1B}[2J.yaml"],
        ["submit", "-a\u{1B}[2J"], ["a\u{1B}[2J"], ["list", "--spool", "/a\u{1B}[2J"],
    ]) func showsControlCharacters(words: [String]) async throws {
        let scratch = try ScratchDirectory()
        let result = try await ClientProcess.end(words, spool: scratch.path)
        #expect(result.exit >= 64 && result.output == "" && result.errors.contains("[2J"))
        #expect(!result.errors.contains("\u{1B}"))
    }

    @Test func takesNamesWithADashAfterTwoDashes() async throws {
        let scratch = try ScratchDirectory()
        for name in ["-dash.png", "-h.png"] { try scratch.addPicture(name) }
        for words in [["--", "-dash.png"], ["./-dash.png"], ["-o=x.json", "./-h.png"]] {
            let result = try await ClientProcess.end(["make"] + words, folder: scratch.path)
            #expect(result.exit == 0 && result.errors == "", "\(words): \(result)")
        }
    }
}
