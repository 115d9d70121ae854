import Foundation
import TestSupport
import Testing

@testable import DarkroomAnswer
@testable import DarkroomClient
@testable import DarkroomCore
@testable import DarkroomFetch
@testable import DarkroomManifest

/// Manifests for pictures that are named on a command line.
struct PictureJobTests {
    private let scratch: ScratchDirectory

    init() throws {
        scratch = try ScratchDirectory()
    }

    private func picture(_ name: String) throws -> PictureSource {
        try scratch.write("x", name)
        return try PictureSource(name, in: scratch.path)
    }

    /// The manifest as the daemon reads it; both notations mean the same.
    private func read(_ job: PictureJob) throws -> Manifest {
        let value = try job.manifest()
        let both = try [ManifestFormat.json, .yaml].map { format in
            try ManifestReader.read(
                Array(value.manifest(in: format).utf8), format: format, defaultFilters: [])
        }
        #expect(both[0] == both[1])
        return both[0]
    }

    /// Names of files, and of their images.
    static let names: [(files: [String], images: [String])] = [
        (["a.jpg"], ["a"]),
        (["a.jpg", "a.png", "b/a.jpg"], ["a", "a-2", "a-3"]),
        (["a.png.png", "a.png"], ["a.png", "a-2"]),
        (["with space.jpg", "it's \"quoted\".jpg"], ["with space", "it's \"quoted\""]),
        (["a:b.jpg", "#1.jpg", "why?.jpg", "50%.jpg"], ["a:b", "#1", "why?", "50%"]),
        ([".hidden.jpg", "status.jpg"], ["_hidden", "status"]),
        (["new\nline.jpg"], ["new_line"]),
        (["-x.jpg", "no", "~", "été.jpg", "写真.jpg"], ["-x", "no", "~", "été", "写真"]),
        (["manifest.jpg", "status.json.png"], ["_manifest", "_status.json"]),
        (
            ["back\\slash.jpg", "tab\t.jpg", "\u{202E}gpj.exe"],
            ["back\\slash", "tab_", "_gpj.exe"]
        ),
    ]

    @Test(arguments: names) func namesImages(files: [String], images: [String]) throws {
        let manifest = try read(PictureJob(try files.map { try picture($0) }))
        #expect(manifest.images.map(\.name.string) == images)
    }

    @Test func namesSourcesByTheirAbsolutePaths() throws {
        let plain = try picture("b/a, \"x\".jpg")
        #expect(plain.source == scratch.path + "/b/a, \"x\".jpg")
        #expect(try PictureSource("./b//./a, \"x\".jpg", in: scratch.path) == plain)
        // Links lead elsewhere, so the system resolves `..`.
        let real = try PictureSource("b/../b/a, \"x\".jpg", in: scratch.path)
        #expect(real.path?.hasSuffix("/b/a, \"x\".jpg") == true)
        #expect(real.path?.contains("..") == false)
        // A star would be a pattern.
        #expect(try picture("s*.jpg").source == "file://\(scratch.path)/s%2A.jpg")
        // A source cannot have a control character.
        #expect(
            try picture("new\nline é.jpg").source
                == "file://\(scratch.path)/new%0Aline%20%C3%A9.jpg")
    }

    @Test func takesURLsAsTheyAre() throws {
        let url = "https://example.org/a%20b.jpg?size=3#top"
        let manifest = try read(PictureJob([try PictureSource(url)]))
        #expect(manifest.images.map(\.origin) == [.source(SourceReference(ByteString(url)))])
        #expect(manifest.images[0].name == "a b")
    }

    private static let address =
        "there is no such file, and addresses begin with http:// or https://"

    @Test(arguments: [
        ("none.jpg", "cannot find it: No such file or directory", ClientExit.missing),
        ("ftp://example.org/a.jpg", address, .missing),
        ("https:/example.org/a.jpg", address, .missing),
        ("folder", "it is a folder. Name the pictures in it, for example folder/*.jpg", .rejected),
    ]) func refusesWhatIsNoFile(name: String, message: String, exit: ClientExit) throws {
        _ = try picture("folder/a.jpg")
        let error = #expect(throws: ClientError.self) { try PictureSource(name, in: scratch.path) }
        #expect(error?.message == "\(name): \(message)")
        #expect(error?.exit == exit)
    }

    @Test func laysALogoOverEachPicture() throws {
        var job = PictureJob([try picture("logo.jpg"), try picture("b.jpg")])
        _ = try picture("x/logo.png")
        job.watermark = try WatermarkText(scratch.url.appending(path: "x/logo.png").path)
        job.filters = [
            try FilterText("sepia=0.8"), try FilterText("overlay=\(scratch.path)/x/logo.png"),
        ]
        job.format = .format(.jpeg)
        job.output = [.init("quality", .integer(80))]
        job.priority = .high
        let path = scratch.path
        #expect(
            try job.manifest().manifest(in: .json) == """
                {
                  "priority": "high",
                  "filters": [
                    {"sepia": {"intensity": 0.8}},
                    {"overlay": {"from": "logo-2"}},
                    {"watermark": {"from": "logo-2"}}
                  ],
                  "output": {"format": "jpeg", "quality": 80},
                  "images": [
                    {"name": "logo-2", "source": "\(path)/x/logo.png", "filters": [], "publish": false},
                    {"name": "logo", "source": "\(path)/logo.jpg"},
                    {"name": "b", "source": "\(path)/b.jpg"}
                  ]
                }

                """)
        let manifest = try read(job)
        #expect(manifest.images.map(\.overlays) == [[], [0], [0]])
        #expect(manifest.images.map(\.isPublished) == [false, true, true])
        #expect(manifest.priority == .high)
    }

    @Test func writesYAMLInLines() throws {
        var job = PictureJob([try picture("a b.jpg")])
        job.filters = [try FilterText("sepia=0.8"), try FilterText("mono")]
        #expect(
            try job.manifest().manifest(in: .yaml) == """
                filters:
                  - {sepia: {intensity: 0.8}}
                  - mono
                images:
                  - {name: "a b", source: "\(scratch.path)/a b.jpg"}

                """)
    }

    /// Texts that YAML would read as something else, or not at all.
    @Test(arguments: [
        "no", "null", "~", "1", "0x1f", "true", "a: b", "a #b", "- a", "", "\u{FEFF}a", "a\u{85}b",
        "a\u{2028}b", "\u{7F}", "\u{FFFE}", "'", "\\", "\u{1F4F7}", "&a", "*a", "!a", "%a", "@a",
        "`",
    ]) func textComesThrough(text: String) throws {
        let value = ManifestValue.map([.init("a", .list([.text(text)]))])
        for format in [ManifestFormat.json, .yaml] {
            let bytes = Array(value.manifest(in: format).utf8)
            let root = try format.read(bytes, NodeBudget(images: 10))
            guard case .map(let map) = root.value, case .list(let list)? = map["a"]?.value else {
                Issue.record("\(format): not a map of a list")
                continue
            }
            #expect(list.items[0].text == ByteString(text), "\(format)")
        }
    }

    @Test func usesThePathThatTheDaemonSees() throws {
        let real = try picture("pictures/a.jpg")
        let root = scratch.url.resolvingSymlinksInPath().appending(path: "pictures").path
        let link = scratch.url.appending(path: "link")
        try FileManager.default.createSymbolicLink(atPath: link.path, withDestinationPath: root)
        var job = PictureJob([try PictureSource("link/a.jpg", in: scratch.path)])
        let limits = QueueReport.Limits.local(readable: [root])
        job.roots = SourceRoots(limits)
        let seen = try read(job).absolutePaths
        #expect(seen == ["\(root)/a.jpg"])
        #expect(SourceRoots(limits).obstacle(among: seen) == nil)
        #expect(real.path == scratch.path + "/pictures/a.jpg")
    }
}
