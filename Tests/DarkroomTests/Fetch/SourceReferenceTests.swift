import Testing

@testable import DarkroomCore
@testable import DarkroomFetch

struct SourceReferenceTests {
    @Test(arguments: [
        ("https://host/a.png", "https://host/a.png"),
        ("HTTP://host", "HTTP://host"),
        ("https://ann:pw@host:8443/a?b#c", "https://ann:pw@host:8443/a?b#c"),
        ("https://host/night sky.png", "https://host/night%20sky.png"),
        ("https://host/Nächte/é?q=ü", "https://host/N%C3%A4chte/%C3%A9?q=%C3%BC"),
        ("https://bücher.example/a", "https://bücher.example/a"),
        ("https://host/%20?%41", "https://host/%20?%41"),
        ("http://[::1]/a", "http://[::1]/a"),
    ])
    func takesRemoteSources(source: ByteString, text: ByteString) throws {
        guard case .remote(let url) = SourceReference(source) else {
            Issue.record("not remote")
            return
        }
        #expect(url.text == text && url.written == source)
    }

    @Test(arguments: [
        ("file:///srv/night.png", "/srv/night.png"),
        ("file://localhost/srv/night.png", "/srv/night.png"),
        ("FILE://LocalHost/srv/night.png", "/srv/night.png"),
        ("file:/srv/night.png", "/srv/night.png"),
        ("file:///srv/night%20sky%3F%c3%a9.png", "/srv/night sky?é.png"),
        ("file:///srv/é.png", "/srv/é.png"),
        ("file:///", "/"),
    ])
    func takesFileURLs(source: ByteString, path: String) {
        let reference = SourceReference(source)
        #expect(reference.localPath == path && reference.text == source)
    }

    @Test(arguments: [
        "night.png", "photos/night.png", "../night.png", "/srv/night.png", "./a:b.png",
        "photos/12:30.png", "12:30.png", "50%.png",
    ])
    func takesPaths(path: String) { #expect(SourceReference(ByteString(path)).localPath == path) }

    /// `HostileURLTests` has more of them.
    @Test(arguments: [
        "a\0b.png", "http://host/a\tb", "file:srv/night.png", "file:", "file://",
        "file://otherhost/srv/night.png", "file://localhost", "file://127.0.0.1/srv/night.png",
        "file:///srv/a.png?x", "file:///srv/a.png#x", "file:///srv/%", "file:///srv/%2",
        "file:///srv/%zz", "file:///srv/%00a", "file:///srv/%ff.png", "a:b.png",
    ])
    func refuses(source: ByteString) {
        guard case .refused(source, let error) = SourceReference(source) else {
            Issue.record("not refused")
            return
        }
        #expect(error.kind == (source == "a:b.png" ? .unsupportedScheme : .badURL))
        #expect(!error.isTransient)
    }

    @Test(arguments: [
        "ftp://ann:secret@host/a", "http:ann:secret@host", "ann:secret@host/a",
        "http://ann:secret/a", "http://host:99999999/a?secret",
    ])
    func refusesWithoutSecrets(source: ByteString) {
        guard case .refused(_, let error) = SourceReference(source) else {
            Issue.record("not refused")
            return
        }
        #expect(!"\(error)".contains("secret"))
    }

    @Test func areEqualByTheirBytes() {
        // One is composed, the other is not; Swift's strings are equal then.
        #expect(SourceReference("\u{E9}.png") != SourceReference("e\u{301}.png"))
        #expect(SourceReference("file:///a") != SourceReference("/a"))
        #expect(SourceReference("ftp://h/a") == SourceReference("ftp://h/a"))
    }

    @Test(arguments: [
        ("http://h/a b#c", "http://h/a%20b"), ("http://h/a", "http://h/a"), ("a#b", "a#b"),
    ])
    func areOfOneContent(source: ByteString, content: ByteString) {
        #expect(SourceReference(source).content == content)
    }

    /// A manifest has up to a million of them.
    @Test func areSmall() {
        #expect(MemoryLayout<SourceReference>.stride <= 40)
    }

    @Test(
        arguments: [
            ("http://h/a.png", "h:80"), ("HTTPS://H/a.png", "h:443"), ("http://h:8080/", "h:8080"),
            ("http://h:?x", "h:80"), ("http://ann:pw@h/a@b", "h:80"), ("http://a@b@h", "h:80"),
            ("http://[::1]/a", "[::1]:80"), ("https://[::1]:8443#a", "[::1]:8443"),
            ("http:///a", nil), ("http:h", nil), ("ftp://h/a", nil), ("a/b.png", nil), ("", nil),
            ("file:///a", nil), ("https:", nil),
        ] as [(ByteString, ByteString?)])
    func tellsTheHost(source: ByteString, host: ByteString?) {
        #expect(SourceReference.host(of: source) == host)
    }
}
