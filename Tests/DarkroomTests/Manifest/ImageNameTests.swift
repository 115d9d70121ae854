import Testing

@testable import DarkroomCore
@testable import DarkroomManifest

struct ImageNameTests {
    @Test(arguments: [
        "a", "a.png", "a b", "-", "~", "photo.tar.gz", "Ünïcødé 😀", "a\\b", "statusXjson", "status",
        "my-manifest.json", "manifests", ByteString(String(repeating: "a", count: 200)),
        ByteString(String(repeating: "é", count: 100)),
    ])
    func acceptsNames(name: ByteString) {
        #expect(ImageName.fault(of: name) == nil)
    }

    /// What is wrong with names.
    static let faults: [(String, [ByteString])] = [
        ("is empty", [""]), ("contains a slash", ["a/b", "/"]),
        (
            "contains a control character",
            ["a\0b", "a\n", "a\u{7F}", "a\u{85}", "a\u{2028}", "gpj.\u{202E}a", "a\u{61C}"]
        ),
        ("begins with a dot", [".", "..", ".a"]),
        (
            "is the name of a file that Darkroom writes",
            // The output of the last one would be manifest.png.
            ["status.json", "Status.JSON", "manifest.yaml", "MANIFEST.x", "manifest.", "manifest"]
        ),
        ("has 201 bytes; the limit is 200", [ByteString(String(repeating: "a", count: 201))]),
        ("has 202 bytes; the limit is 200", [ByteString(String(repeating: "é", count: 101))]),
    ]

    @Test(arguments: faults) func refusesNames(fault: String, names: [ByteString]) {
        for name in names { #expect(ImageName.fault(of: name) == fault, "\(name)") }
    }

    static let sources: [(ByteString, ByteString)] = [
        ("https://example.org/a/galaxy.png", "galaxy"),
        ("https://example.org/galaxy.JPEG?size=2/3#top", "galaxy"),
        ("https://example.org/galaxy.png.png", "galaxy.png"),
        // What has to be hidden of a URL is hidden of what looks like one.
        (" https://example.org/galaxy.png?token=secret", "galaxy"),
        ("http:ann:secret@example.org", "image"),
        ("https://example.org/galaxy.tar", "galaxy.tar"),
        ("https://example.org/id/200/300", "300"),
        ("https://example.org/a/b/", "b"),
        ("https://example.org/", "image"),
        ("https://example.org", "image"),
        ("https://example.org?x=/y.png", "image"),
        ("https://example.org/a%20b%2Fc%00.gif", "a b_c_"),
        ("https://example.org/%C3%A9%FF%+1%4", "é_%+1%4"),
        ("https://example.org/.png", "_png"),
        ("https://example.org/..%2f..", "_._.."),
        ("https://example.org/status.json", "_status.json"),
        ("https://example.org/Manifest.png", "_Manifest"),
        ("file:///pictures/m31.heic", "m31"),
        ("pictures/m31.webp", "m31"),
        // A picture's ending too, but names have always kept it.
        ("pictures/m31.jxl", "m31.jxl"), ("pictures/m31.jpe", "m31.jpe"),
        ("m31%20.tif", "m31%20"),
        ("a#b.bmp", "a#b"),
        // URLs with a slip, whose secrets are no names.
        ("http//example.org/a.png?token=secret", "a"),
        ("example.org/a.png?token=secret", "a"),
        ("https//ann:secret@example.org", "image"),
        ("https//ann:se?cret@example.org/a.png", "image"),
        ("ann:se/cret@example.org/a.png", "image"),
        ("ann:se?cret@example.org/a.png", "image"),
        ("<https://example.org/a.png#token=secret", "a"),
        ("https://example.org/http://ann:secret@example.org", "image"),
        ("photos/12:30@home.png", "image"),
        ("./.hidden", "_hidden"),
        // To Unicode the sign and the dot are one character.
        ("\u{600}.png", "\u{600}"),
        ("https://example.org/%D8%80.JPEG", "\u{600}"),
        (
            "https://example.org/\(String(repeating: "é", count: 150)).avif",
            "\(String(repeating: "é", count: 100))"
        ),
        (
            "https://example.org/a\(String(repeating: "\u{301}", count: 150))",
            "a\(String(repeating: "\u{301}", count: 99))"
        ),
    ]

    @Test(arguments: sources)
    func derivesNames(source: ByteString, name: ByteString) {
        #expect(ImageName.derived(from: source) == name)
        #expect(ImageName.fault(of: name) == nil)
    }

    /// Whatever hides a secret from those who read the journal hides it from those who read names.
    @Test(arguments: RedactedURLTests.sources.map(\.0))
    func derivesNoSecrets(source: String) {
        let name = ImageName.derived(from: ByteString(source))
        #expect(!name.contains("sec") && !name.contains("ret"))
    }

    @Test func numbersDerivedNamesThatCollide() throws {
        let text = """
            {"images": [
                "x/a.png", "y/a.jpg", {"name": "a-2", "source": "b"}, "z/a", "h.png.png", "i/h.png.gif",
                {"source": "w/a.bmp"}, {"name": "a.PNG", "source": "c"}
            ]}
            """
        let names = try read(text).images.map(\.name)
        #expect(names == ["a", "a-3", "a-2", "a-4", "h.png", "h-2.png", "a-5", "a.PNG"])
    }

    @Test func numbersLongNamesWithinTheLimit() throws {
        let long = String(repeating: "é", count: 100)
        let names = try read("{\"images\": [\"x/\(long)\", \"y/\(long)\"]}").images.map(\.name)
        #expect(names.map(\.string) == [long, String(repeating: "é", count: 99) + "-2"])
        #expect(names.allSatisfy { ImageName.fault(of: $0) == nil })
    }
}
