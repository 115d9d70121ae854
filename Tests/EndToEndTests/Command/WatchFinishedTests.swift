import Foundation
import TestSupport
import Testing

/// `darkroom watch --finished --exec` with the real daemon and real programs.
@Suite(.fewAtATime) struct WatchFinishedTests {
    private let hooks: HookFixture
    private let daemon: DaemonProcess

    init() async throws {
        hooks = try HookFixture()
        daemon = try await hooks.daemons.run()
    }

    private func url(_ name: String) -> String { hooks.daemons.url(name) }

    // MARK: Calls

    @Test func callsForEachEndInOrder() async throws {
        let program = try hooks.program(
            """
            echo "$DARKROOM_ID $DARKROOM_STATE $DARKROOM_OUTBOX $#:$1:$2" >>"$HERE/calls"
            cat >"$HERE/$DARKROOM_ID.status"
            """)
        let command = try await hooks.watchFromNow(["--exec", program, "-x y", "--post"])
        try await hooks.daemons.finish(["good"], daemon)
        try hooks.daemons.drop("half", images: [("a", url("0.png")), ("b", url("no.png"))])
        _ = try await hooks.spool.finish("half", daemon)
        try await hooks.end("wrong", daemon: daemon)
        let outbox = hooks.spool.root.appending(path: "outbox").path
        #expect(
            try await hooks.wait(3, command) == [
                "good completed \(outbox)/good 2:-x y:--post",
                "half completedWithErrors \(outbox)/half 2:-x y:--post",
                "wrong rejected \(outbox)/wrong 2:-x y:--post",
            ])
        try await eventually("three results") {
            command.text("output").split(separator: "\n").count == 3 ? true : nil
        }
        let result = try await hooks.stop(command)
        #expect(result.exit == 0 && result.errors == "")
        #expect(result.output.hasPrefix("good: completed, 1 image in "))
        #expect(
            result.output.hasSuffix(
                """

                half: completed with errors, 1 of 2 images done, 1 failed
                wrong: rejected, darkroom show wrong lists its errors

                """))
        for id in ["good", "half", "wrong"] {
            let status = try hooks.spool.bytes("outbox/\(id)/status.json")
            #expect(
                try Array(Data(contentsOf: URL(filePath: hooks.path("\(id).status")))) == status)
        }
        #expect(hooks.states() == ["good": "called", "half": "called", "wrong": "called"])
    }

    @Test func passesOverWhatHadEndedBeforeUnlessItIsTold() async throws {
        try await hooks.end("a", "b", daemon: daemon)
        let program = try hooks.program(HookFixture.note)
        let command = try await hooks.watchFromNow(["--exec", program])
        try await hooks.end("c", daemon: daemon)
        #expect(try await hooks.wait(1, command) == ["c"])
        let result = try await hooks.stop(command, after: "c")
        #expect(
            result.errors == """
                darkroom: the first start with this cursor: 2 batches that had ended before will not be notified; \
                --from-start notifies them too

                """)
        #expect(hooks.states() == ["a": "before", "b": "before", "c": "called"])
        // What ends while nobody watches is called later. A cursor that is there is no first start.
        try await hooks.end("d", daemon: daemon)
        let second = try hooks.watch(["--from-start", "--exec", program])
        #expect(try await hooks.wait(2, second) == ["c", "d"])
        _ = try await hooks.stop(second)
        try FileManager.default.removeItem(atPath: hooks.cursor)
        let third = try hooks.watch(["--from-start", "--exec", program])
        #expect(try await hooks.wait(6, third) == ["c", "d", "a", "b", "c", "d"])
        #expect(try await hooks.stop(third, after: "d").errors == "")
    }

    /// The events of inotify are a help and not a need.
    @Test(.enabled(if: DaemonProcess.canForbidInotify, "user namespaces are not allowed"))
    func looksWithoutInotify() async throws {
        let program = try hooks.program(HookFixture.note)
        let command = try await hooks.watchFromNow(
            ["--exec", program],
            before: #"""
                test -z "$INSIDE" && INSIDE=1 exec unshare --user --map-root-user sh -c \
                'echo 0 >/proc/sys/user/max_inotify_instances && exec "$0" "$@"' "$0" "$@"
                """#)
        try await hooks.end("a", daemon: daemon)
        try await hooks.daemons.finish(["b"], daemon)
        #expect(try await hooks.wait(2, command) == ["a", "b"])
        let events = try FileManager.default.contentsOfDirectory(
            atPath: "/proc/\(command.identifier)/fd"
        ).compactMap {
            try? FileManager.default.destinationOfSymbolicLink(
                atPath: "/proc/\(command.identifier)/fd/\($0)")
        }
        #expect(!events.contains { $0.contains("inotify") })
        _ = try await hooks.stop(command)
    }

    /// Each end of a batch is an end of its own.
    @Test func callsAgainAfterARetry() async throws {
        let program = try hooks.program(
            #"echo "$DARKROOM_ID $DARKROOM_STATE $DARKROOM_END" >>"$HERE/calls""#)
        let command = try await hooks.watchFromNow(["--exec", program])
        try hooks.daemons.drop("half", images: [("a", url("0.png")), ("b", url("late.png"))])
        let first = try await hooks.wait(1, command)
        try hooks.daemons.addPicture("late.png")
        #expect(try await hooks.daemons.client("retry", "half", "--wait").exit == 0)
        let both = try await hooks.wait(2, command).map { $0.split(separator: " ") }
        #expect(both.map { $0[1] } == ["completedWithErrors", "completed"])
        #expect(both[0][2] != both[1][2] && both[0].joined(separator: " ") == first[0])
        #expect(try await hooks.stop(command, after: "half").errors == "")
        _ = try await daemon.stop()
    }

    // MARK: Trouble with the program

    @Test func triesAgainAndInOrder() async throws {
        let program = try hooks.program(
            """
            \(HookFixture.note)
            test "$DARKROOM_ID" != a || test "$(grep -c a "$HERE/calls")" -gt 2
            """)
        let command = try await hooks.watchFromNow(["--retry-delay", "20ms", "--exec", program])
        try await hooks.end("a", "b", daemon: daemon)
        #expect(try await hooks.wait(4, command) == ["a", "a", "a", "b"])
        let result = try await hooks.stop(command, after: "b")
        #expect(
            result.errors == """
                darkroom: a: try 1 of 10 failed: HERE/program ended with exit code 1; the next one is in 20 ms
                darkroom: a: try 2 of 10 failed: HERE/program ended with exit code 1; the next one is in 40 ms

                """)
    }

    /// What a program does, and what is said of it.
    static let troubles = [
        ("exit 3", "HERE/program ended with exit code 3"),
        ("kill -9 $$", "HERE/program was ended by signal 9 (Killed)"),
        ("sleep 3600 & echo $! >\"$HERE/child\"; wait", "the call did not end within 1.0 s"),
        (
            "trap '' TERM; sleep 3600 & echo $! >\"$HERE/child\"; wait; wait",
            "the call did not end within 1.0 s"
        ),
    ]

    @Test(arguments: troubles)
    func passesOverAfterTheLastTry(what: String, reason: String) async throws {
        let program = try hooks.program(
            "\(HookFixture.note)\ntest \"$DARKROOM_ID\" != a || { \(what); }")
        let command = try await hooks.watchFromNow(
            ["--tries", "1", "--timeout", "1s", "--exec", program])
        try await hooks.end("a", "b", daemon: daemon)
        #expect(try await hooks.wait(2, command) == ["a", "b"])
        try await eventually("the result") { command.text("output").isEmpty ? nil : true }
        let result = try await hooks.stop(command)
        #expect(
            result.errors
                == "darkroom: a: passed over after 1 try, nobody was told of its end (rejected): \(reason)\n"
        )
        #expect(result.output == "b: rejected, darkroom show b lists its errors\n")
        #expect(hooks.states() == ["a": "passed-over", "b": "called"])
        // Nothing that the program has started is left.
        for child in hooks.lines("child") {
            try await eventually("the end of \(child)") {
                FileManager.default.fileExists(atPath: "/proc/\(child)") ? nil : true
            }
        }
    }

    @Test func triesAProgramThatHasVanished() async throws {
        let program = try hooks.program("\(HookFixture.note)\nrm \"$0\"")
        let command = try await hooks.watchFromNow(["--retry-delay", "1s", "--exec", program])
        try await hooks.end("a", "b", daemon: daemon)
        let failure =
            "darkroom: b: try 1 of 10 failed: \(program) cannot be started: No such file or directory; "
        try await command.until("the failure") { $0.text("errors").hasPrefix(failure) }
        _ = try hooks.program(HookFixture.note)
        #expect(try await hooks.wait(2, command) == ["a", "b"])
        _ = try await hooks.stop(command)
    }

    // MARK: Signals

    @Test func letsARunningProgramEnd() async throws {
        let program = try hooks.program(
            """
            \(HookFixture.note)
            while ! test -e "$HERE/go"; do sleep 0.02; done
            """)
        let command = try await hooks.watchFromNow(["--exec", program])
        try await hooks.end("a", "b", daemon: daemon)
        try await hooks.wait(1, command)
        command.send(SIGTERM)
        let waiting = "darkroom: stopping: the call for a may run for 30.0 s more\n"
        try await command.until("the stop") { $0.text("errors") == waiting }
        try hooks.touch("go")
        try await command.result().expect(
            exit: 0, output: "a: rejected, darkroom show a lists its errors\n",
            errors: waiting)
        #expect(hooks.lines() == ["a"])
        #expect(hooks.states()["a"] == "called" && hooks.states()["b"] != "called")
        let second = try hooks.watch(["--exec", program])
        #expect(try await hooks.wait(2, second) == ["a", "b"])
        _ = try await hooks.stop(second)
    }

    @Test func theSecondSignalDoesNotWait() async throws {
        let program = try hooks.program("\(HookFixture.note)\ntest -e \"$HERE/go\" || sleep 3600")
        let command = try await hooks.watchFromNow(["--tries", "1", "--exec", program])
        try await hooks.end("a", daemon: daemon)
        try await hooks.wait(1, command)
        command.send(SIGINT)
        try await command.until("the stop") { !$0.text("errors").isEmpty }
        command.send(SIGINT)
        let result = try await command.result()
        #expect(result.exit == 130)
        #expect(
            result.errors.hasSuffix(
                "more\ndarkroom: a: the call was ended; the next start calls again\n"))
        // It does not count as an attempt.
        try hooks.touch("go")
        let second = try hooks.watch(["--tries", "1", "--exec", program])
        #expect(try await hooks.wait(2, second) == ["a", "a"])
        #expect(try await hooks.stop(second, after: "a").errors == "")
    }

    // MARK: Answers that are not there any more

    @Test func saysWhatWasRemovedBeforeItsCall() async throws {
        let program = try hooks.program("\(HookFixture.note)\ntest \"$DARKROOM_ID\" = c")
        let command = try await hooks.watchFromNow(
            ["--tries", "0", "--retry-delay", "1h", "--exec", program])
        try await hooks.end("a", "b", daemon: daemon)
        try await hooks.wait(1, command)
        func removed(_ id: String) throws -> String {
            let time = try #require(try hooks.spool.status(of: id)?.times.finished)
            return
                "darkroom: \(id): its answer was removed before anybody was told of its end at \(time)\n"
        }
        let (a, b) = (try removed("a"), try removed("b"))
        // It tells only of an end that it has seen.
        try await eventually("the end of b") { hooks.states()["b"] != nil ? true : nil }
        // While it runs, and while it does not.
        #expect(try await hooks.daemons.client("remove", "b").exit == 0)
        try await command.until("b") { $0.text("errors").hasSuffix(b) }
        #expect(try await hooks.stop(command).errors.contains("a: try 1 failed: "))
        #expect(try await hooks.daemons.client("remove", "a").exit == 0)
        try await hooks.end("c", daemon: daemon)
        let second = try hooks.watch(["--exec", program])
        #expect(try await hooks.wait(2, second) == ["a", "c"])
        #expect(try await hooks.stop(second, after: "c").errors == a)
        #expect(hooks.states() == ["c": "called"])
    }

    @Test func saysThatARetryCameBeforeTheCall() async throws {
        let program = try hooks.program("\(HookFixture.note)\ntest -e \"$HERE/go\"")
        let command = try await hooks.watchFromNow(
            ["--retry-delay", "1h", "--exec", program])
        try hooks.daemons.drop("half", images: [("b", url("late.png"))])
        _ = try await hooks.spool.finish("half", daemon)
        try await hooks.wait(1, command)
        let time = try #require(try hooks.spool.status(of: "half")?.times.finished)
        try hooks.touch("go")
        #expect(try await hooks.daemons.client("retry", "half", "--wait").exit == 3)
        try await hooks.wait(2, command)
        let result = try await hooks.stop(command, after: "half")
        #expect(
            result.errors.hasSuffix(
                "darkroom: half: it was repeated before anybody was told of its end at \(time); the end of the repetition follows\n"
            ))
        #expect(result.output == "half: completed with errors, 0 of 1 image done, 1 failed\n")
    }
}
