import Foundation
import TestSupport
import Testing

/// Runs what the cookbook and the manual show of notifications: a mail, a web hook, and a check of its signature.
@Suite(.fewAtATime) struct NotificationExamplesTests {
    private let place: ManualFixture

    init() throws {
        place = try ManualFixture()
        for example in try MarkdownDocument("etc/doc/cookbook.md").examples("script")
        where ["darkroom-mail", "check-signature"].contains(example.words[0]) {
            let path = place.work.appending(path: example.words[0]).path
            try Data(example.text.utf8).write(to: URL(filePath: path))
            chmod(path, 0o755)
        }
    }

    private func example(_ word: String) throws -> String {
        let examples = try MarkdownDocument("etc/doc/cookbook.md").examples("notify")
        #expect(examples.count == 3)
        return try #require(examples.first { $0.words == [word] }).text
            .trimmingCharacters(in: .newlines)
    }

    /// Begins a command line of the cookbook with a cursor of its own.
    private func begin(_ line: String) throws -> ManualFixture.Script {
        try place.begin("exec \(line)".replacing("--finished", with: "--finished --cursor cursor"))
    }

    private func end(_ script: ManualFixture.Script) async throws -> String {
        kill(script.process.processIdentifier, SIGTERM)
        let (code, output) = try await place.end(of: script)
        #expect(code == 0)
        return output
    }

    private func endBatch(_ daemon: DaemonProcess) async throws {
        try await eventually("the cursor") {
            FileManager.default.fileExists(atPath: place.work.appending(path: "cursor").path)
                ? true : nil
        }
        try await place.fixture.finish(
            "holiday", images: [("a", place.fixture.url("0.png"))], daemon)
    }

    @Test func aMailIsSent() async throws {
        let server = try MailServer()
        defer { server.stop() }
        let script = place.work.appending(path: "darkroom-mail")
        let text = try String(contentsOf: script, encoding: .utf8)
        #expect(text.contains("smtp://localhost "))
        try Data(
            text.replacing("smtp://localhost ", with: "smtp://127.0.0.1:\(server.port) ").utf8
        ).write(to: script)
        let daemon = try await place.run()
        let command = try begin(try example("mail"))
        try await endBatch(daemon)
        let mail = try await eventually("a mail") { server.mails.first }
        #expect(mail.sender == "<darkroom@localhost>" && mail.recipient == "<anna@example.org>")
        #expect(
            mail.lines == [
                "From: darkroom@localhost", "To: anna@example.org", "Subject: holiday: completed",
                "", "1 of 1 images are done.", "Folder: \(place.fixture.spool.path)/outbox/holiday",
            ])
        let output = try await end(command)
        // If the call had not ended yet, it says before that it waits for it.
        #expect(output.contains("holiday: completed, 1 image in "), "\(output)")
    }

    @Test func aWebServerChecksTheSignature() async throws {
        let origin = try ScriptedOrigin { _ in
            ScriptedOrigin.Reply(["HTTP/1.1 200 OK", "Content-Length: 0"])
        }
        let daemon = try await place.run()
        #expect(try place.shell(try example("key")) == (0, ""))
        let line = try example("post")
        #expect(line.contains("https://www.example.org/hook "))
        let command = try begin(
            line.replacing("https://www.example.org", with: origin.baseURL)
                + " --allow-network 127.0.0.0/8")
        try await endBatch(daemon)
        let request = try await eventually("a request") { origin.requests.first }
        #expect(request.path == "/hook")
        let output = try await end(command)
        // If the call had not ended yet, it says before that it waits for it.
        #expect(output.contains("holiday: completed, 1 image in "), "\(output)")
        func check(_ changes: [String: String] = [:], body: String? = nil) throws -> Int32 {
            let fields = request.fields.merging(changes) { $1 }
            let values = ["webhook-id", "webhook-timestamp", "webhook-signature"].map {
                fields[$0] ?? ""
            }
            try Data((body ?? String(decoding: request.body, as: UTF8.self)).utf8).write(
                to: place.work.appending(path: "body"))
            return try place.shell(
                "./check-signature webhook.key \(values.joined(separator: " ")) <body"
            ).code
        }
        #expect(try check() == 0)
        #expect(try check(body: "{}") == 1)
        #expect(try check(["webhook-id": "end_0"]) == 1)
        #expect(try check(["webhook-signature": "v1,AAAA"]) == 1)
        #expect(try check(["webhook-timestamp": "1700000000"]) == 1)
    }
}
