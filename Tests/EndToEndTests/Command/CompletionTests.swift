import DarkroomClient
import Foundation
import TestSupport
import Testing

/// Tab in real shells, on a pseudo-terminal, with the script that the program generates for them.
@Suite(.fewAtATime) struct CompletionTests {
    /// How a shell is begun without its user's settings, and how it loads the script.
    private static func beginning(_ shell: IDCompletion.Shell) -> (command: String, load: String) {
        let script = "darkroom --generate-completion-script \(shell.rawValue)"
        return switch shell {
        case .bash: ("exec bash --noprofile --norc -i", "source <(\(script))")
        case .zsh: ("exec zsh -f -i", "autoload -U compinit; compinit -u -D; source <(\(script))")
        case .fish: ("exec fish --no-config -i", "\(script) | source")
        }
    }

    private static let ids = [
        "my trip", "it's \"new\"", "run $(touch caught)", "colon:a=b", "back\\slash", "über;&",
    ]

    @Test(arguments: IDCompletion.Shell.allCases) func completes(shell: IDCompletion.Shell)
        async throws
    {
        let (fixture, daemon) = try await DaemonFixture.running(
            pictures: 1, ["inbox.settle": "60s"])
        try await fixture.finish(Self.ids + ["done"], daemon)
        try fixture.spool.drop("work.hold", "")
        try fixture.drop("work", images: [("a", fixture.url("0.png"))])
        try await eventually("the batch in work in queue.json", context: { daemon.describe() }) {
            let path = fixture.spool.root.appending(path: "queue.json")
            let text = try? String(contentsOf: path, encoding: .utf8)
            return text?.contains("\"work\"") == true ? true : nil
        }
        let terminal = try PseudoTerminal(width: 200, height: 50)
        let beginning = Self.beginning(shell)
        let folder = URL(filePath: try ClientProcess.program()).deletingLastPathComponent().path
        let home = try ScratchDirectory()
        let session = try ClientProcess(
            [], spool: fixture.spool.path, folder: home.path, before: beginning.command,
            environment: [
                "PATH": "\(folder):/usr/bin:/bin", "TERM": "xterm", "HOME": home.path,
                "LC_ALL": "C.UTF-8",
            ], terminal: terminal)
        /// Types a line, and waits for what its last command prints: a word that the typed line does not have.
        func type(_ line: String, says word: String) async throws {
            terminal.type("\(line)\r")
            try await eventually("\(shell): \(line)", context: { terminal.text }) {
                terminal.text.contains(word) ? true : nil
            }
        }
        try await type("\(beginning.load); echo lo''aded", says: "loaded")

        // What is inserted is one word that means the ID.
        let table = [
            ("show my", "my trip"), ("show it", "it's \"new\""),
            // Bash would run it.
            ("show run", shell == .bash ? "run" : "run $(touch caught)"),
            ("show colon", "colon:a=b"),
            ("remove colon:a", "colon:a=b"), ("remove done my", "my trip"),
            ("show ba", "back\\slash"), ("show üb", "über;&"),
            ("retry do", "done"), ("remove do", "done"), ("cancel wo", "work"),
            ("hold wo", "work"), ("release wo", "work"), ("wait wo", "work"), ("watch wo", "work"),
        ]
        // In place of the program, which would wait or remove: it completes, and the function prints its last argument.
        let function =
            shell == .fish
            ? #"function darkroom; if test "$argv[1]" = ---completion; command darkroom $argv; else; printf '<%s>%s\n' $argv[-1] $argv[1]; end; end"#
            : #"darkroom() { if [ "$1" = ---completion ]; then command darkroom "$@"; else printf '<%s>%s\n' "${@: -1}" "$1"; fi; }"#
        try await type("\(function); echo rea''dy", says: "ready")
        for (number, (words, id)) in table.enumerated() {
            let before = terminal.text.count
            let verb = String(words.prefix { $0 != " " })
            try await type("darkroom \(words)\t; echo row''\(number).", says: "row\(number).")
            let shown = terminal.text.dropFirst(before)
            #expect(shown.contains("<\(id)>\(verb)"), "\(shell): \(shown)")
        }
        // Nothing was run that a name contains.
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: home.path).contains("caught")
                == false)
        session.send(SIGKILL)
    }
}
