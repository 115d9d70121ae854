import TestSupport
import Testing

@testable import DarkroomCore
@testable import DarkroomManifest
@testable import DarkroomPicture

/// Results with the format of their source.
struct SourceFormatTests {
    private static func files(_ manifest: Manifest) -> [String] {
        manifest.images.map(\.outputFile)
    }

    private static func list(_ images: String, _ output: String = #""source""#) -> String {
        #"{"output": \#(output), "images": [\#(images)]}"#
    }

    /// A source, and the file of its result.
    @Test(arguments: [
        ("a.png", "a.png"), ("x.y/A.PNG", "A.png"), ("/srv/a.jpg", "a.jpg"),
        ("a.jpeg", "a.jpg"), ("a.jpe", "a.jpe.jpg"), ("a.tiff", "a.tif"), ("a.tif", "a.tif"),
        ("a.webp", "a.webp"), ("a.avif", "a.avif"), ("a.jxl", "a.jxl"),
        ("https://h/x/a.jpg", "a.jpg"), ("https://h/a.webp?w=8&f=a.png#b.gif", "a.webp"),
        ("https://h/a%2Ejpg", "a.jpg"), ("file:///srv/a.avif", "a.avif"),
        ("a.gif.png", "a.gif.png"),
    ]) func isToldByTheName(source: String, file: String) throws {
        let image = try read(Self.list("\"\(source)\"")).images[0]
        #expect(image.outputFile == file)
        #expect(image.output.origin == .ending)
    }

    /// A source whose format is not kept, and the message. The problem is where the source is.
    @Test(
        arguments: pairs(
            #"""
            x/a.gif
                ‘format: source’: ‘a.gif’ is a GIF picture by its name, and darkroom does not write GIF; name another format, such as png or webp
            https://h/a.BMP?x
                ‘format: source’: ‘a.BMP’ is a BMP picture by its name, and darkroom does not write BMP; name another format, such as png
            a.heif
                ‘format: source’: ‘a.heif’ is a HEIC picture by its name, and darkroom does not write HEIC; name another format, such as avif or jpeg
            https://h/photo?f=a.png
                ‘format: source’: the name ‘photo’ does not tell a format that darkroom writes; name a format, such as png
            a.cr2
                ‘format: source’: the name ‘a.cr2’ does not tell a format that darkroom writes; name a format, such as png
            https://h
                ‘format: source’: the name of the source does not tell a format that darkroom writes; name a format, such as png
            """#)) func whatIsNotWrittenIsRefused(source: String, message: String)
    {
        let found = problems(Self.list("\"b.png\", {\"source\": \"\(source)\", \"filters\": []}"))
        #expect(found.map(summary) == ["1:53 format-not-written images[1].source"])
        #expect(found.map(\.message) == [message])
        // Once for all variants, and not for a helper or with another format.
        let variants = #""variants": [{"suffix": "-a"}, {"suffix": "-b"}]"#
        #expect(problems(Self.list("{\"source\": \"\(source)\", \(variants)}")).count == 1)
        #expect(problems(Self.list("{\"source\": \"\(source)\", \"publish\": false}")) == [])
        #expect(problems(Self.list("{\"source\": \"\(source)\", \"output\": \"webp\"}")) == [])
    }

    /// Every kind of picture that is read is written, or has a nearest format.
    @Test func eachFormatHasANearest() {
        for decoder in PictureDecoder.all {
            var options = OutputOptions()
            options.choose(.source, isShared: false)
            options.decideFormat(byName: "x" + decoder.endings[0])
            if options.origin == .ending {
                #expect(options.format.encoder.kind == decoder.kind && decoder.nearest == [])
            } else {
                #expect(options.origin == .unwritten(decoder.kind))
                #expect(options.format == decoder.nearest.first)
            }
        }
    }

    // MARK: From others

    /// Images, and the files of their results.
    @Test(
        arguments: pairs(
            #"""
            "x.jpg", {"name": "y", "from": "x"}, {"name": "z", "from": "y"} ⇒ x.jpg y.jpg z.jpg
            {"name": "z", "from": "y"}, {"name": "y", "from": "x"}, "x.webp" ⇒ z.webp y.webp x.webp
            {"source": "x.jpg", "output": "png"}, {"name": "y", "from": "x"} ⇒ x.png y.png
            {"name": "l", "source": "l.tif", "publish": false}, {"name": "m", "from": "l"}
                l.tif m.tif
            {"name": "x", "source": "x.jpg", "variants": [{"suffix": ""}, {"suffix": "-w", "output": "webp"}]}, {"name": "y", "from": "x-w"}
                x.jpg x-w.webp y.webp
            // The name is free in this format.
            {"name": "y.png", "source": "x.png"}, {"name": "z", "source": "x.jpg"}, {"name": "y", "from": "z"}
                y.png z.jpg y.jpg
            """#)) func isThatOfTheImageBefore(images: String, files: String) throws
    {
        let manifest = try read(Self.list(images))
        #expect(Self.files(manifest).joined(separator: " ") == files)
        let inherited = manifest.images.filter { $0.source == nil }
        #expect(inherited.allSatisfy { $0.output.origin == .given })
    }

    @Test(
        arguments: cases(
            #"""
            {"name": "l", "source": "l.gif", "publish": false}, {"name": "m", "from": "l"}
                format-not-written images[1].from
            "x.jpg", {"name": "x.jpg", "from": "x"} ⇒ duplicate-name images[1]
            {"name": "a", "from": "b"}, {"name": "b", "from": "a"} ⇒ cycle images[1].from
            {"name": "a", "from": "c"} ⇒ unknown-image images[0].from
            """#)) func problemsOfOthersAreFound(images: String, expected: [String])
    {
        let found = problems(Self.list(images)).map { "\($0.code) \($0.path)" }
        #expect(found == expected)
    }

    // MARK: Variants, recipes, patterns

    @Test(
        arguments: cases(
            #"""
            "source"
                [{"suffix": "-a"}, {"suffix": "-b", "output": "webp"}]
                x-a.jpg x-b.webp
            "webp"
                [{"suffix": "-a"}, {"suffix": "-b", "output": "source"}]
                x-a.webp x-b.jpg
            {"format": "avif", "quality": 50}
                [{"suffix": "", "output": {"format": "source", "quality": 60, "compression": "lzw"}}]
                x.jpg
            """#)) func variantsChangeIt(output: String, expected: [String]) throws
    {
        let manifest = try read(
            Self.list(#"{"source": "x.jpg", "variants": \#(expected[0])}"#, output))
        #expect(Self.files(manifest).joined(separator: " ") == expected[1])
    }

    private static func manifest(
        _ text: String, recipe: String = "{}", found: [ByteString] = []
    ) throws -> Manifest {
        try read(
            text, .yaml, defaults: [], recipes: RecipeBook([try Recipe(named: "r", text: recipe)]),
            finder: .recorded(SourceRecord([FoundSources(pattern: "d/*", files: found)])))
    }

    /// What a recipe or a pattern brings is no mistake of the manifest.
    @Test func othersGoOnBesideWhatIsNotWritten() throws {
        let kept = "output: {format: source, quality: 70}"
        let manifests = [
            try Self.manifest("recipe: r\nimages: [a.gif, b, c.jpg]", recipe: kept),
            try Self.manifest(
                "images: [{source: a.gif, recipe: r}, {source: b, recipe: r}, {source: c.jpg, recipe: r}]",
                recipe: kept),
            try Self.manifest(
                "output: source\nimages: [d/*]", found: ["d/a.gif", "d/b", "d/c.jpg"]),
        ]
        for manifest in manifests {
            #expect(Self.files(manifest) == ["a.png", "b.png", "c.jpg"])
            #expect(
                manifest.images.map(\.output.origin)
                    == [.unwritten(.gif), .unwritten(nil), .ending])
        }
        #expect(manifests[0].images[2].output.quality == 70)
        // The manifest names both.
        #expect(throws: ManifestRejection.self) {
            try Self.manifest("recipe: r\noutput: {format: source}\nimages: [a.gif]", recipe: kept)
        }
    }

    /// Each image is looked at once, however many there are.
    @Test func manyCirclesAreProblems() {
        let images = (0..<20_000).map { "- {name: a\($0), from: a\($0)}" }.joined(separator: "\n")
        let found = problems("output: {format: source}\nimages:\n\(images)\n", .yaml)
        #expect(found.first?.code == "cycle")
    }

    // MARK: Options

    @Test func optionsCountForFormatsThatHaveThem() throws {
        let names = OutputFormat.allCases.map { "\"x\($0.endings[0])\"" }.joined(separator: ", ")
        let output =
            #"{"format": "source", "quality": 60, "progressive": true, "lossless": true, "effort": 2, "depth": 10, "chroma": "4:4:4", "compression": "lzw"}"#
        let manifest = try read(Self.list(names, output))
        #expect(manifest.images.map(\.output.format) == OutputFormat.allCases)
        let deep = PixelLayout(width: 1, height: 1, channels: 3, depth: 16)
        for options in manifest.images.map(\.output) {
            #expect(options.quality == 60 && options.effort == 2 && options.lossless)
            #expect(options.compression == .balanced && options.tiffCompression == .lzw)
            let depth = [OutputFormat.avif: 10, .jpeg: 8, .webp: 8][options.format] ?? 16
            #expect(options.depth(of: deep) == depth)
        }
        // Each has its own default.
        let plain = try read(Self.list(#""a.jpg", "b.avif""#)).images.map(\.output)
        #expect(plain.map(\.quality) == [85, 75])
    }

    @Test(
        arguments: pairs(
            #"""
            {"format": "source", "depth": 9} ⇒ ‘depth’ must be 8, 10, 12 or 16, found 9
            {"format": "source", "compression": "zip"}
                ‘compression’ must be fast, balanced, small, none, deflate or lzw, found ‘zip’
            {"format": "sourc"}
                ‘format’ must be png, jpeg, webp, avif, tiff, jxl or source, found ‘sourc’; write ‘format: source’
            {"format": "original"}
                ‘format’ must be png, jpeg, webp, avif, tiff, jxl or source, found ‘original’; write ‘format: source’
            """#)) func wrongValuesAreProblems(output: String, message: String) throws
    {
        let text = "output: \(output)\nimages: [a.png]\n"
        #expect(problems(text, .yaml).map(\.message) == [message])
    }
}
