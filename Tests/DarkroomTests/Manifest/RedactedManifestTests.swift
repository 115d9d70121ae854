import Testing

@testable import DarkroomCore
@testable import DarkroomFetch
@testable import DarkroomManifest

struct RedactedManifestTests {
    private func shown(_ text: String, _ format: ManifestFormat) -> String? {
        shown(Array(text.utf8), format)
    }

    private func shown(_ bytes: [UInt8], _ format: ManifestFormat) -> String? {
        RedactedManifest.bytes(of: bytes, format, recipes: RecipeBook(), found: SourceRecord())
            .map { String(decoding: $0, as: UTF8.self) }
    }

    private static let url = "https://ann:top5ecret@h.example:8080/a/b.png?token=an0therSecret"
    private static let copy = "https://***@h.example:8080/a/b.png?***"

    /// Each way of writing the same URL.
    @Test(arguments: [
        (ManifestFormat.json, #"{"images": {"x": "\#(url)"}, "filters": ["invert"]}"#),
        (
            .json,
            #"{"images": {"x": "https:\/\/ann:top5\u0065cret\u0040h.example:8080\/a\/b.png\u003ftoken=an0therSecret"}, "filters": ["invert"]}"#
        ),
        (.yaml, "# \(url)\nimages:\n  x: \(url)\nfilters: [invert]"),
        (.yaml, "images: {x: '\(url)'}\nfilters: [invert]"),
        (
            .yaml,
            "images:\n  x: \"https:/\\\n    /ann:top5\\x65cret\\u0040h.example:8080/a/b.png\\x3Ftoken=an0therSecret\"\nfilters: [invert]"
        ),
        (.yaml, "images:\n  x: &u \(url)\n  y: *u\nfilters: [invert]"),
        (
            .plist,
            "<plist><dict><key>images</key><dict><key>x</key><string>\(url)</string></dict><key>filters</key><array><string>invert</string></array></dict></plist>"
        ),
        (
            .plist,
            "<plist><dict><key>images</key><dict><key>x</key><string>https:/<![CDATA[/ann]]>&#58;top5ecret&#64;h.example:8080/a/b.png&#x3f;token=an0therSecret</string></dict><key>filters</key><array><string>invert</string></array></dict></plist>"
        ),
        (.plist, "<plist><dict><key>x</key><string>\(url)</string></dict></plist>"),
    ])
    func replacesUserPasswordAndQuery(format: ManifestFormat, text: String) throws {
        let shown = try #require(self.shown(text, format))
        for secret in ["ann", "top5ecret", "token", "an0therSecret"] {
            #expect(!shown.contains(secret))
        }
        let (copy, original) = (try read(shown, format), try read(text, format))
        #expect(
            copy.images.map(\.origin).allSatisfy {
                $0 == .source(SourceReference(ByteString(Self.copy)))
            })
        #expect(copy.images.map(\.name) == original.images.map(\.name))
        #expect(copy.images.map(\.filters) == original.images.map(\.filters))
    }

    /// The reader refuses them.
    @Test func doesNotShowOtherEncodings() {
        var wide: [UInt8] = [0xFE, 0xFF]
        for unit in "images: {x: \"\(Self.url)\"}".utf16 {
            wide += [UInt8(unit >> 8), UInt8(unit & 0xFF)]
        }
        #expect(shown(wide, .yaml) == nil)
    }

    /// All kinds of values come back as they were.
    @Test(arguments: [
        (
            ManifestFormat.json,
            #"{"priority": "high", "images": [{"name": "ä \"q\"\n", "source": "\#(url)", "filters": [{"sepia": 0.5}, {"crop": {"x": 1, "y": 2, "width": 3, "height": 4}}, {"invert": null}], "autoOrient": false, "output": {"format": "jpeg", "quality": 80}}, "b.png"]}"#
        ),
        (
            .yaml,
            "images:\n- name: on\n  source: \(url)\n  filters: [sepia: 5e-1, {blur: 0x10}, invert: ~, invert:]\n- [1, 2]\n"
        ),
        (
            .yaml,
            "images:\n  007: \(url)\n  'null': b.png\n  c:\n    from: 007\n    filters: []\n    output: {format: png}\n"
        ),
    ])
    func meansTheSame(format: ManifestFormat, text: String) throws {
        guard let original = try? read(text, format) else {
            // A refused manifest is not shown.
            #expect(shown(text, format) == nil)
            return
        }
        var copy = try read(try #require(shown(text, format)), format)
        for index in copy.images.indices
        where copy.images[index].origin == .source(SourceReference(ByteString(Self.copy))) {
            copy.images[index].origin = .source(SourceReference(ByteString(Self.url)))
        }
        #expect(copy == original)
    }

    @Test func isReadable() {
        #expect(
            shown(
                "priority: low\nimages:\n- {name: a, source: 'https://h/b.png?t=12345678', filters: [invert, sepia: 0.5]}\n- c.png\n",
                .yaml)
                    == """
                    # darkroomd has written this anew; *** stands for users, passwords, queries and fragments.
                    priority: low
                    images:
                      - name: a
                        source: "https://h/b.png?***"
                        filters:
                          - invert
                          - sepia: 0.5
                      - c.png

                    """)
        #expect(
            shown(#"{"images":["https://u@h/b.png?"]}"#, .json) == """
                {
                  "images": [
                    "https://***@h/b.png?***"
                  ]
                }

                """)
    }

    /// What is not clear, or is still there in another place.
    @Test(arguments: [
        #"{"images": ["https://ann:p/w@h/a.png"]}"#, #"{"images": ["https:/ann:pw@h/a.png"]}"#,
        #"{"images": ["see https://ann:pw@h/a.png"]}"#,
        #"{"images": ["https://h/https://ann:pw@i/a.png"]}"#,
        #"{"images": ["https://ann%3Apw%40h/a.png"]}"#, #"{"images": ["ann:pw@h/a.png"]}"#,
        // The password stands elsewhere.
        #"{"images": {"top5ecret": "https://ann:top5ecret@h/a.png"}}"#,
        #"{"images": ["https://ann:top5ecret@h/top5ecret/a.png"]}"#,
        #"{"images": ["https://ann:top5%65cret@h/a.png", "top5ecret.png"]}"#,
        #"{"images": ["https://h/a.png?k=12345678&l=2", "12345678.png"]}"#,
        // Refused, or no manifest.
        #"{"images": ["https://ann:pw@h/a.png"], "imagez": 1}"#, #"{"images": ["https://ann:pw@h"#,
    ])
    func doesNotShowWhatItCannotProve(text: String) {
        #expect(shown(text, .json) == nil)
    }

    @Test(arguments: [
        ("https://ann:pw@h:1/a?b=12345678#c", "https://***@h:1/a?***#***"), ("Really?", "Really?"),
        ("http://[::1]/a?b", "http://[::1]/a?***"), ("photos/@2x.png", "photos/@2x.png"),
        ("https://***@h/a?***", "https://***@h/a?***"), ("https://h/a", "https://h/a"),
        ("h/a?b=c", nil), ("https://a:b?c@h/d", nil), ("https://h\\u@i/a", nil),
    ])
    func replacesParts(text: String, expected: String?) {
        #expect(RedactedURL.replaced(text)?.text == expected)
    }

    @Test func knowsItsOwnReplacement() {
        #expect(RedactedURL.hasReplacement("https://***@h/a"))
        #expect(RedactedURL.hasReplacement("https://h/a?***"))
        #expect(!RedactedURL.hasReplacement("https://h/***/a?x=***"))
        #expect(!RedactedURL.hasReplacement("***.png"))
    }

    /// A small YAML text may stand for a very long one.
    @Test func isBounded() {
        let many = (0..<100).map {
            "  - &l\($0) https://u:pw@h/\(String(repeating: "x", count: 3000))"
        }
        let again = String(repeating: "  - *l0\n", count: 4000)
        #expect(shown("images:\n\(many.joined(separator: "\n"))\n\(again)", .yaml) == nil)
    }
}
