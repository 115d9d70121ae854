import DarkroomCore
import Foundation
import TestSupport
import Testing

@testable import DarkroomClient
@testable import DarkroomManifest

/// Relative sources of a manifest that is submitted: beside it first.
struct NearbySourcesTests {
    private let scratch: ScratchDirectory
    private let root: ScratchDirectory
    private let rules = ManifestRules(nil)

    /// The folder of the manifest has `photos/a.png` and `photos/é b.png`; the root has `photos/a.png` and `r.png`.
    init() throws {
        scratch = try ScratchDirectory()
        root = try ScratchDirectory()
        for folder in [scratch, root] { try folder.write("a", "photos/a.png") }
        try scratch.write("b", "photos/é b.png")
        try root.write("r", "r.png")
    }

    private func file(_ name: String, _ text: String) throws -> ManifestFile {
        try scratch.write(text, name)
        return try ManifestFile(path: "\(scratch.path)/\(name)", limits: ManifestLimits())
    }

    private func near(roots: [String] = []) -> NearbySources {
        NearbySources(
            beside: scratch.path,
            roots: SourceRoots(.local(readable: roots.isEmpty ? ["/"] : roots)))
    }

    /// `@` is the folder of the manifest.
    static let texts = [
        #"{"images": ["photos/a.png", "r.png", "http://h/photos/a.png"]}"#:
            #"{"images": ["@/photos/a.png", "r.png", "http://h/photos/a.png"]}"#,
        "{\"images\": {\n\"x\": {\"source\": \"./photos/\\u0061.png\"}}}":
            "{\"images\": {\n\"x\": {\"source\": \"@/photos/a.png\"}}}",
        "# mine\nimages: # é\n  - photos/a.png # first\n  - photos/é b.png\n":
            "# mine\nimages: # é\n  - \"@/photos/a.png\" # first\n  - \"@/photos/é b.png\"\n",
        "images: {é: photos/a.png, b: 'photos/é b.png', c: \"photos/a.png\"}\n":
            "images: {é: \"@/photos/a.png\", b: \"@/photos/é b.png\", c: \"@/photos/a.png\"}\n",
        "images:\n- {name: x, source: &s photos/a.png}\n- {name: y, source: *s}\n":
            "images:\n- {name: x, source: &s \"@/photos/a.png\"}\n- {name: y, source: *s}\n",
        // A pattern and a folder stay what they are.
        "images: [photos/*.png, photos/, none/*.png, '*.png']\n":
            "images: [\"@/photos/*.png\", \"@/photos/\", none/*.png, '*.png']\n",
        "<plist><dict><key>a</key><string>photos/a.png</string><key>b</key><string>r.png</string></dict></plist>":
            "<plist><dict><key>a</key><string>@/photos/a.png</string><key>b</key><string>r.png</string></dict></plist>",
        "images: [r.png, /photos/a.png]\n": "images: [r.png, /photos/a.png]\n",
    ]

    @Test(arguments: texts) func changesOnlyTheSourcesBesideTheManifest(
        text: String, result: String
    ) throws {
        let file = try file(ManifestFileTests.name(of: text), text)
        let placement = try near().placement(of: file.sources(rules))
        let bytes = try file.bytes(
            replacing: placement.changes, of: try file.check(rules).get(), rules)
        #expect(
            String(decoding: bytes, as: UTF8.self) == result.replacing("@", with: scratch.path))
        #expect(placement.note == nil)
    }

    /// It has no text that could be changed, so it becomes XML.
    @Test func aBinaryPropertyListBecomesXML() throws {
        let list: [String: Any] = [
            "images": [["source": "photos/a.png", "name": "é&"], ["source": "r.png"]],
            "filters": [["sepia": ["intensity": 0.5]]], "page": true,
        ]
        let binary = try PropertyListSerialization.data(
            fromPropertyList: list, format: .binary, options: 0)
        let file = ManifestFile(
            Array(binary), like: try self.file("a.plist", "<plist><dict></dict></plist>"))
        let before = try file.check(rules).get()
        let changes = try near().placement(of: file.sources(rules)).changes
        #expect(changes.keys.map(\.string) == ["photos/a.png"])
        let bytes = try file.bytes(replacing: changes, of: before, rules)
        #expect(bytes.starts(with: "<?xml".utf8))
        #expect(try file.with(bytes).check(rules).get() == before.replacing(changes))
        #expect(try file.bytes(replacing: [:], of: before, rules) == Array(binary))
    }

    /// Forms in which the place of a source is not clear, or means something else too: nothing is guessed.
    @Test(arguments: [
        ("photos/é b.png", "images:\n  - photos/é\n    b.png\n"),
        ("photos/a.png", "images:\n  - >-\n    photos/a.png\n"),
        ("photo", "images: [{name: &n photo, source: *n}]\n"),
    ]) func refusesToGuess(source: String, text: String) throws {
        try scratch.write("p", "photo")
        let file = try file("a.yaml", text)
        let changes = try near().placement(of: file.sources(rules)).changes
        #expect(changes.keys.map(\.string) == [source])
        let error = #expect(throws: ClientError.self) {
            try file.bytes(replacing: changes, of: try file.check(rules).get(), rules)
        }
        #expect(error?.code == "bad-source" && error?.exit == .usage)
        #expect(
            error?.message
                == "\(scratch.path)/a.yaml: ‘\(source)’ is beside the manifest, and submit cannot write its absolute path into this file"
        )
    }

    @Test func saysThatTheRootsHaveAnother() throws {
        let roots = [scratch.path + "/photos", root.path]
        let placement = try near(roots: roots).placement(
            of: ["photos/a.png", "photos/é b.png", "r.png", "photos/a*", "photos/é*"])
        #expect(
            placement.note
                == "‘photos/a.png’ (and 1 more) is beside the manifest and in \(root.path), one of sources.roots; the one beside the manifest is taken"
        )
        #expect(placement.patterns == ["\(scratch.path)/photos/a*", "\(scratch.path)/photos/é*"])
        #expect(placement.changes["r.png"] == nil)
        // Where the relative path means the same for the daemon, nothing is changed.
        let same = try near(roots: [scratch.path, root.path]).placement(
            of: ["photos/a.png", "photos/*.png", "photos/"])
        #expect(same.note == nil && same.changes == [:] && same.patterns == [])
    }

    /// A path through a link becomes the one that the daemon can read.
    @Test func namesThePathThatTheDaemonSees() throws {
        let link = try ScratchDirectory()
        try FileManager.default.createSymbolicLink(
            atPath: link.path + "/shop", withDestinationPath: scratch.path)
        let near = NearbySources(
            beside: link.path + "/shop",
            roots: SourceRoots(.local(readable: [scratch.path + "/photos"])))
        let placement = try near.placement(of: ["photos/a.png", "photos/", "photos/*.png"])
        #expect(
            placement.changes == [
                "photos/a.png": ByteString("\(scratch.path)/photos/a.png"),
                "photos/": ByteString("\(scratch.path)/photos/"),
                "photos/*.png": ByteString("\(scratch.path)/photos/*.png"),
            ])
    }

    @Test func refusesAFolderThatAPatternCannotName() throws {
        let odd = scratch.path + "/a*b"
        try scratch.write("a", "a*b/a.png")
        let near = NearbySources(beside: odd, roots: nil)
        let error = #expect(throws: ClientError.self) { try near.placement(of: ["*.png"]) }
        #expect(error?.code == "bad-source" && error?.exit == .rejected)
        // A single one becomes a URL.
        #expect(
            try near.placement(of: ["a.png"]).changes
                == ["a.png": ByteString("file://\(scratch.path)/a%2Ab/a.png")])
    }

    @Test func findsPatternsBesideFirst() throws {
        let finder = near(roots: [root.path]).finder(
            before: .live { _, _ in .files(["/other/x.png"]) })
        func find(_ text: ByteString) throws -> SourceFinder.Finding {
            finder.find(try #require(try SourcePattern(text)), limit: 10)
        }
        #expect(
            try find("photos/*.png")
                == .files([
                    ByteString("\(scratch.path)/photos/a.png"),
                    ByteString("\(scratch.path)/photos/é b.png"),
                ]))
        #expect(try find("none/*.png") == .files(["/other/x.png"]))
        #expect(try find("/srv/*.png") == .files(["/other/x.png"]))
    }
}
