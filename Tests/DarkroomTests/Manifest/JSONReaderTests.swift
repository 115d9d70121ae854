import Testing

@testable import DarkroomCore
@testable import DarkroomManifest
@testable import DarkroomPicture

struct JSONReaderTests {
    private static func read(_ bytes: [UInt8]) throws(ManifestProblem) -> Document.Node {
        try JSONReader.read(bytes, budget: NodeBudget(maximum: 1000))
    }

    /// Texts by the place at which they are found wrong.
    private static let wrong: [(place: String, texts: [String])] = [
        (
            "1:1",
            [
                "", "\u{FEFF}", "/* */ []", "truth", "True", "nul", "NaN", "Infinity", "-", "+1",
                "01", "-01", ".5", "5.", "5.e1", "5e", "5e+", "1-2",
                String(repeating: "1", count: 513), "\"", "\u{A0}[]",
            ]
        ),
        (
            "1:2",
            [
                "{", "{,}", "{a: 1}", "{'a': 1}", "{1: 1}", "0x10", "[\"a]", "\"\t\"", "\"\\x\"",
                "\"\\", "\"\\u12\"", "\"\\u+123\"", "\"\\ud800\"", "\"\\ud800\\u0041\"",
                "\"\\udc00\"",
            ]
        ),
        ("1:3", ["[1}", "{}{}", "\"a\nb\""]),
        ("1:4", ["[1 2]", "[] // done"]),
        ("1:5", ["{\"a\""]),
        ("1:6", ["{\"a\":", "{\"a\" 1}"]),
        ("1:8", ["{\"a\": 1", "{\"a\": 1,}", "{\"é😀\": x}"]),
        ("1:9", ["{\"a\": 1 \"b\": 2}"]),
        ("2:2", [" \n ", "[1,\n2,\n]"]),
    ]

    static let broken = wrong.flatMap { place, texts in texts.map { ($0, "\(place) syntax") } }

    @Test(arguments: broken)
    func refuses(text: String, expected: String) {
        let problem = #expect(throws: ManifestProblem.self) { try Self.read(Array(text.utf8)) }
        #expect(problem.map(summary) == expected)
    }

    /// Bytes that are not UTF-8, and where the first of them is.
    @Test(
        arguments: [
            ([0x22, 0xFF, 0x22], "1:2 syntax"),
            ([0x5B, 0x0A, 0x22, 0xC3, 0xA9, 0xC0, 0x80, 0x22], "2:3 syntax"),
            ([0x22, 0xED, 0xA0, 0x80, 0x22], "1:2 syntax"),
            ([0x22, 0xE2, 0x82], "1:2 syntax"),
            ([0xFF, 0xFE, 0x5B, 0x00], "1:1 syntax"),
            ([0xFE, 0xFF, 0x00, 0x5B], "1:1 syntax"),
        ] as [([UInt8], String)])
    func refusesWhatIsNotUTF8(bytes: [UInt8], expected: String) {
        let problem = #expect(throws: ManifestProblem.self) { try Self.read(bytes) }
        #expect(problem.map(summary) == expected)
    }

    @Test(arguments: [
        (#""""#, ""),
        (#""a\"\\\/\b\f\n\r\tz""#, "a\"\\/\u{8}\u{C}\n\r\tz"),
        (#""\u0000\u00e9\u20AC""#, "\0é€"),
        (#""\ud83d\ude00é😀""#, "😀é😀"),
        (#""x\u0041""#, "xA"),
    ])
    func readsStrings(text: String, expected: ByteString) throws {
        guard case .text(let value) = try Self.read(Array(text.utf8)).value else {
            Issue.record("no text")
            return
        }
        #expect(value == expected)
    }

    @Test(arguments: [
        ("0", FilterArgument.integer(0)), ("-0", .integer(0)), ("-17", .integer(-17)),
        ("9223372036854775807", .integer(.max)),
        ("9223372036854775808", .number(9_223_372_036_854_775_808)),
        ("1.5", .number(1.5)), ("-1.25E+2", .number(-125)), ("1e-2", .number(0.01)),
        ("1e999", .number(.infinity)), ("-1e999", .number(-.infinity)), ("1e-999", .number(0)),
    ])
    func readsNumbers(text: String, expected: FilterArgument) throws {
        #expect(try Self.read(Array(text.utf8)).number == expected)
    }

    @Test func keepsOrderPlacesAndRepeatedKeys() throws {
        let text = "{\r\n  \"b\": [true,\n null],\n\t\"é\": {}, \"b\": 1 }"
        guard case .map(let map) = try Self.read(Array(text.utf8)).value else {
            Issue.record("no map")
            return
        }
        #expect(map.entries.map(\.key) == ["b", "é", "b"])
        #expect(
            map.entries.map(\.place) == [
                .init(line: 2, column: 3), .init(line: 4, column: 2), .init(line: 4, column: 11),
            ])
        #expect(map.entries.first?.value.place == .init(line: 2, column: 8))
        #expect(map.size == 6)
        #expect(map.height == 2)
    }

    @Test(arguments: [("[", "]"), (#"{"a":"#, "}")])
    func limitsDepth(open: String, close: String) throws {
        func nested(_ depth: Int) -> [UInt8] {
            Array(
                (String(repeating: open, count: depth) + "1"
                    + String(repeating: close, count: depth)).utf8)
        }
        #expect(try Self.read(nested(64)).height == 64)
        let problem = #expect(throws: ManifestProblem.self) { try Self.read(nested(65)) }
        #expect(problem.map(summary) == "1:\(64 * open.count + 1) too-deep")
    }

    @Test func limitsValues() throws {
        let text = "[" + [String](repeating: "1", count: 999).joined(separator: ",") + "]"
        #expect(try Self.read(Array(text.utf8)).size == 1000)
        let more = text.dropLast() + ",1]"
        let problem = #expect(throws: ManifestProblem.self) { try Self.read(Array(more.utf8)) }
        #expect(problem.map(summary) == "1:2000 too-large")
    }
}
