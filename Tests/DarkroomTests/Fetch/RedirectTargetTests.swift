import TestSupport
import Testing

@testable import DarkroomCore
@testable import DarkroomFetch

/// Where a redirect leads whose Location is no valid URL, as servers send them.
@Suite(.tags(.concurrency)) struct RedirectTargetTests {
    private static func latin1(_ text: String) -> [UInt8] {
        text.unicodeScalars.map { UInt8($0.value) }
    }

    @Test(
        arguments: [
            ("/a", "/a"), ("caf\u{E9}.png", "caf%E9.png"), ("/a b?c d#e f", "/a%20b?c%20d#e%20f"),
            ("http://a/\u{FF}?\u{80}", "http://a/%FF?%80"), ("//a\\b/\u{E9}", "//a\\b/%E9"),
            ("http://a b/", "http://a b/"), ("/%e9%zz\u{E9}", "/%e9%zz%E9"),
            ("\u{E9}://a/", "%E9://a/"), ("?\u{E9}//b", "?%E9//b"), ("a:\u{E9}", "a:%E9"),
            // In a host they are not escaped: a name is UTF-8.
            ("http://h\u{E9}st/", nil), ("//\u{E9}", nil), ("/a\u{0}", nil),
        ] as [(String, ByteString?)])
    func escapes(text: String, target: ByteString?) {
        #expect(RedirectTarget.text(Self.latin1(text)[...]) == target)
    }

    /// The server gets the bytes that it has sent.
    @Test(arguments: [
        ("/caf\u{E9}.png", "/caf%E9.png"), ("/a b.png?q=a b#x", "/a%20b.png?q=a%20b"),
        ("\u{FF}\u{FE}", "/x/%FF%FE"), ("?\u{80}", "/x/a?%80"), ("../a%2Fb", "/a%2Fb"),
    ])
    func sendsTheBytesBack(location: String, path: String) async throws {
        let origin = try ScriptedOrigin { request in
            request.path == "/x/a" ? Self.found(location) : .picture()
        }
        _ = try await EngineFixture().fetch("\(origin.baseURL)/x/a").get()
        #expect(origin.requests.map(\.path) == ["/x/a", path])
    }

    /// Bytes that are not UTF-8 hide no host.
    @Test(arguments: [
        ("http://10.1.2.3/\u{E9}", FetchError.Code.addressForbidden),
        ("//169.254.169.254/\u{E9}?\u{FF}", .addressForbidden),
        ("http:\\\\10.1.2.3\\\u{E9}", .badURL), ("http://10.1.2.3\u{E9}/", .badResponse),
        ("ftp://127.0.0.1/\u{E9}", .unsupportedScheme),
        ("http://\u{E9}@10.1.2.3/", .badResponse),
    ])
    func judgesTheHost(location: String, code: FetchError.Code) async throws {
        let origin = try ScriptedOrigin { _ in Self.found(location) }
        let error = try await EngineFixture().fetch("\(origin.baseURL)/a").failure
        #expect(error?.kind == code, "\(error?.message ?? "")")
        #expect(origin.requests.count == 1)
    }

    private static func found(_ location: String) -> ScriptedOrigin.Reply {
        ScriptedOrigin.Reply(
            bytes: latin1(
                "HTTP/1.1 302 Found\r\nContent-Length: 0\r\nLocation: \(location)\r\n\r\n"))
    }
}
