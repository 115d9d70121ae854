import Testing

@testable import Darkroom

@Suite struct SuggestionTests {
    static let words = ["sepia", "sharpen", "saturate", "mono", "opacity"]

    @Test(arguments: [
        ("sepai", "sepia"), ("Sepia", "sepia"), ("saturat", "saturate"), ("momo", "mono"),
        ("sharpan", "sharpen"),
    ])
    func findsTheNearest(word: String, expected: String) {
        #expect(Suggestion.nearest(to: word, among: Self.words) == expected)
    }

    @Test(arguments: ["blur", "", "x", String(repeating: "sepia", count: 1000)])
    func findsNothingNear(word: String) {
        #expect(Suggestion.nearest(to: word, among: Self.words) == nil)
    }
}
