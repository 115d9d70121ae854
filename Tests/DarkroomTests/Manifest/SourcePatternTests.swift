import Testing

@testable import DarkroomCore
@testable import DarkroomFetch
@testable import DarkroomManifest

/// Sources that mean several files.
struct SourcePatternTests {
    /// A source, and the folder of the pattern; nil if it is one picture.
    @Test(
        arguments: [
            ("a.png", nil), ("photos/a.png", nil), ("photos/*.png", "photos"), ("*.png", ""),
            ("photos/", "photos"), ("./", "."), ("/", "/"), ("/srv/x/", "/srv/x"), ("/*", "/"),
            ("/srv/*.jpg", "/srv"), ("../x/*", "../x"), ("**", ""), ("a?.png", nil),
            ("a[b].png", nil),
            // A URL stays one.
            ("https://h/*.png", nil), ("https://h/", nil), ("file:///srv/a*.png", nil),
            ("file:///srv/", nil), ("HTTP://h/a/", nil), ("x:y/", nil), ("./x:y/", "./x:y"),
        ] as [(ByteString, String?)]) func hasAFolder(source: ByteString, folder: String?) throws
    {
        #expect(try SourcePattern(source)?.folder == folder)
    }

    @Test(arguments: ["*/a.png", "a*/b/*.png", "/*/", "*/"] as [ByteString])
    func hasItsStarsAtTheEnd(source: ByteString) {
        let fault = #expect(throws: SourcePattern.Fault.self) { try SourcePattern(source) }
        #expect(fault?.words == "has ‘*’ before its last part")
    }

    @Test(
        arguments: [
            ("*.png", "a.png", true), ("*.png", "a.PNG", false), ("*.png", ".a.png", false),
            ("*.png", "png", false), ("*.png", "a.png.jpg", false), ("*", "a", true),
            ("*", ".a", false), ("a*", "a", true), ("a*b*c", "axbxc", true),
            ("a*b*c", "abbcc", true),
            ("a*b*c", "acb", false), ("a**c", "abc", true), ("*é*", "aéb", true),
            ("x/*.png", "a.png", true), ("*a*a*a*b", String(repeating: "a", count: 255), false),
            // A folder: what is probably a picture.
            ("x/", "a.png", true), ("x/", "a.JPG", true), ("x/", "a.webp", true),
            ("x/", "a.txt", false),
            ("x/", ".a.png", false), ("x/", "a", false),
        ] as [(ByteString, String, Bool)])
    func matchesNames(source: ByteString, name: String, matches: Bool) throws {
        #expect(try SourcePattern(source)?.matches(FileName(name)) == matches)
    }

    /// A relative pattern may have been looked up in any folder.
    @Test(
        arguments: [
            ("*.png", "a.png", true), ("*.png", "/srv/a.png", true), ("*.png", "a.jpg", false),
            ("x/*.png", "x/a.png", true), ("x/*.png", "/srv/x/a.png", true),
            ("x/*.png", "xx/a.png", false), ("x/*.png", "a.png", false),
            ("x/*.png", "x/y/a.png", false), ("./x/*.png", "x/a.png", true),
            ("x/", "x/a.jpg", true), ("x/", "x/a.txt", false), ("x/", "x/", false),
            ("/srv/*", "/srv/a", true), ("/srv/*", "/etc/passwd", false),
        ] as [(ByteString, ByteString, Bool)])
    func knowsWhatItCanMean(pattern: ByteString, source: ByteString, canMean: Bool) throws {
        #expect(try SourcePattern(pattern)?.canMean(source) == canMean)
    }

    // MARK: Manifests

    private static let finder = SourceFinder.live { pattern, limit in
        let files: [ByteString]
        switch pattern.text {
        case "photos/*.png": files = ["photos/a.png", "photos/b.png"]
        case "photos/": files = ["photos/a.png", "photos/c.jpg"]
        case "many/": return .tooMany
        case "unknown/": return .unknown
        default: return .nothing("there is no such file in sources.roots (/srv)")
        }
        return files.count <= limit ? .files(files) : .tooMany
    }

    private static func read(
        _ text: String, images: Int = 100, with finder: SourceFinder = finder
    ) throws(ManifestRejection) -> Manifest {
        try DarkroomManifestTests.read(
            text, .yaml, limits: ManifestLimits(images: images), defaults: [], finder: finder)
    }

    @Test func makesAnImageOfEachFile() throws {
        let text = """
            images:
              - first.png
              - {source: photos/*.png, filters: mono, output: jpg, publish: false}
              - photos/
              - {name: last, from: b, after: [a, a-2]}
            """
        let manifest = try Self.read(text)
        #expect(manifest.images.map(\.name) == ["first", "a", "b", "a-2", "c", "last"])
        let sources = manifest.images.map { $0.source?.text }
        #expect(
            sources == [
                "first.png", "photos/a.png", "photos/b.png", "photos/a.png", "photos/c.jpg", nil,
            ])
        #expect(manifest.images.map(\.filters) == [[], [.mono], [.mono], [], [], []])
        #expect(manifest.images.map(\.isPublished) == [true, false, false, true, true, true])
        #expect(manifest.images[5].origin == .image(2) && manifest.images[5].after == [1, 3])
        #expect(
            manifest.found.patterns == [
                FoundSources(pattern: "photos/*.png", files: ["photos/a.png", "photos/b.png"]),
                FoundSources(pattern: "photos/", files: ["photos/a.png", "photos/c.jpg"]),
            ])
        #expect(!manifest.hasUnknownSources)
        // What was found counts, and nothing is looked for.
        #expect(try Self.read(text, with: .recorded(manifest.found)) == manifest)
    }

    @Test(
        arguments: cases(
            #"""
            images: [none/*.png]
                1:10 no-pictures images[0]
                ‘none/*.png’ means no file: there is no such file in sources.roots (/srv)
            images: [{source: none/, filters: []}]
                1:19 no-pictures images[0].source
                ‘none/’ means no file: there is no such file in sources.roots (/srv)
            images: ['*/a.png']
                1:10 bad-source images[0]
                a source that has ‘*’ before its last part
            images: [{name: a, source: photos/}]
                1:28 conflicting-keys images[0].source
                ‘photos/’ means several pictures, which are named after their files; list it under ‘images’ without a name
            images: {a: photos/*.png}
                1:13 conflicting-keys images.a
                ‘photos/*.png’ means several pictures, which are named after their files; list it under ‘images’ without a name
            images: [many/]
                1:10 too-many-images images[0]
                ‘many/’ means too many files; the limit is 3 images
            images: [photos/, photos/*.png]
                1:19 too-many-images images[1]
                with the files of ‘photos/*.png’, there are 4 images; the limit is 3
            images: [photos/, {name: x, from: qqq}]
                1:35 unknown-image images[1].from
                no image has the name ‘qqq’
            """#)) func isRefused(text: String, expected: [String])
    {
        let limits = ManifestLimits(images: 3)
        #expect(said(problems(text, .yaml, limits: limits, finder: Self.finder)) == expected)
    }

    @Test func limitsTheListings() {
        let patterns = (0...100).map { "'photos/\($0)*'" }.joined(separator: ", ")
        let finder = SourceFinder.live { pattern, _ in .files([pattern.text]) }
        let error = #expect(throws: ManifestRejection.self) {
            try Self.read("images: [\(patterns)]", images: 1000, with: finder)
        }
        #expect(error?.problems.map(\.code) == ["too-many-patterns"])
        // The same one again is no other.
        let same = Array(repeating: "photos/", count: 200).joined(separator: ", ")
        #expect((try? Self.read("images: [\(same)]", images: 1000))?.images.count == 400)
    }

    /// Without a look, other images may name what it would find.
    @Test func mayBeUnknown() throws {
        let manifest = try Self.read(
            "images: [x.png, photos/, {name: y, from: c, filters: {overlay: a}}]", with: .none)
        #expect(manifest.unknownSources == 1 && manifest.images.map(\.name) == ["x", "y"])
        #expect(throws: ManifestRejection.self) { try Self.read("images: [unknown/, []]") }
        #expect(try Self.read("images: [unknown/]").hasUnknownSources)
    }

    @Test func tellsWhatIsLost() {
        let error = #expect(throws: ManifestRejection.self) {
            try Self.read("images: [photos/]", with: .recorded(SourceRecord()))
        }
        #expect(error?.problems.map(\.code) == ["no-pictures"])
    }

    /// What a run has found is in the folder as the pattern has it.
    @Test(
        arguments: [
            ("./*.jpg", "./a.jpg", true), ("*.jpg", "a.jpg", true), ("*.jpg", "./a:b.jpg", true),
            ("sub/*.jpg", "sub/a.jpg", true), ("/srv/*.jpg", "/srv/a.jpg", true),
            ("/*.jpg", "/a.jpg", true), ("sub/", "sub/a.png", true),
            ("./*.jpg", "/root/a.jpg", false), ("./*.jpg", "./sub/a.jpg", false),
            ("./*.jpg", "./../a.jpg", false), ("./*.jpg", "./a.png", false),
            ("*.jpg", "https://h/a.jpg", false), ("sub/*.jpg", "sub2/a.jpg", false),
            ("sub/", "sub/..", false), ("sub/", "sub/", false), ("sub/*", "sub/.a.jpg", false),
        ] as [(ByteString, ByteString, Bool)])
    func knowsTheFilesOfARun(pattern: ByteString, source: ByteString, isFile: Bool) {
        let found = FoundSources(pattern: pattern, files: [source])
        #expect(found.stranger == (isFile ? nil : source))
    }

    @Test func aListOfAnotherFormHasAStranger() {
        #expect(FoundSources(pattern: "a*/b.jpg", files: ["a/b.jpg"]).stranger == "a/b.jpg")
        #expect(FoundSources(pattern: "b.jpg", files: []).stranger == "b.jpg")
    }
}
