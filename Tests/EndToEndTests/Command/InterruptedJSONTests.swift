import DarkroomAnswer
import Foundation
import TestSupport
import Testing

/// Ctrl-C with `--json`: the last object on standard output is complete, and says so.
@Suite(.fewAtATime) struct InterruptedJSONTests {
    private static func interrupted(_ advice: String? = nil) -> String {
        let remedy = advice.map { #""remedy":"\#($0)","# } ?? ""
        return
            #"{"code":"interrupted","exit":130,"message":"The command was interrupted.",\#(remedy)"retryable":false,"type":"error"}"#
    }

    /// Interrupts a command as soon as something holds, and returns how it ended.
    private func interrupt(
        _ client: ClientProcess, when isThere: @escaping @Sendable (ClientProcess) -> Bool
    ) async throws -> ClientProcess.Result {
        try await client.until("the moment", isThere)
        client.send(SIGINT)
        return try await client.result()
    }

    /// The last line of standard output is this object, and the lines before are complete, which `ClientProcess` checks.
    private func check(_ result: ClientProcess.Result, _ last: String, errors: String) {
        #expect(result.exit == 130, "\(result)")
        #expect(result.output.split(separator: "\n").last.map(String.init) == last, "\(result)")
        #expect(result.output.hasSuffix("\n") && result.errors == errors, "\(result)")
    }

    @Test func ofCommandsThatWaitForABatch() async throws {
        let (fixture, daemon) = try await DaemonFixture.running(pictures: 1)
        try fixture.write("images: [\(fixture.url("0.png"))]\n", to: "x.yaml")
        let again = "The work goes on without this command. To wait again: darkroom wait x"
        let submit = try fixture.begin(["submit", "--hold", "--wait", "x.yaml", "--json"])
        _ = try await fixture.spool.waitForStatus(of: "x", daemon, .held)
        check(
            try await interrupt(submit) { $0.text("output").contains(#""id":"x""#) },
            Self.interrupted(again), errors: "darkroom: \(again)\n")
        // The batch is left alone.
        #expect(try fixture.spool.status(of: "x")?.state == .held)

        try await fixture.finish(["y"], daemon)
        let wait = try fixture.begin(["wait", "y", "x", "--json"])
        check(
            try await interrupt(wait) { $0.text("output").contains(#""id":"y""#) },
            Self.interrupted("To wait again: darkroom wait y x"),
            errors: "darkroom: To wait again: darkroom wait y x\n")

        let watch = try fixture.begin(["watch", "x", "--json"])
        check(
            try await interrupt(watch) { $0.text("output").contains("progress") },
            #"{"batches":1,"exit":130,"states":{"held":1},"type":"summary"}"#,
            errors: "darkroom: The batch goes on. To watch again: darkroom watch x\n")

        let words = ["submit", "--hold", "--watch", "--progress", "plain", "x.yaml", "--json"]
        let submitAndWatch = try fixture.begin(words)
        let ended = try await interrupt(submitAndWatch) { $0.text("errors").contains("x-2: held") }
        check(
            ended,
            #"{"code":"interrupted","exit":130,"message":"The batch goes on. To watch again: darkroom watch x-2","retryable":false,"type":"error"}"#,
            errors: (ended.errors.split(separator: "\n").first ?? "")
                + "\ndarkroom: The batch goes on. To watch again: darkroom watch x-2\n")
    }

    /// The source of the manifest never answers.
    @Test func ofACheck() async throws {
        let (fixture, daemon) = try await DaemonFixture.running(pictures: 0, DaemonFixture.patient)
        let silent = try ScriptedOrigin { _ in .init(bytes: [], ending: .hold) }
        try fixture.write("images: ['\(silent.baseURL)/a.png']", to: "m.yaml")
        let words = ["check", "--sources", "m.yaml"]
        let client = try fixture.begin(words + ["--json"])
        let result = try await interrupt(client) { _ in !silent.requests.isEmpty }
        let message = "The check is not complete."
        check(result, Self.interrupted(message), errors: "darkroom: \(message)\n")
        // Otherwise nothing is on standard output, so that a part is not taken for the whole.
        let plain = try fixture.begin(words + ["--progress", "plain"])
        try await interrupt(plain) { _ in silent.requests.count > 1 }.expect(
            exit: 130, errors: "darkroom: \(message)\n")
        #expect(try await daemon.stop() == .exited(0))
    }

    /// The outputs are larger than what can be read in a moment.
    @Test func ofCommandsThatReadOutputs() async throws {
        let fixture = try RunFixture()
        try fixture.write("images: [small.png]\n", to: "m.yaml")
        let run = try await fixture.darkroom(
            "run", "m.yaml", "-o", "out", "--shard", "1/1", "--quiet")
        #expect(run.exit == 0, "\(run)")
        _ = try await fixture.darkroom("merge", "out")
        let size = 1 << 40
        let file = try FileHandle(forWritingTo: fixture.url("out/small.png"))
        try file.truncate(atOffset: UInt64(size))
        try file.close()
        let shard = "out/.darkroom/shard-1-of-1/status.json"
        for name in ["out/status.json", shard] {
            var status = try #require(Status(decoding: try fixture.bytes(name)))
            status.images[0].output?.bytes = size
            try Data(status.encoded()).write(to: fixture.url(name))
        }
        for words in [["verify", "out"], ["merge", "out"]] {
            let client = try ClientProcess(
                words + ["--json", "--progress", "none"], folder: fixture.scratch.path)
            check(
                try await interrupt(client) { $0.expects(SIGINT) }, Self.interrupted(),
                errors: "darkroom: The command was interrupted.\n")
        }
    }

    @Test func ofAPage() async throws {
        let fixture = try RunFixture()
        let images = (0..<400).map { "  i\($0): {source: large.png, filters: []}\n" }
        try fixture.write("images:\n\(images.joined())", to: "m.yaml")
        let run = try await fixture.darkroom("run", "m.yaml", "-o", "out", "--quiet")
        #expect(run.exit == 0, "\(run)")
        let client = try ClientProcess(
            ["page", "out", "-o", "pages", "--json", "--progress", "none"],
            folder: fixture.scratch.path)
        check(
            try await interrupt(client) { $0.expects(SIGINT) }, Self.interrupted(),
            errors: "darkroom: The command was interrupted.\n")
        #expect(!fixture.exists("pages"))
    }

    /// What finishes its pictures ends with its own object.
    @Test func ofARun() async throws {
        let origin = try ScriptedOrigin { _ in .init(bytes: [], ending: .hold) }
        let fixture = try RunFixture()
        try fixture.write("images: {a: '\(origin.baseURL)/a.png'}\n", to: "m.yaml")
        let run = try fixture.begin(
            [
                "m.yaml", "-o", "out", "--json", "--set", "downloads.allowNetworks=[127.0.0.0/8]",
            ])
        let result = try await interrupt(run) { _ in !origin.requests.isEmpty }
        #expect(result.exit == 75, "\(result)")
        let object = try jsonObject(result.output.utf8)
        #expect(object["type"] as? String == "run" && object["exit"] as? Int == 75)
        #expect((object["error"] as? [String: Any])?["code"] as? String == "stopped")
    }

    /// A command in the background of a script ignores Ctrl-C, and goes on.
    @Test func whatIgnoresTheSignalGoesOn() async throws {
        let result = try await ClientProcess.end(
            ["recipes", "--json"], before: "trap '' INT; kill -INT $$")
        #expect(result.exit != 130 && !result.output.contains("interrupted"), "\(result)")
    }

    /// Its reader reads nothing, so the rest of a line cannot be written.
    @Test func ofACommandThatNobodyReads() async throws {
        let fixture = try RunFixture()
        let images = (0..<2000).map { "  i\($0): {source: small.png, filters: []}\n" }
        try fixture.write("images:\n\(images.joined())", to: "m.yaml")
        let client = try ClientProcess(
            ["check", "--sources", "m.yaml", "--json"], folder: fixture.scratch.path,
            before: "mkfifo p; exec 3<>p; exec >p; sleep 60 <&3 & exec 3>&-")
        let stopped = "darkroom: The check is not complete.\n"
        let result = try await interrupt(client) { client in
            // It waits for room in the pipe.
            let path = "/proc/\(client.identifier)/task/\(client.identifier)/wchan"
            let place = try? String(contentsOfFile: path, encoding: .utf8)
            return client.expects(SIGINT) && place?.contains("pipe_w") == true
        }
        #expect(result.exit == 130 && result.errors.hasSuffix(stopped), "\(result)")
    }
}
