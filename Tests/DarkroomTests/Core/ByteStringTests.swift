import Foundation
import Testing

@testable import DarkroomCore
@testable import DarkroomManifest

struct ByteStringTests {
    /// Texts that are one to `String`, and are not the same bytes.
    static let spellings = [
        ("é", "e\u{301}"), ("Å", "\u{212B}"), ("K", "\u{212A}"), (";", "\u{37E}"),
        ("`", "\u{1FEF}"), ("가", "\u{1100}\u{1161}"), ("a\u{301}\u{316}", "a\u{316}\u{301}"),
    ]

    @Test(arguments: spellings)
    func textsOfOtherBytesAreOthers(text: String, other: String) {
        #expect(text == other)
        let (a, b) = (ByteString(text), ByteString(other))
        #expect(a != b)
        #expect((a < b) != (b < a))
        #expect(Set([a, b, ByteString(text)]).count == 2)
        #expect(a.asciiLowercased != b.asciiLowercased)
        #expect(!a.hasPrefix(b) && !a.hasSuffix(b) && !a.contains(b))
        // The bytes themselves are kept, also through JSON.
        let encoded = try? JSONEncoder().encode([b])
        let decoded = encoded.flatMap { try? JSONDecoder().decode([ByteString].self, from: $0) }
        #expect(decoded.map { $0.map { Array($0.utf8) } } == [Array(other.utf8)])
    }

    @Test func comparesByTheBytes() {
        let sorted: [ByteString] = ["", "A", "a", "ab", "a\u{301}", "e\u{301}", "é", "가", "😀"]
        #expect(sorted.shuffled().sorted() == sorted)
    }

    @Test func findsParts() {
        let text: ByteString = "a.b.é"
        #expect(text.hasPrefix("") && text.hasPrefix("a.b.é") && text.hasPrefix("a."))
        #expect(!text.hasPrefix("a.b.éx") && !text.hasPrefix("b"))
        #expect(text.hasSuffix("") && text.hasSuffix(".é") && !text.hasSuffix("e"))
        #expect(text.contains(".b.") && text.contains(text) && !text.contains("bb"))
        // To `String` the mark and the dot before it are one character, which is no dot.
        #expect(ByteString("a.\u{301}b").contains("."))
    }

    @Test func changesOnlyLettersOfASCII() {
        #expect(ByteString("AbZ[ÄÉ\u{212A}").asciiLowercased == "abz[ÄÉ\u{212A}")
    }

    @Test func takesBytes() {
        #expect(ByteString(validating: [0x61, 0xFF]) == nil)
        #expect(ByteString(decoding: [0x61, 0xFF]) == "a\u{FFFD}")
        #expect(ByteString(validating: [0xC3, 0xA9]) == "é")
    }

    /// Marks that `String` would put in order first, for a minute each time. What is quadratic does not come to an
    /// end here.
    @Test func takesTimeInProportion() {
        let marks = String(repeating: "\u{301}\u{316}", count: 1_000_000)
        let (a, b) = (ByteString("a" + marks + "x"), ByteString("a" + marks + "y"))
        #expect(a != b && a < b)
        #expect(Set([a, b, a]).count == 2)
        #expect(a.hasPrefix("a\u{301}") && b.hasSuffix("y") && !a.contains("y"))
        #expect(a.asciiLowercased == a)
    }

    @Test(
        arguments: [
            0x00, 0x09, 0x1F, 0x7F, 0x80, 0x85, 0x9F, 0x2028, 0x2029, 0x061C, 0x200E, 0x200F,
            0x202A,
            0x202B, 0x202C, 0x202D, 0x202E, 0x2066, 0x2067, 0x2068, 0x2069,
        ] as [UInt32])
    func knowsControlCharacters(value: UInt32) throws {
        let scalar = try #require(Unicode.Scalar(value))
        #expect(scalar.isControl)
        #expect(FileName("a\(scalar)b").text == "a\u{FFFD}b")
        #expect("a\(scalar)b".shortened == "a\u{FFFD}b")
        #expect(RedactedURL.text("http://a.example/\(scalar)") == "http://a.example/\u{FFFD}")
        #expect(ImageName.derived(from: "a\(scalar)b") == "a_b")
        #expect(ImageName.fault(of: "a\(scalar)b") == "contains a control character")
        #expect(!"a\(scalar)b".visible.unicodeScalars.contains(scalar))
        #expect(
            problems("{\"images\": [\"a\\u\(String(format: "%04x", value))b\"]}").map(\.code)
                == ["bad-source"])
    }

    /// The joiners of emoji and of Persian are none, nor is a space of any width.
    @Test(
        arguments: [0x20, 0x7E, 0xA0, 0xAD, 0x200B, 0x200C, 0x200D, 0x2060, 0x3000, 0xFEFF]
            as [UInt32])
    func otherCharactersAreNone(value: UInt32) throws {
        #expect(try !#require(Unicode.Scalar(value)).isControl)
    }
}
