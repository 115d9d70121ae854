import Testing

@testable import DarkroomCore
@testable import DarkroomFetch

/// What a server has said of a URL, and what it says now.
struct RemoteIdentityTests {
    private static func url(_ text: String = "https://h/a?b=c") throws -> RemoteURL {
        try RemoteURL(ByteString(text))
    }

    private static func head(_ lines: [String]) throws -> ResponseHead {
        var head = try #require(ResponseHead(statusLine: Array("HTTP/1.1 200 OK\r\n".utf8)))
        for line in lines { head.take(line: Array("\(line)\r\n".utf8)) }
        return head
    }

    private static func identity(
        _ tag: String? = nil, modified: String? = nil, target: String? = nil,
        of text: String = "https://h/a?b=c"
    ) throws -> RemoteIdentity {
        let validators = Validators(
            entityTag: tag.map { ByteString($0) }, lastModified: modified.map { ByteString($0) })
        return try #require(RemoteIdentity(validators, of: url(text), target: target))
    }

    @Test func comesBackFromItsText() throws {
        for identity in [
            try Self.identity("\"1\""), try Self.identity("W/\"1\"", target: "0f"),
            try Self.identity(modified: "Sun, 06 Nov 1994 08:49:37 GMT"),
        ] {
            #expect(RemoteIdentity(identity.text) == identity)
            #expect(try identity.isOf(Self.url()))
        }
        for text in [
            "", "url", "2049-1-2", "url\netag: 1", "url\nother: 1", "url\netag: \"\u{7F}\"",
        ] {
            #expect(RemoteIdentity(text) == nil)
        }
    }

    @Test(arguments: [
        ("https://h/a?b=c#d", true), ("https://u:p@h/a?b=c", true), ("https://h/a?b=d", false),
        ("https://h/b?b=c", false), ("http://h/a?b=c", false), ("https://h@i/a?b=c", false),
    ]) func isOfOneURL(text: String, isSame: Bool) throws {
        let identity = try Self.identity("\"1\"")
        #expect(try identity.isOf(Self.url(text)) == isSame)
        #expect(try RemoteIdentity.isOfOther(identity.text, than: Self.url(text)) != isSame)
        #expect(
            try RemoteIdentity.isOfOther(RemoteIdentity.text(of: Self.url()), than: Self.url(text))
                != isSame)
    }

    /// Before it had a digest of its URL.
    @Test func anOlderTextIsOfNoURL() throws {
        let older = try #require(RemoteIdentity("url\netag: \"1\""))
        #expect(try !older.isOf(Self.url()))
        #expect(try !RemoteIdentity.isOfOther(older.text, than: Self.url()))
    }

    @Test func describesTheSameContent() throws {
        let date = "Sun, 06 Nov 1994 08:49:37 GMT"
        let (strong, weak, dated) = (
            try Self.identity("\"1\""), try Self.identity("W/\"1\""),
            try Self.identity(modified: date)
        )
        #expect(strong.describes(strong) && weak.describes(weak) && dated.describes(dated))
        #expect(try strong.describes(Self.identity("\"1\"", modified: date)))
        #expect(try !strong.describes(Self.identity("\"2\"", modified: date)))
        #expect(try !strong.describes(Self.identity("\"1\"", of: "https://h/b")))
        #expect(!strong.describes(dated) && !strong.describes(weak))
        // A redirect leads somewhere else each time.
        #expect(try strong.describes(Self.identity("\"1\"", target: "0f")))
        #expect(try !weak.describes(Self.identity("W/\"1\"", target: "0f")))
        #expect(try !dated.describes(Self.identity(modified: date, target: "0f")))
    }

    /// A date in the second of the response tells nothing of a later change in that second (RFC 9110, 8.8.2.2).
    @Test(arguments: [
        (["Last-Modified: Sun, 06 Nov 1994 08:49:36 GMT", date], true),
        (["Last-Modified: Sun, 06 Nov 1994 08:49:37 GMT", date], false),
        (["Last-Modified: Sun, 06 Nov 1994 08:49:38 GMT", date], false),
        (["Last-Modified: Sun, 06 Nov 1994 08:49:36 GMT"], false),
        (["Last-Modified: Sun, 06 Nov 1994 08:49:37 GMT", "ETag: \"1\"", date], true),
        ([date], false),
    ]) func aFreshDateProvesNothing(lines: [String], proves: Bool) throws {
        let identity = try RemoteIdentity(Self.head(lines), of: Self.url(), target: nil)
        #expect((identity != nil) == proves)
    }

    private static let date = "Date: Sun, 06 Nov 1994 08:49:37 GMT"
}
