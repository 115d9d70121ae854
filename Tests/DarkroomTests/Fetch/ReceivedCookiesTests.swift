import Foundation
import TestSupport
import Testing

@testable import DarkroomCore
@testable import DarkroomFetch

/// Cookies of redirects: who gets them, and how many there are.
@Suite(.tags(.concurrency)) struct ReceivedCookiesTests {
    static let now = HTTPDate(secondsSince1970: 784_111_777)
    static let shop = Origin(scheme: "https", host: "shop.example.org")

    private func field(
        _ lines: [String], from: Origin = shop, at path: ByteString = "/x/a",
        to: Origin = shop, for next: ByteString = "/x/a", configured: String? = nil
    ) -> String? {
        var cookies = ReceivedCookies()
        for line in lines {
            cookies.take(Array(line.utf8)[...], from: from, path: path, now: Self.now)
        }
        let field = cookies.field(for: to, path: next, configured: configured)
        #expect(cookies.wereSent == (field != configured))
        return field
    }

    @Test(
        arguments: [
            (["a=1"], "a=1"), (["a=1; Path=/; HttpOnly; SameSite=Lax"], "a=1"), (["a="], "a="),
            ([" a = 1 ;path=/x"], "a=1"), (["a=b=c"], "a=b=c"), (["a=1", "b=2"], "a=1; b=2"),
            (["a=1", "a=2"], "a=2"), (["a=1; Path=/", "b=2; Path=/x"], "b=2; a=1"),
            (["a=1; Domain=.example.org"], "a=1"), (["a=1; Domain=SHOP.example.org"], "a=1"),
            (["a=1; Domain="], "a=1"), (["a=1; Secure"], "a=1"), (["a=1; Path=x"], "a=1"),
            (["a=1; Max-Age=5; Expires=Thu, 01-Jan-1970 00:00:01 GMT"], "a=1"),
            (["a=1; Expires=Sun, 06-Nov-1994 08:49:38 GMT"], "a=1"), (["a=é"], "a=é"),
            (["a=1; Expires=soon"], "a=1"), (["__Host-a=1; Secure; Path=/"], "__Host-a=1"),
            // None, or one that is not valid any more.
            (["a"], nil), ([""], nil), (["=1"], nil), (["a=1\u{1}"], nil), (["a=1; Path=/y"], nil),
            (["a=1; Path=/x/a/"], nil), (["a=1; Domain=example.com"], nil),
            (["a=1; Domain=p.example.org"], nil), (["a=1; Domain=op.example.org"], nil),
            (["a=1; Max-Age=0"], nil), (["a=1; Max-Age=-1"], nil), (["a=1", "a=; Max-Age=0"], nil),
            (["a=1", "a=; Expires=Thu, 01-Jan-1970 00:00:01 GMT"], nil),
            (["a=1; Expires=Sun, 06 Nov 1994 08:49:37 GMT"], nil), (["__Secure-a=1"], nil),
            (["__Host-a=1; Secure"], nil),
            (["__Host-a=1; Secure; Path=/; Domain=example.org"], nil),
        ] as [([String], String?)])
    func follows(lines: [String], cookies: String?) {
        #expect(field(lines) == cookies)
    }

    @Test(arguments: [
        (Origin(scheme: "https", host: "shop.example.org"), true),
        (Origin(scheme: "https", host: "SHOP.example.org."), true),
        (Origin(scheme: "http", host: "shop.example.org"), false),
        (Origin(scheme: "https", host: "shop.example.org", port: 8443), false),
        (Origin(scheme: "https", host: "example.org"), false),
        (Origin(scheme: "https", host: "a.shop.example.org"), false),
    ])
    func returnToTheirOriginOnly(origin: Origin, isSame: Bool) {
        #expect((field(["a=1; Domain=example.org; Path=/"], to: origin) != nil) == isSame)
    }

    @Test func needTLSIfTheySayso() {
        let plain = Origin(scheme: "http", host: "shop.example.org")
        #expect(field(["a=1; Secure", "b=2"], from: plain, to: plain) == "b=2")
    }

    @Test(
        arguments: [
            ("/x/a", "/x/b", true), ("/x/a", "/x", true), ("/x/a", "/xa", false),
            ("/a", "/b/c", true),
            ("/x/y/a", "/x/a", false), ("a", "/b", true),
        ] as [(ByteString, ByteString, Bool)])
    func haveTheFolderOfTheirURL(path: ByteString, next: ByteString, isSent: Bool) {
        #expect((field(["a=1"], at: path, for: next) != nil) == isSent)
    }

    @Test func standBesideTheConfiguredOnes() {
        #expect(field(["a=1", "b=2"], configured: "b=x; c=3") == "b=x; c=3; a=1")
        #expect(field(["b=2"], configured: "b=x") == "b=x")
        #expect(field([], configured: "b=x") == "b=x")
    }

    @Test func areFewAndSmall() {
        let many = (0..<100).map { "a\($0)=1" }
        #expect(field(many)?.split(separator: ";").count == ReceivedCookies.maximumCount)
        let long = String(repeating: "x", count: 4000)
        #expect(field(["a=\(long)"])?.utf8.count == 4002)
        #expect(field(["a=\(long)\(long)"]) == nil)
        #expect(field((0..<20).map { "a\($0)=\(long)" })?.split(separator: ";").count == 2)
        #expect("\(ReceivedCookies())" == "0 cookies")
    }

    // MARK: Within transfers

    /// A redirect to the same URL, until the request has its cookie. The next transfer begins without it.
    @Test func answerARedirectToTheSameURL() async throws {
        let origin = try ScriptedOrigin { request in
            request.fields["cookie"] == "c=1"
                ? .picture() : .found(request.path, ["Set-Cookie: c=1; Path=/"])
        }
        let fixture = try EngineFixture()
        for _ in 0..<2 {
            let report = try await fixture.fetch("\(origin.baseURL)/p.png").get()
            #expect(try EngineFixture.content(report) == DocumentRoot.content(0))
            #expect(report.sentCookies)
            #expect(report.redirects == 1)
        }
        #expect(origin.requests.map { $0.fields["cookie"] } == [nil, "c=1", nil, "c=1"])
    }

    /// Other origins get none, and pages of errors and hints set none.
    @Test func goNowhereElse() async throws {
        let other = try ScriptedOrigin { _ in .picture(["Set-Cookie: d=2"]) }
        let first = try ScriptedOrigin { request in
            .found("\(other.baseURL)/b.png", ["Set-Cookie: c=1; Path=/; Domain=127.0.0.1"])
        }
        let fixture = try EngineFixture()
        let report = try await fixture.fetch("\(first.baseURL)/a.png").get()
        #expect(!report.sentCookies)
        #expect(other.requests.map { $0.fields["cookie"] } == [nil])
    }
}
