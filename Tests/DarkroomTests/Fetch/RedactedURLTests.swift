import Testing

@testable import DarkroomCore
@testable import DarkroomFetch

struct RedactedURLTests {
    static let sources = [
        // Well-formed.
        ("https://host/a/b.png", "https://host/a/b.png"),
        ("https://host", "https://host"),
        ("https://host:8443/a.png", "https://host:8443/a.png"),
        ("http://[::1]:8080/a.png", "http://[::1]:8080/a.png"),
        ("https://ann:secret@host/a.png", "https://host/a.png"),
        ("https://secret@host/a.png", "https://host/a.png"),
        ("https://ann:secret@host:80/a.png", "https://host:80/a.png"),
        ("https://ann:secret@[::1]:80/a.png", "https://[::1]:80/a.png"),
        ("https://host/a.png?token=secret", "https://host/a.png?…"),
        ("https://host?token=secret", "https://host?…"),
        ("https://host/a.png#secret", "https://host/a.png#…"),
        ("https://host/a.png?x=1#secret", "https://host/a.png?…"),
        ("https://ann:secret@host/a?b=secret", "https://host/a?…"),
        ("https://host/@ann/a.png", "https://host/@ann/a.png"),
        ("https://host/a.png?mail=secret@x", "https://host/a.png?…"),
        ("https://host:80/a.png?t=12:30", "https://host:80/a.png?…"),
        ("HTTPS://ann:secret@Host/a.png", "HTTPS://Host/a.png"),
        ("file:///srv/a.png", "file:///srv/a.png"),
        ("file:///srv/a@b.png", "file:///srv/a@b.png"),
        ("file://ann:secret@host/a.png", "file://host/a.png"),
        ("file:/srv/a.png", "file://srv/a.png"),
        ("ftp://ann:secret@host/a.png", "ftp://host/a.png"),
        ("data:image/png;base64,AAAA", "data:image/png;base64,AAAA"),
        // Paths.
        ("night.png", "night.png"),
        ("photos/night #3.png", "photos/night #3.png"),
        ("/srv/photos/ann@home.png", "/srv/photos/ann@home.png"),
        ("host/a.png?token=secret", "host/a.png?…"),
        ("", ""),
        ("https://host/a%40b.png", "https://host/a%40b.png"),
        ("https://host/a%3Ab.png", "https://host/a%3Ab.png"),
        ("50%.png", "50%.png"),
        // Escaped whole.
        ("https://ann%3Asecret%40host/a.png", "https://…"),
        ("https://ann%3asecret%40host/a.png", "https://…"),
        ("https://ann%253Asecret%2540host/a.png", "https://…"),
        ("https://ann%25253Asecret%252540host/a.png", "https://…"),
        ("https://secret%40host/a.png", "https://…"),
        ("https://host/http%3A%2F%2Fann%3Asecret%40inner/a.png", "https://host/…"),
        ("https://host/ann:secret%40inner/a.png", "https://host/…"),
        ("https://host/ann%3Asecret@inner/a.png", "https://host/…"),
        ("https://ann:sec/ret%40host/a.png", "https://…"),
        ("ann:secret%40host/a.png", "…"),
        ("ann%3Asecret%40host/a.png", "…"),
        // Malformed, or read otherwise by another program.
        ("https://ann:sec/ret@host/a.png", "https://…"),
        ("https://ann:sec?ret@host/a.png", "https://…"),
        ("https://ann:sec#ret@host/a.png", "https://…"),
        ("https://ann:12/secret@host/a.png", "https://…"),
        ("https://ann:secret", "https://…"),
        ("https://ann:sec@ret@host/a.png", "https://host/a.png"),
        ("https://ann@secret:secret@host/a", "https://host/a"),
        ("https:/ann:secret@host/a.png", "https://host/a.png"),
        ("https:///ann:secret@host/a.png", "https://host/a.png"),
        ("https:////ann:secret@host/a.png", "https://host/a.png"),
        (#"https:\\ann:secret@host/a.png"#, "https://host/a.png"),
        ("https:ann:secret@host/a.png", "…"),
        ("ann:secret@host/a.png", "…"),
        ("//ann:secret@host/a.png", "…"),
        (" https://ann:secret@host/a.png", "…://host/a.png"),
        ("1https://ann:secret@host/a.png", "…://host/a.png"),
        ("ht tps://ann:secret@host/a.png", "…://host/a.png"),
        ("ht\ntps:ann:secret@host", "…"),
        ("https://ann:secret@\u{301}host/a.png", "https://\u{301}host/a.png"),
        ("https://host/?\u{301}secret", "https://host/?…"),
        ("https://web/2020/http://ann:secret@host/a.png", "https://web/…"),
        ("https://host/a:secret@b/c", "https://host/…"),
        ("https://host/a\u{1B}[31m\nb", "https://host/a�[31m�b"),
        ("https://host/a\u{202E}gnp.b", "https://host/a�gnp.b"),
    ]

    @Test(arguments: sources)
    func shows(source: String, expected: String) {
        let shown = RedactedURL(source).description
        #expect(Array(shown.unicodeScalars) == Array(expected.unicodeScalars))
        #expect(!shown.contains("sec") && !shown.contains("ret@"))
    }

    @Test func cutsWhatIsTooLong() {
        let shown = RedactedURL("https://host/" + String(repeating: "a", count: 1_000_000))
        #expect(shown.description == "https://host/" + String(repeating: "a", count: 1011) + "…")
    }

    @Test func doesNotShowSecretsWhenPrinted() throws {
        let url = try RemoteURL("https://ann:secret@host/a?token=secret")
        let reference = SourceReference.remote(url)
        for text in ["\(url)", "\(reference)", String(reflecting: url), "\([url])"] {
            #expect(text.contains("https://host/a?…"))
            #expect(!text.contains("secret"))
        }
    }
}
