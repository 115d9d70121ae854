import Foundation
import TestSupport
import Testing

@testable import DarkroomClient
@testable import DarkroomManifest

/// Manifests before they are submitted.
struct ManifestFileTests {
    private let scratch: ScratchDirectory

    init() throws {
        scratch = try ScratchDirectory()
    }

    private func file(_ name: String, _ text: String, limit: Int = 1 << 20) throws -> ManifestFile {
        let path = "\(scratch.path)/\(name)"
        try Data(text.utf8).write(to: URL(filePath: path))
        return try ManifestFile(path: path, limits: ManifestLimits(bytes: limit))
    }

    /// A name with the extension for this text.
    static func name(of text: String) -> String {
        switch text.first(where: { $0.isASCII && !$0.isWhitespace }) {
        case "{": "a.json"
        case "<": "a.plist"
        default: "a.yaml"
        }
    }

    private func changed(_ text: String, _ change: ManifestFile.Change) throws -> ManifestFile {
        let file = try file(Self.name(of: text), text)
        let rules = ManifestRules(nil)
        var manifest = try file.check(rules).get()
        return try file.with(change, of: &manifest, rules)
    }

    private func lines(_ file: ManifestFile, limit: Int = 1 << 20) -> [String] {
        var rules = ManifestRules(nil)
        rules.limits.bytes = limit
        guard case .failure(let rejection) = file.check(rules) else { return [] }
        return rejection.problems.map { $0.line(in: file.shown) }.map {
            $0.replacing(scratch.path + "/", with: "")
        }
    }

    @Test func showsProblemsInLines() throws {
        let manifest = """
            {"images": [{"source": "a.png", "nmae": "a"}],
             "priority": "urgent"}
            """
        #expect(
            lines(try file("a.json", manifest)) == [
                "a.json:1:33: images[0].nmae: unknown key ‘nmae’; did you mean ‘name’? [unknown-key]",
                "a.json:2:14: priority: ‘priority’ must be veryLow, low, normal, high or veryHigh, found ‘urgent’ [unknown-value]",
            ])
        #expect(lines(try file("b.yaml", "images: [a.png]\n")) == [])
    }

    @Test func refusesWhatIsTooLarge() throws {
        let big = try file("a.json", String(repeating: " ", count: 5000), limit: 4096)
        #expect(
            lines(big, limit: 4096) == ["a.json: 5000 bytes; the limit is 4 KiB [too-large]"])
    }

    @Test func refusesOtherNames() throws {
        let error = #expect(throws: ClientError.self) { try file("a.txt", "{}") }
        #expect(
            error?.message.hasSuffix(
                "a.txt: the name of a manifest ends in .json, .yaml, .yml or .plist") == true)
        let missing = #expect(throws: ClientError.self) {
            try ManifestFile(path: "\(scratch.path)/none.json", limits: ManifestLimits())
        }
        #expect(missing?.exit == .missing)
    }

    // MARK: The priority

    static let priorities = [
        #"{"images": ["a.png"]}"#: #"{"priority": "high", "images": ["a.png"]}"#,
        #"{"images": ["a.png"], "priority" : "low" }"#:
            #"{"images": ["a.png"], "priority" : "high" }"#,
        "\u{FEFF}\n {\"images\": [\"é.png\"]}":
            "\u{FEFF}\n {\"priority\": \"high\", \"images\": [\"é.png\"]}",
        "# mine\nimages:\n  - a.png\n": "# mine\npriority: high\nimages:\n  - a.png\n",
        "  images: [a.png]\n": "  priority: high\n  images: [a.png]\n",
        "--- {images: [a.png]}\n": "--- {\"priority\": \"high\", images: [a.png]}\n",
        "images: [é.png]\npriority: low # for now\n":
            "images: [é.png]\npriority: \"high\" # for now\n",
        "images: [a.png]\npriority: 'low'\n": "images: [a.png]\npriority: \"high\"\n",
        "images: [a.png]\npriority: high\n": "images: [a.png]\npriority: high\n",
    ]

    @Test(arguments: priorities) func changesThePriority(text: String, result: String) throws {
        let changed = try self.changed(text, .priority(.high))
        #expect(String(decoding: changed.bytes, as: UTF8.self) == result)
    }

    @Test(arguments: [
        #"{"images": ["a.png"]}"#: #"{"page": true, "images": ["a.png"]}"#,
        #"{"images": ["a.png"], "page":false}"#: #"{"images": ["a.png"], "page":true}"#,
        "images: [a.png]\n": "page: true\nimages: [a.png]\n",
        "page: False # no\nimages: [a.png]\n": "page: true # no\nimages: [a.png]\n",
        "images: [a.png]\npage: true\n": "images: [a.png]\npage: true\n",
    ]) func addsTheWishForAPage(text: String, result: String) throws {
        let changed = try self.changed(text, .page)
        #expect(String(decoding: changed.bytes, as: UTF8.self) == result)
    }

    @Test(arguments: [
        "<plist><dict><key>a</key><string>http://h/a.png</string></dict></plist>",
        "images: [a.png]\npriority: &p low\nqualityOfService: default\n",
    ]) func refusesToGuess(text: String) throws {
        let error = #expect(throws: ClientError.self) {
            try changed(text, .priority(.high))
        }
        #expect(
            error?.message.hasSuffix(
                "--priority cannot change this file; write ‘priority’ into it") == true)
    }
}
