import Foundation
import TestSupport
import Testing

/// `darkroom list`, `show`, `status`, `pause`, `resume` and `logs` with the real daemon.
@Suite(.fewAtATime) struct ViewCommandTests {
    @Test func showsWhatADaemonHasDone() async throws {
        let (fixture, daemon) = try await DaemonFixture.running(pictures: 2)
        try fixture.drop(
            "holiday", images: [("a", fixture.url("0.png")), ("b", fixture.url("none.png"))])
        try fixture.drop("fine", images: [("a", fixture.url("1.png"))])
        try fixture.spool.drop("wrong.json", #"{"images": [{"source": "x.png", "nmae": "a"}]}"#)
        for id in ["holiday", "fine", "wrong"] { _ = try await fixture.spool.finish(id, daemon) }

        let list = try await fixture.client("list", "--all")
        #expect(list.exit == 0 && list.errors == "")
        let ids = list.output.split(separator: "\n").map { $0.prefix { $0 != " " } }
        #expect(ids.first == "ID" && ids.dropFirst().sorted() == ["fine", "holiday", "wrong"])

        try await fixture.client("list").expect(
            exit: 0,
            errors: "darkroom: No batch is unfinished. --all lists the others.\n")

        let shown = try await fixture.client("show", "holiday")
        #expect(shown.exit == 0 && shown.errors == "")
        #expect(
            shown.output.hasPrefix(
                "holiday: completed with errors\n  images    1 of 2 done, 1 failed\n"))
        #expect(shown.output.contains("\n1 failed image:\n  b: "))
        let wrong = try await fixture.client("show", "wrong", "--json")
        let object = try jsonObject(wrong.output.utf8)
        #expect((object["errors"] as? [[String: Any]])?.first?["code"] as? String == "unknown-key")
    }

    @Test func tellsWhatTheDaemonDoes() async throws {
        let fixture = try DaemonFixture(pictures: 1)
        func state() async throws -> String {
            let result = try await fixture.client("status", "--json")
            return "\(try jsonObject(result.output.utf8)["state"] ?? "none") \(result.exit)"
        }
        var daemon = try await fixture.run()
        #expect(try await state() == "running 0")
        let paused = try await fixture.client("pause")
        paused.expect(exit: 0, output: "paused\n")
        #expect(try await state() == "paused 0")
        try fixture.drop("meanwhile", images: [("a", fixture.url("0.png"))])
        _ = try await fixture.spool.waitForStatus(of: "meanwhile", daemon, .pending)
        let list = try await fixture.client("list")
        #expect(list.output.contains("the daemon is paused"))
        try await fixture.client("resume").expect(
            exit: 0, output: "running\n")
        _ = try await fixture.spool.finish("meanwhile", daemon)
        try await daemon.killAtOnce()
        #expect(try await state() == "killed 69")
        daemon = try await fixture.run()
        _ = try await daemon.stop()
        #expect(try await state() == "stopped 69")
        let late = try await fixture.client("pause")
        #expect(late.exit == 69 && late.output == "")
        #expect(late.errors.hasPrefix("darkroom: No daemon works on SPOOL.\n"))
    }

    /// Another user may look if the folders allow it, and may not pause.
    @Test(.enabled(if: geteuid() == 0, "only root can be another user"))
    func nobodyElseMayPause() async throws {
        let scratch = try ScratchDirectory()
        try #require(chmod(scratch.path, 0o755) == 0)
        let spool = SpoolFixture(root: scratch.url.appending(path: "spool"))
        let daemon = try await DaemonProcess.run(spool: spool.path)
        let user = OtherUserTests.user
        for command in ["pause", "resume"] {
            let result = try await ClientProcess.end([command, "--spool", spool.path], user: user)
            #expect(result.exit == 77 && result.output == "")
            #expect(
                result.errors == """
                    darkroom: Only root may \(command) the daemon (process \(daemon.identifier)).
                    darkroom: sudo darkroom \(command)

                    """)
        }
        let status = try await ClientProcess.end(["status", "--spool", spool.path], user: user)
        #expect(status.exit == 0 && status.output.hasPrefix("running"))
    }

    /// Whoever owns a spool decides who holds its lock. They must not have root signal a process of somebody else.
    @Test(.enabled(if: geteuid() == 0, "only root can give a file away"))
    func signalsNoProcessOfOthers() async throws {
        let spool = try ScratchDirectory()
        for name in ["inbox", "outbox"] {
            try FileManager.default.makeFolder(at: spool.url.appending(path: name))
        }
        let lock = spool.path + "/lock"
        try Data().write(to: URL(filePath: lock))
        try #require(chown(lock, 65534, 65534) == 0)
        let victim = try ChildProcess(
            "/usr/bin/flock", ["--no-fork", lock, "/bin/sleep", "600"],
            log: spool.path + "/output")
        try await eventually("the lock") {
            let number = open(lock, O_RDWR | O_CLOEXEC)
            defer { close(number) }
            return flock(number, LOCK_EX | LOCK_NB) == 0 ? nil : true
        }
        for command in ["pause", "resume"] {
            try await ClientProcess.end([command], spool: spool.path).replacing(
                spool.path, with: "SPOOL"
            ).expect(
                exit: 69,
                errors: """
                    darkroom: No daemon works on SPOOL.
                    darkroom: systemctl start darkroomd starts it.

                    """)
        }
        #expect(victim.isRunning)
    }

    @Test func runsJournalctl() async throws {
        let (fixture, daemon) = try await DaemonFixture.running(pictures: 1)
        try await fixture.finish(["a b"], daemon)
        _ = try await daemon.stop()
        let scratch = try ScratchDirectory()
        func write(_ script: String) throws {
            let program = scratch.path + "/journalctl"
            try "#!/bin/sh\n\(script)\n".write(toFile: program, atomically: true, encoding: .utf8)
            try #require(chmod(program, 0o755) == 0)
        }
        func logs(_ words: String..., path: String? = nil) async throws -> ClientProcess.Result {
            try await ClientProcess.end(
                ["logs"] + words, spool: fixture.spool.path,
                environment: ["PATH": path ?? scratch.path])
        }
        try write("printf '<%s>\\n' \"$@\"\nexit 5")
        try await logs("a b", "-f", "--", "--output", "cat").expect(
            exit: 5, output: "<--follow>\n<--output>\n<cat>\n<DARKROOM_BATCH=a b>\n")
        let removed = try await logs("ab")
        #expect(removed.exit == 5 && removed.output == "<DARKROOM_BATCH=ab>\n")
        #expect(removed.errors.hasPrefix("darkroom: ab: there is no such batch\n"))
        // Without records there is nothing to show.
        try write("exit 0")
        for path in [scratch.path, "/none"] {
            try await logs("nosuch", path: path).expect(
                exit: 66,
                errors: """
                    darkroom: nosuch: there is no such batch
                    darkroom: darkroom list --all shows the IDs of all batches.

                    """)
        }
        try await logs("a b", path: "/none").expect(
            exit: 69,
            errors: """
                darkroom: journalctl is not installed, so there is no journal of systemd to show.
                darkroom: Without systemd, the daemon writes its records to its standard error.

                """)
    }

    @Test(arguments: [
        ["list", "--state", "broken"], ["list", "--since", "soon"], ["show"],
        ["show", "a", "--images", "--failed"],
        ["watch", "--progress", "loud"], ["status", "--color", "blue"], ["logs"],
    ])
    func refusesAWrongCommandLine(arguments: [String]) async throws {
        let result = try await ClientProcess.end(arguments)
        #expect(result.exit == 64 && result.output == "" && result.errors.contains("--help"))
    }

    @Test(arguments: [
        ("failed", "‘failed’; did you mean ‘completedWithErrors’?"),
        ("completed,proccessing", "‘proccessing’; did you mean ‘processing’?"),
        ("held,", "‘’. The states are "),
    ]) func namesTheWrongState(value: String, words: String) async throws {
        let result = try await ClientProcess.end(["list", "--state", value])
        #expect(result.exit == 64 && result.output == "")
        #expect(result.errors.contains("there is no state \(words)"), "\(result.errors)")
    }

    @Test func saysWhichTimesThereAre() async throws {
        let result = try await ClientProcess.end(["list", "--since", "yesterdax"])
        #expect(result.exit == 64 && result.output == "")
        #expect(
            result.errors.contains("write a date (2026-11-21, with or without a time), today, "),
            "\(result.errors)")
    }

    @Test func namesTheSpoolThatIsNotThere() async throws {
        for command in [["list"], ["show", "a"], ["status"], ["watch"], ["pause"], ["logs", "a"]] {
            let result = try await ClientProcess.end(command + ["--spool", "/none"])
            #expect(result.exit == 66 && result.output == "")
            // It could be a folder of results, too.
            let other =
                command[0] == "show"
                ? "a: there is no such folder, and no spool with a batch of this ID: " : ""
            #expect(
                result.errors == """
                    darkroom: \(other)/none: cannot open: No such file or directory
                    darkroom: Name the folder with --spool or DARKROOM_SPOOL. darkroomd creates it when it starts.

                    """)
        }
    }
}
