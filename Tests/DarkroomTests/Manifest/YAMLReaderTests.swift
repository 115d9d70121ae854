import Foundation
import Testing

@testable import DarkroomCore
@testable import DarkroomManifest
@testable import DarkroomPicture

struct YAMLReaderTests {
    /// YAML of a manifest and the names of its images.
    static let names: [(String, [ByteString])] = [
        (
            "images: {no: a, on: b, y: c, true: d, 007: e, 1.50: f, 2024-01-31: g, 0x1F: h}",
            ["no", "on", "y", "true", "007", "1.50", "2024-01-31", "0x1F"]
        ),
        (
            "images: [{name: no, source: a}, {name: 007, source: b}, {name: '007 ', source: c}]",
            ["no", "007", "007 "]
        ),
        ("images: {'<<': a, \"~\": b, null: c}", ["<<", "~", "null"]),
        ("images:\n- source: >-\n    a/b\n    c\n  name: |-\n    x y\n", ["x y"]),
        ("images: [{name: \"\\u00e9\\U0001F600\", source: a}]", ["é😀"]),
        ("images: [{name: !!str 12, source: !!str a}, {name: ! 13, source: a}]", ["12", "13"]),
        ("--- # a comment\nimages: !!seq [ a, b ]", ["a", "b"]),
        // The rest of a map by alias, by merge, by several merges; the map's own keys win.
        ("images: {a: &a {source: x}, b: *a}", ["a", "b"]),
        ("images:\n- &a {name: a, source: x}\n- {<<: *a, name: b}\n", ["a", "b"]),
        ("images:\n- &a {name: a}\n- &b {name: b, source: x}\n- {<<: [*a, *b]}\n", []),
        ("images:\n- &b {name: b, source: x}\n- {name: c, <<: [{name: a}, *b]}\n", ["b", "c"]),
        ("images:\n  *n : x\n", []),
        ("filters: &f [mono]\npriority: &n low\nimages: {*n : x}", ["low"]),
    ]

    @Test(arguments: names)
    func readsNames(text: String, expected: [ByteString]) throws {
        if expected.isEmpty {
            #expect(throws: ManifestRejection.self) { try read(text, .yaml) }
        } else {
            #expect(try read(text, .yaml).images.map(\.name) == expected)
        }
    }

    static let broken: [(String, [String])] =
        cases(
            #"""
            # nothing\n ⇒ 1:1 syntax
            ---\n ⇒ 2:1 wrong-type
            images: [a]\n---\nimages: [b]\n ⇒ 2:1 syntax
            images: [a ⇒ 2:1 syntax
            images: [a]\n b: 1\n ⇒ 2:2 syntax
            images: ["\ud800"] ⇒ 1:13 syntax
            %YAML 3.0\n---\nimages: [a]\n ⇒ 1:1 syntax
            images: *a\n ⇒ 1:9 syntax
            images: &a [*a]\n ⇒ 1:13 syntax
            &a images: [*a, &a b]\n? *a\n: 1 ⇒ 2:3 unknown-key b
            images: [!!binary aGk=] ⇒ 1:10 unsupported-tag
            images: [!photo a] ⇒ 1:10 unsupported-tag
            images: !!set {a: x} ⇒ 1:9 unsupported-tag
            images: !!map [a] ⇒ 1:9 unsupported-tag
            !<tag:example.org,2000:manifest> {images: [a]} ⇒ 1:1 unsupported-tag
            ? [a]\n: b\n ⇒ 1:3 wrong-type
            ? {a: b}\n: b\n ⇒ 1:3 wrong-type
            {[a]: b} ⇒ 1:2 wrong-type
            images: {a: &a [x], *a : y} ⇒ 1:21 wrong-type
            images: [{<<: a}] ⇒ 1:11 wrong-type
            images: [{<<: [{source: a}, b]}] ⇒ 1:11 wrong-type
            images: [a]\nimages: [b]\n ⇒ 2:1 duplicate-key images
            images: {1: a, 01: b, '1': c} ⇒ 1:23 duplicate-key images.1
            images:\n ⇒ 1:8 wrong-type images
            images: {a: } ⇒ 1:13 wrong-type images.a
            images: {a: ~} ⇒ 1:13 wrong-type images.a
            images: [{name: null, source: a}] ⇒ 1:17 wrong-type images[0].name
            images: [a]\nfilters: [{sepia: {intensity: '1'}}]
                2:31 wrong-type filters[0].sepia.intensity
            images: [a]\nfilters: [{sepia: {intensity: yes}}]
                2:31 wrong-type filters[0].sepia.intensity
            images: [a]\nfilters: [{sepia: {intensity: .nan}}]
                2:31 out-of-range filters[0].sepia.intensity
            images: [a]\nfilters: [{blur: {sigma: +.Inf}}] ⇒ 2:26 out-of-range filters[0].blur.sigma
            images: [a]\nfilters: [{resize: {width: 8, linear: on}}]
                2:39 wrong-type filters[0].resize.linear
            images: [a]\nfilters: [{resize: {width: 1_000}}] ⇒ 2:28 wrong-type filters[0].resize.width
            images: [a]\nfilters: [{resize: {width: 10:30}}] ⇒ 2:28 wrong-type filters[0].resize.width
            """#, breaks: true) + [
            ("", ["1:1 syntax"]),
            ("images:\n\t- a\n", ["2:1 syntax"]),
            ("images: \"\u{1}\"", ["1:10 syntax"]),
        ]

    @Test(arguments: broken)
    func tellsEveryProblem(text: String, expected: [String]) {
        #expect(problems(text, .yaml).map(summary) == expected)
    }

    @Test(
        arguments: [
            ("12", FilterArgument.integer(12)), ("-007", .integer(-7)), ("+3", .integer(3)),
            ("0x1f", .integer(31)), ("0o17", .integer(15)), ("1.", .number(1)),
            (".5", .number(0.5)),
            ("-1e3", .number(-1000)), (".inf", .number(.infinity)), ("-.INF", .number(-.infinity)),
        ] as [(ByteString, FilterArgument)])
    func readsNumbers(text: ByteString, expected: FilterArgument) {
        #expect(PlainScalar.number(text) == expected)
    }

    @Test(arguments: [
        "", "-", ".", "e5", "1e", "0x", "0x-1", "-0x1", "0b1", "1_0", "nan", "+.nan", "1 ",
    ])
    func readsNoNumbers(text: ByteString) {
        #expect(PlainScalar.number(text) == nil)
    }

    /// Files that ask for far more than their size, and the one problem that each is refused with.
    static let hostile: [String: (text: String, code: String)] = [
        "lists": (String(repeating: "[", count: 100_000), "too-deep"),
        "closed lists": (
            "images: " + String(repeating: "[", count: 100_000)
                + String(repeating: "]", count: 100_000), "too-deep"
        ),
        "maps": (String(repeating: "{a: ", count: 100_000), "too-deep"),
        "bare maps": (String(repeating: "{", count: 100_000), "too-deep"),
        "dashes": (String(repeating: "- ", count: 100_000), "too-deep"),
        "question marks": (String(repeating: "? ", count: 100_000), "wrong-type"),
        "keys in flow": ("[" + String(repeating: "a: [", count: 100_000), "too-deep"),
        "indentation": (
            (0..<2000).map { String(repeating: " ", count: $0) + "a:\n" }.joined(),
            "too-deep"
        ),
        "aliases upon aliases": (
            "a0: &a0 [x]\n"
                + (1..<1000).map { "a\($0): &a\($0) [*a\($0 - 1)]\n" }
                .joined(), "too-deep"
        ),
        "laughs in a list": (laughs(open: "[", close: "]"), "too-many-aliases"),
        "laughs in keys": (laughs(open: "[", close: "]") + "? *a30\n: x\n", "too-many-aliases"),
        "laughs in maps": (
            "a0: &a0 {x: 1}\n"
                + (1...40).map {
                    "a\($0): &a\($0) {l: *a\($0 - 1), r: *a\($0 - 1)}\n"
                }.joined(), "too-many-aliases"
        ),
        "merges": (
            "a: &a {" + (0..<1000).map { "k\($0): 1" }.joined(separator: ", ") + "}\nb:\n"
                + String(repeating: "- <<: *a\n", count: 10_000), "too-many-aliases"
        ),
        "directives": (
            (0..<100_000).map { "%TAG !a\($0)! tag:example.org:\n" }.joined() + "--- a\n",
            "syntax"
        ),
        "values": ("[" + String(repeating: "1,", count: 200_000) + "1]", "too-large"),
    ]

    /// `a30` stands for 2³⁰ values.
    private static func laughs(open: String, close: String) -> String {
        "a0: &a0 \(open)x\(close)\n"
            + (1...30).map { "a\($0): &a\($0) \(open)*a\($0 - 1), *a\($0 - 1)\(close)\n" }.joined()
    }

    @Test(arguments: hostile.keys.sorted())
    func refusesHostileFiles(what: String) async throws {
        let (text, code) = try #require(Self.hostile[what])
        // A worker thread of Dispatch has 512 KiB of stack.
        let found = await onSmallStack {
            problems(text, .yaml, limits: ManifestLimits(images: 1000))
        }
        #expect(found.map(\.code) == [code])
        #expect(found.first?.line != nil)
    }
}

/// Runs `body` on a thread with the stack that Dispatch gives its workers.
func onSmallStack<Value: Sendable>(_ body: @escaping @Sendable () -> Value) async -> Value {
    await withCheckedContinuation { continuation in
        let thread = Thread { continuation.resume(returning: body()) }
        thread.stackSize = 512 << 10
        thread.start()
    }
}
