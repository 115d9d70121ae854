import Testing

@testable import DarkroomCore

struct SuggestionTests {
    static let words = ["sepia", "sharpen", "saturate", "mono", "opacity"]

    @Test(arguments: [
        ("sepai", "sepia"), ("Sepia", "sepia"), ("saturat", "saturate"), ("momo", "mono"),
        ("sharpan", "sharpen"),
    ])
    func findsTheNearest(word: String, expected: String) {
        #expect(Suggestion.nearest(to: word, among: Self.words) == expected)
    }

    @Test(arguments: [
        "blur", "", "x", String(repeating: "sepia", count: 1000),
        "sepia" + String(repeating: "\u{301}", count: 1_000_000),
    ])
    func findsNothingNear(word: String) {
        #expect(Suggestion.nearest(to: word, among: Self.words) == nil)
    }

    /// Texts of other bytes are other words, though `String` takes them for one.
    @Test func tellsSpellingsApart() {
        let spellings: [ByteString] = ["e\u{301}toile", "étoile"]
        #expect(Suggestion.nearest(to: "étoile", among: spellings) == "étoile")
        #expect(
            Suggestion.nearest(to: "e\u{301}toile", among: spellings)?.utf8.count
                == "e\u{301}toile".utf8.count)
    }

    /// A candidate is compared only if it is about as long: one character of a megabyte is not.
    @Test func looksAtNoLongCandidates() {
        let long = ByteString("a" + String(repeating: "\u{301}\u{316}", count: 200_000))
        let candidates = [ByteString](repeating: long, count: 1000) + ["moon"]
        #expect(Suggestion.nearest(to: "mon", among: candidates) == "moon")
    }
}
