import Foundation
import TestSupport
import Testing

/// What the whole daemon fetches, what it says to whom, and what it tells of that.
@Suite(.fewAtATime) struct FetchRuleTests {
    /// Without a word in the configuration, this machine is no source.
    @Test func refusesThisMachineByDefault() async throws {
        let (fixture, daemon) = try await DaemonFixture.running(["downloads.allowNetworks": "[]"])
        let place = "127.0.0.1:\(fixture.origin.port)"
        let sources = [
            "plain": "http://\(place)/0.png",
            "user": "http://ann:secret@\(place)/0.png?token=secret",
            "short": "http://127.1:\(fixture.origin.port)/0.png",
            "mapped": "http://[::ffff:127.0.0.1]:\(fixture.origin.port)/0.png",
            "name": "http://localhost:\(fixture.origin.port)/0.png",
        ]
        let status = try await fixture.finish(
            "here", images: sources.map { ($0.key, $0.value) }, daemon)
        #expect(Set(status.images.map(\.error?.code)) == ["address-forbidden"])
        #expect(status.images.allSatisfy { $0.error?.isTransient == false })
        let told = try #require(try status.image("user").error?.message)
        #expect(
            told.hasPrefix(
                "http://\(place)/0.png?…: the address 127.0.0.1 is not global unicast (loopback)"))
        #expect(try await daemon.stop() == .exited(0))
        #expect(!daemon.outputText.contains("secret"))
        #expect(
            !String(decoding: try fixture.spool.bytes("outbox/here/status.json"), as: UTF8.self)
                .contains("secret"))
        #expect(try fixture.origin.requests().isEmpty)
    }

    @Test func refusesHostsByName() async throws {
        let (fixture, daemon) = try await DaemonFixture.running([
            "downloads.allowHosts": "[127.0.0.1, '*.example.org']",
            "downloads.denyHosts": "bad.example.org",
        ])
        try fixture.drop(
            "hosts",
            images: [
                ("good", fixture.url("0.png")), ("other", "http://other.example.net/a.png"),
                ("bad", "http://BAD.example.org./a.png"),
            ])
        let status = try await fixture.spool.finish("hosts", daemon)
        #expect(try status.image("good").state == .filtered)
        #expect(try status.image("other").error?.code == "host-forbidden")
        let bad = try #require(try status.image("bad").error)
        #expect(bad.code == "host-forbidden")
        #expect(bad.message.contains("downloads.denyHosts contains bad.example.org"))
    }

    /// The service manager's credential, read again by HUP; no value of it comes out anywhere.
    @Test func sendsHeadersToTheirOrigin() async throws {
        let fixture = try DaemonFixture()
        let other = try NginxOrigin(documentRoot: fixture.documents.path)
        let credentials = try ScratchDirectory()
        let file = credentials.path + "/headers"
        func write(_ value: String) throws {
            try "http://127.0.0.1:\(fixture.origin.port): {Authorization: \(value)}\n"
                .write(toFile: file, atomically: false, encoding: .utf8)
        }
        try write("Bearer secret-one")
        chmod(file, 0o604)
        let daemon = try await fixture.run(environment: ["CREDENTIALS_DIRECTORY": credentials.path])
        try await daemon.says("\(file) contains secrets, but every user")
        try await fixture.complete(
            "one", images: [("a", fixture.url("0.png")), ("b", "\(other.baseURL)/1.png")], daemon)

        try write("Bearer secret-two")
        try await daemon.reload()
        try await fixture.complete("two", images: [("a", fixture.url("2.png"))], daemon)

        // A mistake leaves what was.
        try write("[secret-three]")
        try await daemon.reload()
        try await daemon.says("headers:1: ")
        try await fixture.complete("three", images: [("a", fixture.url("3.png"))], daemon)
        #expect(try await daemon.stop() == .exited(0))
        #expect(!daemon.outputText.contains("secret-"))

        fixture.origin.stop()
        other.stop()
        let sent = try fixture.origin.requests().map { "\($0.path) \($0.authorization)" }
        #expect(
            sent.sorted() == [
                "/0.png Bearer secret-one", "/2.png Bearer secret-two", "/3.png Bearer secret-two",
            ])
        #expect(try other.requests().map(\.authorization) == ["-"])
    }

    @Test func printsNoPasswordOfTheProxy() async throws {
        let (ending, output) = try await DaemonProcess.end(
            arguments: [
                "--check-config", "--spool", "/tmp/darkroom", "--set",
                "downloads.proxy=http://ann:secret@proxy:3128",
            ])
        #expect(ending == .exited(0))
        #expect(output.contains("downloads.proxy: http://proxy:3128"))
        #expect(!output.contains("secret"))
    }
}
