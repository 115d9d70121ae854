import DarkroomAnswer
import Foundation
import Synchronization
import TestSupport
import Testing

/// `darkroom watch --finished --post` with real servers: nginx, and origins that fail, hang and come back.
@Suite(.fewAtATime) struct WatchFinishedPostTests {
    private let hooks: HookFixture
    private let daemon: DaemonProcess
    private static let key = "8c5f0d5f2b0e4f6c9a7d1e3b5a7c9d1f"

    init() async throws {
        hooks = try HookFixture()
        daemon = try await hooks.daemons.run()
        try Data("\(Self.key)\n".utf8).write(to: hooks.scratch.url.appending(path: "key"))
    }

    /// Counts the requests of an origin.
    private final class Counter: Sendable {
        private let value = Atomic(0)

        func next() -> Int { value.add(1, ordering: .relaxed).newValue }
    }

    private static let local = ["--allow-network", "127.0.0.0/8", "--retry-delay", "20ms"]

    private func post(
        to url: String, _ options: [String] = [], environment: [String: String] = [:]
    ) async throws -> ClientProcess {
        try await hooks.watchFromNow(
            Self.local + ["--from-start", "--post", url] + options, environment: environment)
    }

    private static func reply(_ status: String, _ fields: [String] = []) -> ScriptedOrigin.Reply {
        ScriptedOrigin.Reply(["HTTP/1.1 \(status)", "Content-Length: 0"] + fields)
    }

    /// Stops the command once so many calls have succeeded.
    private func stop(
        _ command: ClientProcess, after count: Int
    ) async throws -> ClientProcess.Result {
        try await command.until("\(count) results") {
            $0.text("output").split(separator: "\n").count >= count
        }
        return try await hooks.stop(command)
    }

    private static func id(_ request: ScriptedOrigin.Request) -> String {
        let object = try? JSONSerialization.jsonObject(with: Data(request.body))
        return (object as? [String: Any])?["id"] as? String ?? "?"
    }

    /// The signature by another program.
    private func signature(_ request: ScriptedOrigin.Request) async throws -> String {
        let fields = request.fields
        let head = "\(fields["webhook-id"] ?? "").\(fields["webhook-timestamp"] ?? "")."
        try Data(Array(head.utf8) + request.body).write(
            to: hooks.scratch.url.appending(path: "message"))
        let script = "openssl dgst -sha256 -hmac \(Self.key) -binary \"$0\" | base64 -w 0"
        let (_, text) = try SystemProgram.run("/bin/sh", ["-c", script, hooks.path("message")])
        return "v1," + String(decoding: text, as: UTF8.self)
    }

    @Test func sendsSignedProgressInOrder() async throws {
        let origin = try ScriptedOrigin { _ in Self.reply("204 No Content") }
        let command = try await post(
            to: "\(origin.baseURL)/hook?token=secret", ["--key-file", hooks.path("key")])
        try await hooks.daemons.finish(["good"], daemon)
        try await hooks.end("wrong", daemon: daemon)
        let result = try await stop(command, after: 2)
        #expect(result.exit == 0 && result.errors == "")
        #expect(origin.requests.map(Self.id) == ["good", "wrong"])
        for request in origin.requests {
            #expect(request.path == "/hook?token=secret")
            #expect(request.fields["content-type"] == "application/json")
            #expect(request.fields["user-agent"]?.hasPrefix("Darkroom/") == true)
            #expect(request.fields["webhook-id"]?.hasPrefix("end_") == true)
            #expect(try await request.fields["webhook-signature"] == signature(request))
            let progress = try #require(BatchProgress(decoding: request.body))
            let file = try hooks.spool.bytes("outbox/\(progress.id)/progress.json")
            let written = try #require(BatchProgress(decoding: file))
            // It may be made from the status, before there is such a file.
            #expect(progress.saysTheSame(as: written))
        }
        #expect(Set(origin.requests.map { $0.fields["webhook-id"] }).count == 2)
    }

    /// Without a key, and with the place that a service has for one.
    @Test(arguments: [("unsigned", false), ("unsigned", true), (key, true)])
    func takesTheKeyOfTheService(content: String, hasFile: Bool) async throws {
        let origin = try ScriptedOrigin { _ in Self.reply("200 OK") }
        if hasFile { try hooks.scratch.write(content, "webhook-key") }
        let command = try await post(
            to: "\(origin.baseURL)/", environment: ["CREDENTIALS_DIRECTORY": hooks.scratch.path])
        try await hooks.end("a", daemon: daemon)
        #expect(try await stop(command, after: 1).errors == "")
        let request = try #require(origin.requests.first)
        let expected = content == Self.key ? try await signature(request) : nil
        #expect(request.fields["webhook-signature"] == expected)
    }

    @Test(arguments: [true, false]) func reachesNginx(tls: Bool) async throws {
        let documents = try ScratchDirectory()
        let nginx = try NginxOrigin(documentRoot: documents.path, tls: tls)
        try await hooks.end("a", "b", daemon: daemon)
        let trust = nginx.caFile.map { ["--ca-file", $0] } ?? []
        let command = try await post(to: "\(nginx.baseURL)/hook", trust)
        #expect(try await stop(command, after: 2).errors == "")
        let requests = try await eventually("two requests in the log") {
            let requests = try nginx.requests()
            return requests.count == 2 ? requests : nil
        }
        #expect(requests.allSatisfy { $0.status == 204 && $0.path == "/hook" })
        if tls {
            // A certificate that nobody trusts.
            try FileManager.default.removeItem(atPath: hooks.cursor)
            let other = try await post(to: "\(nginx.baseURL)/hook", ["--tries", "1"])
            try await other.until("a refusal") {
                $0.text("errors").contains("passed over after 1 try")
            }
            #expect(try nginx.requests().count == 2)
            _ = try await hooks.stop(other)
        }
    }

    // MARK: Trouble

    /// How a server fails twice, and what is said.
    static let failures: [(ScriptedOrigin.Reply, String)] = [
        (reply("500 Oops"), "the server answered 500 Internal Server Error"),
        (reply("404 Oops"), "the server answered 404 Not Found"),
        (
            reply("302 Found", ["Location: http://127.0.0.1/elsewhere"]),
            "the server answered 302 Found; redirects are not followed"
        ),
        (.init(bytes: [], ending: .close), "the server closed the connection without an answer"),
        (.init(bytes: [], ending: .hold), "no answer within 500ms"),
        (
            .init(bytes: Array("SSH-2.0-nothing\r\n\r\n".utf8)),
            "the answer is not HTTP, or its header is too long"
        ),
        (
            .init(["HTTP/1.1 200 OK", "X: " + String(repeating: "x", count: 90_000)]),
            "the answer is not HTTP, or its header is too long"
        ),
    ]

    @Test(arguments: failures.indices)
    func triesAgain(number: Int) async throws {
        let (failure, words) = Self.failures[number]
        let count = Counter()
        let origin = try ScriptedOrigin { _ in
            count.next() <= 2 ? failure : Self.reply("200 OK")
        }
        try await hooks.end("a", "b", daemon: daemon)
        let command = try await post(to: "\(origin.baseURL)/", ["--timeout", "500ms"])
        let result = try await stop(command, after: 2)
        let url = "\(origin.baseURL)/"
        #expect(
            result.errors == """
                darkroom: a: try 1 of 10 failed: \(url): \(words); the next one is in 20 ms
                darkroom: a: try 2 of 10 failed: \(url): \(words); the next one is in 40 ms

                """)
        #expect(origin.requests.map(Self.id) == ["a", "a", "a", "b"])
        #expect(Set(origin.requests.map { $0.fields["webhook-id"] }).count == 2)
    }

    /// A long answer is as good as a short one, also if it never ends.
    @Test func doesNotReadLongAnswers() async throws {
        let origin = try ScriptedOrigin { _ in
            .init(
                ["HTTP/1.1 200 OK", "Content-Length: 10000000"],
                body: [UInt8](repeating: 32, count: 200_000), ending: .hold)
        }
        try await hooks.end("a", daemon: daemon)
        #expect(try await stop(try await post(to: "\(origin.baseURL)/"), after: 1).errors == "")
        #expect(origin.requests.count == 1)
    }

    @Test func waitsAsLongAsTheServerAsks() async throws {
        let count = Counter()
        let origin = try ScriptedOrigin { _ in
            count.next() > 1
                ? Self.reply("200 OK")
                : Self.reply("503 Service Unavailable", ["Retry-After: 100000"])
        }
        try await hooks.end("a", daemon: daemon)
        let command = try await post(to: "\(origin.baseURL)/")
        let line =
            "darkroom: a: try 1 of 10 failed: \(origin.baseURL)/: the server answered 503 Service Unavailable; the next one is in 1 h 0 min\n"
        try await command.until("the pause") { $0.text("errors") == line }
        _ = try await hooks.stop(command)
        // A new start does not wait.
        #expect(try await stop(try await post(to: "\(origin.baseURL)/"), after: 1).errors == "")
    }

    @Test func reachesAServerThatComesBack() async throws {
        let port = try unusedPort()
        try await hooks.end("a", "b", daemon: daemon)
        let command = try await post(to: "http://127.0.0.1:\(port)/", ["--tries", "0"])
        try await command.until("two tries") { $0.text("errors").contains("a: try 2 failed: ") }
        let origin = try ScriptedOrigin(port: port) { _ in Self.reply("200 OK") }
        let result = try await stop(command, after: 2)
        origin.stop()
        #expect(result.exit == 0)
        #expect(origin.requests.map(Self.id) == ["a", "b"])
    }

    /// A name that resolves to an address that is not public is refused when it is connected to.
    @Test func obeysTheRulesOfAddresses() async throws {
        let origin = try ScriptedOrigin { _ in Self.reply("200 OK") }
        try await hooks.end("a", daemon: daemon)
        let name = ProcessInfo.processInfo.hostName
        let command = try hooks.watch([
            "--from-start", "--tries", "1", "--post", "http://\(name):\(origin.port)/",
        ])
        try await command.until("the refusal") {
            $0.text("errors").contains("a: passed over after 1 try")
        }
        #expect(
            command.text("errors").contains("--allow-network with")
                || command.text("errors").contains("has no address"))
        _ = try await hooks.stop(command)
        #expect(origin.requests.count == 0)
    }

    /// A request that hangs does not delay a stop for longer than the stop may take, nor a second signal at all.
    @Test func endsARequestAtTheSecondSignal() async throws {
        let origin = try ScriptedOrigin { _ in .init(bytes: [], ending: .hold) }
        try await hooks.end("a", daemon: daemon)
        let command = try await post(to: "\(origin.baseURL)/", ["--timeout", "1h"])
        try await eventually("the request") { origin.requests.count == 1 ? true : nil }
        command.send(SIGTERM)
        try await eventually("the stop") { command.text("errors").isEmpty ? nil : true }
        command.send(SIGTERM)
        let result = try await command.result()
        #expect(result.exit == 0)
        #expect(
            result.errors == """
                darkroom: stopping: the call for a may run for 30.0 s more
                darkroom: a: the call was ended; the next start calls again

                """)
    }
}
