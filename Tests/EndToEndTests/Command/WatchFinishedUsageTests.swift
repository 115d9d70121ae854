import Foundation
import TestSupport
import Testing

/// What `darkroom watch --finished` refuses, and how.
@Suite struct WatchFinishedUsageTests {
    struct Case: Sendable, CustomTestStringConvertible {
        var arguments: [String]
        var exit: Int32
        var error: String
        var environment: [String: String] = [:]
        var testDescription: String { arguments.joined(separator: " ") }
    }

    private static let usage = 64 as Int32

    static let cases = [
        Case(
            arguments: ["--finished"], exit: usage,
            error: "Error: --finished needs --exec PROGRAM or --post URL"),
        Case(
            arguments: ["--finished", "--post", "http://x/", "--exec", "true"], exit: usage,
            error: "Error: write either --exec or --post"),
        Case(
            arguments: ["--exec", "true"], exit: usage,
            error: "Error: --exec is for --finished: darkroom watch --finished …"),
        Case(
            arguments: ["--tries", "3"], exit: usage,
            error: "Error: --tries is for --finished: darkroom watch --finished …"),
        Case(
            arguments: ["holiday", "--finished", "--exec", "true"], exit: usage,
            error: "Error: --finished is for all batches; write no ID"),
        Case(
            arguments: ["--finished", "--json", "--exec", "true"], exit: usage,
            error: "Error: --finished has no --json"),
        Case(
            arguments: ["--finished", "--key-file", "k", "--exec", "true"], exit: usage,
            error: "Error: --key-file is for --post"),
        Case(
            arguments: ["--finished", "--tries", "1001", "--exec", "true"], exit: usage,
            error: "Error: --tries 1001: write a number from 0 to 1000"),
        Case(
            arguments: ["--finished", "--timeout", "soon", "--exec", "true"], exit: usage,
            error: "Error: --timeout soon: write a time such as 30s or 5min, from 10ms to 1d"),
        Case(
            arguments: ["--finished", "--retry-delay", "0", "--exec", "true"], exit: usage,
            error: "Error: --retry-delay 0: write a time such as 30s or 5min, from 10ms to 1d"),
        Case(
            arguments: ["--finished", "--allow-network", "10.1.1.1/8", "--post", "http://x/"],
            exit: usage,
            error:
                "Error: --allow-network \"10.1.1.1/8\" has bits beyond its prefix: write 10.0.0.0/8 for the network, or 10.1.1.1 for the single address"
        ),
        Case(
            arguments: ["--finished", "--exec", "no-such-program"], exit: 66,
            error: """
                darkroom: no-such-program: there is no such program, or you may not run it
                darkroom: It is looked for in the folders of PATH.
                """),
        Case(
            arguments: ["--finished", "--exec", "/etc/passwd"], exit: 66,
            error: "darkroom: /etc/passwd: there is no such program, or you may not run it"),
        Case(
            arguments: ["--finished", "--post", "ftp://example.org/"], exit: usage,
            error: "darkroom: --post ftp://example.org/: the scheme is not http or https"),
        Case(
            arguments: ["--finished", "--post", "http://127.0.0.1/hook"], exit: usage,
            error:
                "darkroom: --post http://127.0.0.1/hook: the address 127.0.0.1 is not global unicast (loopback); --allow-network with 127.0.0.1/32 can allow it"
        ),
        Case(
            arguments: ["--finished", "--post", "https://u:p@10.0.0.1/?token=1"], exit: usage,
            error:
                "darkroom: --post https://10.0.0.1/?…: the address 10.0.0.1 is not global unicast (private); --allow-network with 10.0.0.1/32 can allow it"
        ),
        Case(
            arguments: ["--finished", "--key-file", "HERE/none", "--post", "http://example.org/"],
            exit: 66, error: "darkroom: HERE/none: cannot open: No such file or directory"),
        Case(
            arguments: ["--finished", "--key-file", "HERE/short", "--post", "http://example.org/"],
            exit: 78,
            error: """
                darkroom: HERE/short: the key has 5 bytes, at least 16 are necessary
                darkroom: openssl rand -hex 32 prints a good one.
                """),
        Case(
            arguments: ["--finished", "--key-file", "HERE/bad", "--post", "http://example.org/"],
            exit: 78, error: "darkroom: HERE/bad: the text after whsec_ is not Base64"),
        Case(
            arguments: ["--finished", "--cursor", "HERE/none/cursor", "--exec", "true"], exit: 66,
            error: """
                darkroom: HERE/none: cannot open: No such file or directory
                darkroom: The folder must exist, and you must be able to write to it.
                """),
        Case(
            arguments: ["--finished", "--cursor", "HERE/text", "--exec", "true"], exit: 78,
            error: """
                darkroom: HERE/text: it is not a cursor that this version of darkroom can read
                darkroom: Name another file with --cursor. Without a file, a new cursor begins.
                """),
        Case(
            arguments: ["--finished", "--cursor", "HERE/newer", "--exec", "true"], exit: 78,
            error: """
                darkroom: HERE/newer: it is not a cursor that this version of darkroom can read
                darkroom: Name another file with --cursor. Without a file, a new cursor begins.
                """),
        Case(
            arguments: ["--finished", "--cursor", "HERE/other", "--exec", "true"], exit: 78,
            error: """
                darkroom: HERE/other: this cursor belongs to the spool /srv/other, not to HERE/spool
                darkroom: Name another file with --cursor. Without a file, a new cursor begins.
                """),
        Case(
            arguments: ["--finished", "--cursor", "HERE/locked", "--exec", "true"], exit: 75,
            error: """
                darkroom: HERE/locked: another process uses this cursor
                darkroom: Each receiver needs a cursor of its own: --cursor FILE.
                """),
        Case(
            arguments: ["--finished", "--exec", "true"], exit: usage,
            error: """
                darkroom: neither STATE_DIRECTORY, XDG_STATE_HOME nor HOME is set
                darkroom: Name a file with --cursor.
                """),
        Case(
            arguments: ["--finished", "--exec", "true"], exit: 73,
            error: """
                darkroom: /dev/null/.local/state/darkroom: this folder for the cursor cannot be created: Not a directory
                darkroom: Name a file with --cursor.
                """, environment: ["HOME": "/dev/null"]),
    ]

    @Test(arguments: cases) func refuses(_ testCase: Case) async throws {
        let scratch = try ScratchDirectory()
        for name in ["spool/outbox", "spool/inbox"] {
            try FileManager.default.makeFolder(at: scratch.url.appending(path: name))
        }
        for (name, text) in [
            ("short", "hello\n"), ("bad", "whsec_%%%"), ("text", "hello\n"),
            ("newer", "{\"cursor\":2,\"spool\":\"\(scratch.path)/spool\"}\n"),
            ("other", "{\"cursor\":1,\"spool\":\"/srv/other\"}\n"), ("locked.lock", ""),
        ] {
            try Data(text.utf8).write(to: scratch.url.appending(path: name))
        }
        let lock = open(scratch.path + "/locked.lock", O_RDWR | O_CLOEXEC)
        #expect(flock(lock, LOCK_EX) == 0)
        defer { close(lock) }
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
        let scratch = try ScratchDirectory()
        for name in ["spool/outbox", "spool/inbox", "a"] {
            try FileManager.default.makeFolder(at: scratch.url.appending(path: name))
        }
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
