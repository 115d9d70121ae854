import Testing

@testable import DarkroomCore
@testable import DarkroomManifest
@testable import DarkroomSpool

struct EndingsTests {
    @Test(
        arguments: [
            ("a.json", "a", "json"), ("a.b.json", "a.b", "json"), ("a.", "a", ""), ("..", ".", ""),
            // Signs that are one character with the dot, and marks that are one with what is before.
            ("\u{600}.json", "\u{600}", "json"), ("\u{110BD}.yml", "\u{110BD}", "yml"),
            ("a.\u{301}json", "a", "\u{301}json"), ("e\u{301}.json", "e\u{301}", "json"),
            ("\r\n.x", "\r\n", "x"), (".json", nil, nil), ("json", nil, nil), ("", nil, nil),
        ] as [(String, String?, String?)])
    func areToldByTheLastDot(name: String, stem: String?, ending: String?) {
        #expect(name.partsAtLastDot.map { Array($0.stem.utf8) } == stem.map { Array($0.utf8) })
        #expect(name.partsAtLastDot.map { Array($0.ending.utf8) } == ending.map { Array($0.utf8) })
    }

    @Test(
        arguments: [
            ("a.png", true), ("a.PnG", true), (".png", true), ("\u{600}.png", true), ("png", false),
            ("a\u{0e}png", false), ("a.png ", false), ("", false),
        ])
    func areKnownInAnyCase(name: String, isOne: Bool) {
        #expect(name.hasEnding(".png") == isOne)
    }

    @Test func ofManifestsAreKnownInAnyScript() {
        for sign in ["a", "\u{600}", "\u{6DD}", "e\u{301}", "👩‍👩‍👧‍👦", "\u{FFFD}"] {
            #expect(ManifestFormat(fileName: "\(sign).json") == .json)
            #expect(ManifestFormat(fileName: "\(sign).YML") == .yaml)
            #expect(Claim.id(fromFileName: "\(sign).json") == sign)
            #expect(ControlFile(FileName("\(sign).hold"))?.ids == [sign])
        }
        #expect(ManifestFormat(fileName: ".json") == nil)
        #expect(ManifestFormat(fileName: "a.js\u{600}on") == nil)
    }

    /// Cut between scalars, also where they are one character.
    @Test func idsAreCutTo200Bytes() {
        for sign in ["a", "é", "\u{600}", "界", "👩‍👩‍👧‍👦", "e\u{301}"] {
            let stem = String(String(repeating: sign, count: 250).prefix(utf8: 250))
            let id = Claim.id(fromFileName: stem + ".json")
            #expect(id.utf8.count > 196 && id.utf8.count <= 200)
            #expect(Array(stem.utf8).starts(with: Array(id.utf8)))
        }
    }
}
