import Foundation
import TestSupport
import Testing

/// What `darkroom watch --finished` refuses, and how.
struct WatchFinishedUsageTests {
    private let scratch: ScratchDirectory

    init() throws {
        scratch = try ScratchDirectory()
        for name in ["spool/outbox", "spool/inbox", "a"] {
            try FileManager.default.makeFolder(at: scratch.url.appending(path: name))
        }
    }

    struct Case: Sendable, CustomTestStringConvertible {
        let arguments: [String]
        let exit: Int32
        let error: String
        let environment: [String: String]
        var testDescription: String { arguments.joined(separator: " ") }

        init(
            _ words: String, _ error: String, exit: Int32 = 64, environment: [String: String] = [:]
        ) {
            arguments = words.split(separator: " ").map(String.init)
            self.error = error
            self.exit = exit
            self.environment = environment
        }
    }

    static let cases = [
        Case("--finished", "Error: --finished needs --exec PROGRAM or --post URL"),
        Case("--finished --post http://x/ --exec true", "Error: write either --exec or --post"),
        Case("--exec true", "Error: --exec is for --finished: darkroom watch --finished …"),
        Case("--tries 3", "Error: --tries is for --finished: darkroom watch --finished …"),
        Case("holiday --finished --exec true", "Error: --finished is for all batches; write no ID"),
        Case("--finished --json --exec true", "Error: --finished has no --json"),
        Case("--finished --key-file k --exec true", "Error: --key-file is for --post"),
        Case(
            "--finished --tries 1001 --exec true",
            "Error: --tries 1001: write a number from 0 to 1000"),
        Case(
            "--finished --timeout soon --exec true",
            "Error: --timeout soon: write a time such as 30s or 5min, from 10ms to 1d"),
        Case(
            "--finished --retry-delay 0 --exec true",
            "Error: --retry-delay 0: write a time such as 30s or 5min, from 10ms to 1d"),
        Case(
            "--finished --allow-network 10.1.1.1/8 --post http://x/",
            "Error: --allow-network \"10.1.1.1/8\" has bits beyond its prefix: write 10.0.0.0/8 for the network, or 10.1.1.1 for the single address"
        ),
        Case(
            "--finished --exec no-such-program",
            """
            darkroom: no-such-program: there is no such program, or you may not run it
            darkroom: It is looked for in the folders of PATH.
            """, exit: 66),
        Case(
            "--finished --exec /etc/passwd",
            "darkroom: /etc/passwd: there is no such program, or you may not run it", exit: 66),
        Case(
            "--finished --post ftp://example.org/",
            "darkroom: --post ftp://example.org/: the scheme is not http or https"),
        Case(
            "--finished --post http://127.0.0.1/hook",
            "darkroom: --post http://127.0.0.1/hook: the address 127.0.0.1 is not global unicast (loopback); --allow-network with 127.0.0.1/32 can allow it"
        ),
        Case(
            "--finished --post https://u:p@10.0.0.1/?token=1",
            "darkroom: --post https://10.0.0.1/?…: the address 10.0.0.1 is not global unicast (private); --allow-network with 10.0.0.1/32 can allow it"
        ),
        Case(
            "--finished --key-file HERE/none --post http://example.org/",
            "darkroom: HERE/none: cannot open: No such file or directory", exit: 66),
        Case(
            "--finished --cursor HERE/none/cursor --exec true",
            """
            darkroom: HERE/none: cannot open: No such file or directory
            darkroom: The folder must exist, and you must be able to write to it.
            """, exit: 66),
        Case(
            "--finished --exec true",
            """
            darkroom: neither STATE_DIRECTORY, XDG_STATE_HOME nor HOME is set
            darkroom: Name a file with --cursor.
            """),
        Case(
            "--finished --exec true",
            """
            darkroom: /dev/null/.local/state/darkroom: this folder for the cursor cannot be created: Not a directory
            darkroom: Name a file with --cursor.
            """, exit: 73, environment: ["HOME": "/dev/null"]),
    ]

    @Test(arguments: cases) func refuses(_ testCase: Case) async throws {
        let result = try await ClientProcess.end(
            ["watch"] + testCase.arguments.map { $0.replacing("HERE", with: scratch.path) },
            spool: scratch.path + "/spool", environment: testCase.environment
        ).replacing(scratch.path, with: "HERE")
        #expect(result.exit == testCase.exit)
        // With --json, the error is an object too.
        let message = testCase.error.replacing("Error: ", with: "")
        #expect(
            testCase.arguments.contains("--json")
                ? result.output.contains("\"message\":\"\(message)\"") : result.output == "")
        let said = result.errors.components(separatedBy: "\nHelp: ")[0]
            .components(separatedBy: "\nUsage: ")[0]
        #expect(said.trimmingCharacters(in: .newlines) == testCase.error)
        // Nothing was begun.
        #expect(!FileManager.default.fileExists(atPath: scratch.path + "/cursor"))
    }

    /// The folder of the cursor, by the environment.
    @Test(arguments: [
        (["STATE_DIRECTORY": "HERE/a:HERE/b", "HOME": "HERE/home"], "a/finished.cursor"),
        (["XDG_STATE_HOME": "HERE/a", "HOME": "HERE/home"], "a/darkroom/finished.cursor"),
        (
            ["XDG_STATE_HOME": "a", "HOME": "HERE/home"],
            "home/.local/state/darkroom/finished.cursor"
        ),
    ])
    func findsItsFolder(environment: [String: String], cursor: String) async throws {
        // A relative path of a spool becomes an absolute one.
        let command = try ClientProcess(
            ["watch", "--finished", "--spool", "spool", "--exec", "true"], folder: scratch.path,
            environment: environment.mapValues { $0.replacing("HERE", with: scratch.path) })
        let text = try await eventually("the cursor", context: { command.text("errors") }) {
            FileManager.default.contents(atPath: "\(scratch.path)/\(cursor)")
        }
        #expect(
            String(decoding: text, as: UTF8.self).replacing(scratch.path, with: "HERE")
                == "{\"cursor\":1,\"spool\":\"HERE/spool\"}\n")
        command.send(SIGTERM)
        try await command.result().expect(exit: 0)
    }
}
