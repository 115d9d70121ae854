import Testing

@testable import DarkroomCore
@testable import DarkroomPage

/// Nothing that comes from a batch can become markup.
struct HTMLWriterTests {
    private let writer = HTMLWriter()

    @Test(arguments: [
        ("plain", "plain"), ("a & b", "a &amp; b"), ("<b>", "&lt;b&gt;"),
        ("\"x\" 'y'", "&quot;x&quot; &#39;y&#39;"), ("&amp;", "&amp;amp;"),
        ("ä 写 🎞", "ä 写 🎞"), ("a\u{202E}b", "a\\u{202E}b"), ("a\nb", "a\\nb"),
        ("\0", "\\0"), ("</script>", "&lt;/script&gt;"), ("]]>", "]]&gt;"),
    ])
    func textIsEscaped(text: String, html: String) {
        writer.text(text)
        writer(.p, text: text)
        writer(.img, .alt(text))
        #expect(writer.html == "\(html)<p>\(html)</p><img alt=\"\(html)\">")
    }

    @Test(arguments: [
        ("plain-1.jpg", "plain-1.jpg"), ("a b.png", "a%20b.png"),
        ("javascript:x", "javascript%3Ax"),
        ("a/b", "a%2Fb"), ("é", "%C3%A9"), ("#?%&", "%23%3F%25%26"), ("\"><", "%22%3E%3C"),
        ("//host", "%2F%2Fhost"),
    ])
    func linksHaveNoScheme(name: String, text: String) {
        #expect(PageLink(name).text == text)
        #expect(PageLink("..", "out", name).text == "../out/\(text)")
    }

    @Test(arguments: [
        ("/a/page", "/a/out", ["..", "out"]), ("/a/b/page", "/a/out", ["..", "..", "out"]),
        ("/a/out/page", "/a/out", [".."]), ("/page", "/srv/x y", ["..", "srv", "x y"]),
        ("/a", "/a", []), ("/a/b/../page", "/a/./out", ["..", "out"]),
        ("out-page", "out", ["..", "out"]), ("x/page", "../out", ["..", "..", "..", "out"]),
    ])
    func findsTheWayBetweenFolders(from: String, to: String, way: [String]) {
        #expect(PageLink.way(from: from, to: to) == way.map { ByteString($0) })
    }

    @Test func elementsAreNested() {
        writer(.ul, .class("a b"), nil, .lazy) {
            for number in 1...2 { writer(.li) { writer.text("\(number)") } }
            writer(.br)
        }
        #expect(
            writer.html == "<ul class=\"a b\" loading=\"lazy\"><li>1</li><li>2</li><br></ul>")
    }

    @Test func attributesHaveTheirValues() {
        let id = AnchorID("view", 12)
        writer(.a, .id(id), .href(id), .href(PageLink("a b"), id), .width(7), .height(-1500))
        #expect(
            writer.html
                == "<a id=\"view-12\" href=\"#view-12\" href=\"a%20b#view-12\" width=\"7\" height=\"-1500\"></a>"
        )
    }

    /// A long document is in pieces, so that it does not move while it grows.
    @Test(arguments: [
        (1, 1), (3, 60_000), (3, 70_000), (200, 1000), (2000, 100), (1, 200_000),
    ])
    func aLongDocumentIsInPieces(count: Int, length: Int) {
        let text = String(repeating: "x", count: length)
        writer.document(language: "en") {
            writer(.body) {
                writer.text("first")
                writer(.main, .class("a")) {
                    for number in 0..<count { writer(.p, text: "\(number)\(text)") }
                }
                writer.text("last")
            }
        }
        let paragraphs = (0..<count).map { "<p>\($0)\(text)</p>" }.joined()
        let expected =
            "<!DOCTYPE html>\n<html lang=\"en\"><body>first<main class=\"a\">\(paragraphs)</main>last</body></html>\n"
        #expect(writer.html == expected)
        let sizes = writer.pieces.map(\.count)
        #expect(sizes.allSatisfy { $0 > 0 && $0 <= 64 << 10 + length + 100 })
        #expect(sizes.dropLast().allSatisfy { $0 >= 64 << 10 })
    }

    @Test(arguments: [(1.0, "1"), (0.5, "0.5"), (33.333333, "33.333"), (-2, "-2")])
    func numbersAreShort(value: Double, text: String) {
        writer(.rect, .number("x", value))
        #expect(writer.html == "<rect x=\"\(text)\"></rect>")
    }

    /// What the policy allows is what is in the page.
    @Test func thePolicyNamesTheStyleAndTheProgram() {
        #expect(PageTheme.policy.utf8.count > 150)
        for text in [PageTheme.style, PageTheme.program] {
            // An inline element ends at the first end of its name.
            #expect(!"\(text)".lowercased().contains("</"))
        }
        #expect(PageTheme.policy.hasPrefix("default-src 'none'; "))
        #expect(PageTheme.policy.split(separator: "sha256-").count == 3)
    }
}
