import Foundation
import TestSupport
import Testing

/// Texts that are made to be costly to compare: long runs of combining marks, which `String` puts in order first, in a
/// time that grows with the square of how many they are.
@Suite(.fewAtATime) struct TextAttackTests {
    /// `a` with so many bytes of marks behind it, in one order or the other. To `String` both are the same.
    private static func marks(_ bytes: Int, turned: Bool = false) -> String {
        "a" + String(repeating: turned ? "\u{316}\u{301}" : "\u{301}\u{316}", count: bytes / 4)
    }

    static let manifests: [(name: String, content: String)] = {
        let long = marks(480_000)
        return [
            ("key.json", #"{"images": ["a.png"], "\#(long)": 1}"#),
            (
                "keys.json",
                #"{"images": {"\#(long)": "a.png", "\#(marks(480_000, turned: true))": "b.png"}}"#
            ),
            ("key.yaml", "images: [a.png]\n? \"\(long)\"\n: 1\n"),
            (
                "key.plist",
                "<plist version=\"1.0\"><dict><key>images</key><array/><key>\(long)</key>"
                    + "<string>a</string></dict></plist>"
            ),
            ("word.json", #"{"images": ["a.png"], "priority": "\#(long)"}"#),
            (
                "filter.json",
                #"{"images": ["a.png"], "filters": ["\#(long)", {"\#(marks(900))": {}}]}"#
            ),
            (
                "colour.json",
                #"{"images": ["a.png"], "filters": [{"flatten": {"background": "\#(long)"}}]}"#
            ),
            (
                "from.json",
                #"{"images": ["a.png", {"name": "b", "from": "\#(long)", "after": ["\#(marks(480_000, turned: true))"]}]}"#
            ),
            // One text, in many places.
            (
                "alias.yaml",
                "priority: &t \"\(long)\"\nimages:\n"
                    + (0..<2000).map { "- {name: n\($0), from: *t, after: [*t]}\n" }.joined()
            ),
        ]
    }()

    @Test(arguments: manifests.indices)
    func manifestsOfMarksHoldUpNobody(row: Int) async throws {
        let (name, content) = Self.manifests[row]
        let (fixture, daemon) = try await DaemonFixture.running(pictures: 1)
        try await fixture.withstands(daemon) { try fixture.spool.drop(name, content) }
        // It has its answer, if not before then after the next start.
        let next = try await fixture.run()
        let status = try await fixture.spool.finish(String(name.prefix { $0 != "." }), next)
        #expect(status.state == .rejected, "\(name)")
    }

    /// 118 URLs, each with a host of its own of some 8 KB.
    @Test func hostsOfMarksHoldUpNobody() async throws {
        let (fixture, daemon) = try await DaemonFixture.running(pictures: 1)
        let images = (0..<118).map {
            (name: "\($0)", source: "http://\(1000 + $0)\(Self.marks(8100))/a.png")
        }
        try await fixture.withstands(daemon) { try fixture.drop("hosts", images: images) }
    }

    @Test func hostsThatNoNameServerKnowsFailWithTheirReason() async throws {
        let (fixture, daemon) = try await DaemonFixture.running(pictures: 1)
        let status = try await fixture.finish(
            "hosts", images: [("a", "http://\(Self.marks(8100))/a.png")], daemon)
        let error = try #require(try status.image("a").error)
        #expect(error.code == "bad-url" && !error.isTransient)
        #expect(error.message.contains("the host is longer than 253 letters"))
        #expect(try await daemon.stop() == .exited(0))
    }

    /// A server that sends two Locations, which are one to `String` but not the same bytes: 20 images of it.
    @Test(arguments: [28_000, 8000])
    func locationsOfMarksHoldUpNobody(bytes: Int) async throws {
        let origin = try ScriptedOrigin(address: "127.0.0.9") { _ in
            ScriptedOrigin.Reply([
                "HTTP/1.1 302 Found", "Content-Length: 0", "Location: /\(Self.marks(bytes))",
                "Location: /\(Self.marks(bytes, turned: true))",
            ])
        }
        let (fixture, daemon) = try await DaemonFixture.running(pictures: 1)
        let images = (0..<20).map { (name: "\($0)", source: "\(origin.baseURL)/\($0).png") }
        try await fixture.withstands(daemon) { try fixture.drop("redirected", images: images) }
    }

    @Test(arguments: [
        (9000, "bad-url", "redirects to a URL of more than 8192 bytes"),
        (8000, "bad-response", "without exactly one Location"),
    ])
    func redirectsFailWithTheirReason(bytes: Int, code: String, words: String) async throws {
        let origin = try ScriptedOrigin(address: "127.0.0.9") { _ in
            ScriptedOrigin.Reply([
                "HTTP/1.1 302 Found", "Content-Length: 0", "Location: /\(Self.marks(bytes))",
                "Location: /\(Self.marks(bytes, turned: true))",
            ])
        }
        let (fixture, daemon) = try await DaemonFixture.running(pictures: 1)
        try fixture.drop("redirected", images: [("a", "\(origin.baseURL)/a.png")])
        let error = try #require(
            try await fixture.spool.finish("redirected", daemon).image("a").error)
        #expect(error.code == code && error.message.contains(words), "\(error)")
        #expect(try await daemon.stop() == .exited(0))
    }
}
