import Foundation
import Testing

@testable import DarkroomCore
@testable import DarkroomManifest

/// Texts of a manifest that are longer than any has use for, or stand in more places than any has.
struct TextBoundTests {
    private static let longest = String(repeating: "k", count: Document.maximumKey)
    private static let tooLong = longest + "k"

    /// A manifest with this key, in each notation, and where it is told of.
    private static func manifests(_ key: String) throws -> [([UInt8], ManifestFormat, String)] {
        let list = try PropertyListSerialization.data(
            fromPropertyList: ["images": ["a"], key: "x"] as [String: Any], format: .binary,
            options: 0)
        return [
            (Array("{\"images\": [\"a\"], \"\(key)\": 1}".utf8), .json, "1:19 "),
            (Array("images: [a]\n? \(key)\n: 1\n".utf8), .yaml, "2:3 "),
            (Array("images: [a]\nfilters: &k \(key)\n*k : 1\n".utf8), .yaml, "3:1 "),
            (
                Array(
                    xml(
                        "<dict><key>images</key><array><string>a</string></array>\n"
                            + "<key>\(key)</key><string>x</string></dict>"
                    ).utf8), .plist, "4:1 "
            ),
            (Array(list), .plist, ""),
        ]
    }

    @Test func keysAreBounded() throws {
        for (bytes, format, place) in try Self.manifests(Self.tooLong) {
            let found = problems(bytes, format)
            #expect(found.map(summary) == [place + "too-large"])
            #expect(found.first?.message == "a key of 1025 bytes; the limit is 1024")
        }
        for (bytes, format, _) in try Self.manifests(Self.longest) {
            #expect(problems(bytes, format).contains { $0.code == "unknown-key" })
        }
    }

    /// A text of 64 KB costs as much as a thousand values wherever it stands again.
    @Test(arguments: [(90, true), (100, false)])
    func repeatedTextIsCounted(aliases: Int, isTaken: Bool) {
        let text =
            "filters: []\nimages:\n- {name: a, source: b, from: &t \(String(repeating: "x", count: 65_536))}\n"
            + (0..<aliases).map { "- {name: n\($0), from: *t}\n" }.joined()
        let codes = Set(
            problems(text, .yaml, limits: ManifestLimits(images: 1000)).map(\.code))
        #expect(codes == (isTaken ? ["conflicting-keys", "unknown-image"] : ["too-many-aliases"]))
    }

    /// A binary list whose images are so many references to one text of 64 KB.
    private static func sharing(_ count: UInt8) -> [UInt8] {
        let text = [UInt8](repeating: UInt8(ascii: "x"), count: 65_536)
        return PropertyListReaderTests.binary(
            [
                [0xD1, 1, 2], [0x56] + "images".utf8,
                [0xAF, 0x10, count] + [UInt8](repeating: 3, count: Int(count)),
                [0x5F, 0x12, 0, 1, 0, 0] + text,
            ], width: 1)
    }

    @Test func sharedTextOfAPropertyListIsCounted() {
        let limits = ManifestLimits(images: 1000)
        #expect(
            problems(Self.sharing(200), .plist, limits: limits).map(\.code) == ["too-many-aliases"])
        let few = problems(Self.sharing(90), .plist, limits: limits)
        #expect(Set(few.map(\.code)) == ["bad-source"])
    }

    /// Of what is longer than any source nothing is shown, and nothing is read to be shown.
    @Test func longTextsAreNotShown() {
        let long = String(repeating: "x", count: ImageListReader.maximumSource)
        #expect(long.shortened == String(repeating: "x", count: 80) + "…")
        #expect((long + "x").shortened == "…")
        #expect(ByteString("ann:secret@" + long).shortened == "…")
    }

    @Test func textOfOneSpellingIsNotAnothers() throws {
        let manifest = try read(
            "{\"images\": {\"\u{E9}\": \"x\", \"e\u{301}\": {\"from\": \"\u{E9}\"}}}")
        #expect(manifest.images.map(\.name) == ["\u{E9}", "e\u{301}"])
        #expect(manifest.images[1].origin == .image(0))
        // U+212A is K to `String`.
        #expect(problems("{\"images\": [\"a\"], \"\u{212A}\": 1}").map(\.code) == ["unknown-key"])
    }
}
