import DarkroomCore
import Foundation
import TestPictures
import TestSupport
import Testing

/// `darkroom watch --finished` is killed at each point that it passes and at random moments, and the daemon too. Each end
/// is called at least once, and in the order of the ends.
@Suite(.fewAtATime) struct WatchFinishedKillTests {
    private let hooks: HookFixture
    private let daemon: DaemonProcess

    init() async throws {
        hooks = try HookFixture()
        daemon = try await hooks.daemons.run()
    }

    /// Each ID once, at its first call.
    private func firstCalls() -> [String] {
        var known: Set<String> = []
        return hooks.lines().filter { known.insert($0).inserted }
    }

    private static func isDead(_ command: ClientProcess) -> Bool {
        let stat = try? String(contentsOfFile: "/proc/\(command.identifier)/stat", encoding: .utf8)
        return stat?.contains(") Z ") ?? true
    }

    /// Runs the command until nothing is left to call for.
    private func finish(_ options: [String], _ comment: Comment) async throws {
        let command = try hooks.watch(options)
        let ends = try hooks.ends()
        try await eventually(
            "\(ends)", context: { "\(comment) \(command.text("errors"))" }
        ) {
            let states = hooks.states()
            return ends.allSatisfy { states[$0] == "called" } ? true : nil
        }
        let result = try await hooks.stop(command)
        #expect(result.exit == 0, comment)
        #expect(firstCalls() == ends, comment)
    }

    private static let points = FaultPoint.allCases.filter { $0.need == .notification }

    @Test(arguments: points) func callsAfterADeathAtEachPoint(point: FaultPoint) async throws {
        try await hooks.end("c", "a", "b", daemon: daemon)
        // Each call fails the first time.
        let program = try hooks.program(
            """
            \(HookFixture.note)
            test -e "$HERE/$DARKROOM_ID.tried" && exit
            touch "$HERE/$DARKROOM_ID.tried"
            exit 1
            """)
        let options = ["--from-start", "--retry-delay", "10ms", "--exec", program]
        var deaths = 0
        var isDone = false
        for passing in 1...40 where !isDone {
            let command = try hooks.watch(
                options, environment: [FaultPoint.variable: "\(point.rawValue):\(passing)"])
            let isDead = try await eventually("its death") { () -> Bool? in
                if Self.isDead(command) { return true }
                return hooks.states().values.count { $0 == "called" } == 3 ? false : nil
            }
            isDone = !isDead
            if isDead {
                #expect(try await command.result().exit == 137)
                deaths += 1
            } else {
                command.send(SIGKILL)
                _ = try await command.result()
            }
        }
        #expect(deaths > 0, "nobody passes \(point.rawValue)")
        try await finish(options, "\(point.rawValue)")
    }

    /// What had ended before the first start stays passed over if that start is killed.
    @Test(arguments: [FaultPoint.notifyCursorWritten, .notifyCursorMoved])
    func aDeadFirstStartCallsForNothing(point: FaultPoint) async throws {
        try await hooks.end("a", "b", daemon: daemon)
        let program = try hooks.program(HookFixture.note)
        let first = try hooks.watch(
            ["--exec", program], environment: [FaultPoint.variable: point.rawValue])
        #expect(try await first.result().exit == 137)
        #expect(hooks.has("cursor") == (point == .notifyCursorMoved))
        let second = try await hooks.watchFromNow(["--exec", program])
        try await eventually("the states") { hooks.states().count == 2 ? true : nil }
        try await hooks.end("c", daemon: daemon)
        #expect(try await hooks.wait(1, second) == ["c"])
        _ = try await hooks.stop(second)
        #expect(hooks.states() == ["a": "before", "b": "before", "c": "called"])
    }

    @Test func callsAfterDeathsAtRandomMoments() async throws {
        let program = try hooks.program(HookFixture.note)
        let options = ["--from-start", "--exec", program]
        var random = SplitMix64(seed: 16)
        for round in 0..<25 {
            let command = try hooks.watch(options)
            for id in ["x\(round)", "a\(round)", "m\(round)"] {
                try hooks.spool.drop("\(id).json", "{}")
            }
            try await Task.sleep(for: .milliseconds(Int.random(in: 0...150, using: &random)))
            command.send(SIGKILL)
            #expect(try await command.result().exit == 137)
        }
        for round in 0..<25 {
            for id in ["x\(round)", "a\(round)", "m\(round)"] {
                _ = try await hooks.spool.finish(id, daemon)
            }
        }
        let command = try hooks.watch(options)
        try await command.until("all calls") { _ in Set(hooks.lines()).count == 75 }
        _ = try await hooks.stop(command)
        #expect(Set(firstCalls()) == Set(try hooks.ends()))
    }

    @Test func outlivesTheDaemon() async throws {
        let program = try hooks.program(HookFixture.note)
        let command = try await hooks.watchFromNow(["--exec", program])
        try await hooks.end("a", daemon: daemon)
        try hooks.spool.drop("b.hold", "")
        try hooks.daemons.drop("b", images: [("a", hooks.daemons.url("0.png"))])
        _ = try await hooks.spool.waitForStatus(of: "b", daemon, .held)
        try await daemon.killAtOnce()
        let second = try await hooks.daemons.run()
        try hooks.spool.drop("b.release", "")
        _ = try await hooks.spool.finish("b", second)
        try await hooks.end("c", daemon: second)
        #expect(try await hooks.wait(3, command) == ["a", "b", "c"])
        #expect(try await hooks.stop(command, after: "c").errors == "")
        _ = try await second.stop()
    }

    /// A disk that refuses the cursor delays calls, and loses none.
    @Test(.enabled(if: SmallDisk.isAvailable, "only root may mount"))
    func waitsForTheCursor() async throws {
        let disk = try SmallDisk(kilobytes: 256)
        let cursor = disk.root.appending(path: "cursor").path
        let program = try hooks.program(HookFixture.note)
        let command = try ClientProcess([
            "watch", "--finished", "--spool", hooks.spool.path, "--cursor", cursor, "--exec",
            program,
        ])
        try await eventually("the cursor") {
            FileManager.default.fileExists(atPath: cursor) ? true : nil
        }
        // The cursor has room until the end of its block.
        try disk.fill(butFor: 0)
        let ids = (100..<160).map { "batch\($0)" }
        try await hooks.end(ids, daemon)
        let refusal =
            "darkroom: \(cursor): cannot write: No space left on device; no further call begins until the cursor can be written\n"
        try await command.until("the refusal") { $0.text("errors") == refusal }
        let calls = hooks.lines()
        #expect(!calls.isEmpty && calls.count < ids.count)
        disk.empty()
        let all = try await hooks.wait(ids.count, command)
        let result = try await hooks.stop(command, after: all.last, cursor: cursor)
        #expect(result.errors == refusal + "darkroom: the cursor can be written again\n")
        #expect(hooks.lines().sorted() == ids)
    }
}
