import DarkroomAnswer
import DarkroomPicture
import Foundation
import TestPictures
import TestSupport
import Testing

/// Each format of results, with the real daemon and the real command.
@Suite(.fewAtATime) struct ResultFormatTests {
    @Test func theDaemonWritesAll() async throws {
        let fixture = try DaemonFixture(pictures: 1)
        let daemon = try await fixture.run()
        try fixture.spool.drop(
            "v.yaml",
            """
            variants:
              - {suffix: -a, output: png}
              - {suffix: -b, output: jpeg}
              - {suffix: -c, output: {format: webp, quality: 70}}
              - {suffix: -d, output: {format: avif, effort: 2, chroma: '4:4:4'}}
              - {suffix: -e, output: {format: tiff, compression: lzw}}
              - {suffix: -f, output: {format: jxl, lossless: true}}
              - {suffix: -g, output: {format: webp, lossless: true}}
            images:
              one: \(fixture.url("0.png"))
              two: {from: one-d, filters: {resize: 10}, output: tif, variants: [{suffix: ""}]}

            """)
        let status = try await fixture.complete("v", daemon)
        #expect(
            status.images.map(\.output?.format)
                == [.png, .jpeg, .webp, .avif, .tiff, .jpegXL, .webp, .tiff])
        #expect(
            status.images.map(\.output?.file) == [
                "one-a.png", "one-b.jpg", "one-c.webp", "one-d.avif", "one-e.tif", "one-f.jxl",
                "one-g.webp", "two.tif",
            ])
        // A second batch makes the same bytes.
        try fixture.spool.drop(
            "w.yaml",
            """
            images:
              one: {source: '\(fixture.url("0.png"))', output: {format: avif, effort: 2, chroma: '4:4:4'}}

            """)
        let again = try await fixture.complete("w", daemon)
        #expect(again.images[0].output?.sha256 == status.images[3].output?.sha256)
        #expect(try await daemon.stop() == .exited(0))
    }

    /// The extension of the file decides.
    @Test(arguments: ["webp", "avif", "tiff", "tif", "jxl"])
    func filterWritesIt(ending: String) async throws {
        let fixture = try RunFixture()
        let result = try await fixture.end([
            "filter", "small.png", "--filter", "resize=20", "-o", "r.\(ending)", "--json",
        ])
        #expect(result.exit == 0, "\(result)")
        let format = try #require(OutputFormat(word: ending))
        #expect(result.output.contains("\"format\":\"\(format.rawValue)\""))
        #expect(try !fixture.bytes("r.\(ending)").isEmpty)
    }

    // MARK: The format of the source

    /// Five pictures of five formats, and a PNG that is named as a JPEG.
    private static let mixed = [
        "a.png", "b.jpg", "c.webp", "d.tif", "e.avif", "f.jpeg",
    ]
    private static let results = ["a.png", "b.jpg", "c.webp", "d.tif", "e.avif", "f.jpg"]

    private static func makeMixed(_ fixture: RunFixture) async throws {
        try fixture.makeFolder("mixed")
        for name in mixed.dropLast() {
            try await fixture.darkroom(
                "filter", "small.png", "--filter", "resize=24", "-o", "mixed/\(name)"
            ).expect(exit: 0)
        }
        try fixture.copy("mixed/a.png", to: "mixed/f.jpeg")
    }

    private static func check(_ images: [ImageStatus]) {
        #expect(images.map(\.output?.file) == results)
        #expect(images.map(\.output?.format) == [.png, .jpeg, .webp, .tiff, .avif, .jpeg])
        #expect(
            images.map { $0.warnings ?? [] } == [
                [], [], [], [], [],
                [
                    "this is a PNG picture, but its name is that of a JPEG picture; the result is JPEG, as its name says"
                ],
            ])
    }

    /// A GIF among the named pictures is a mistake; the others are not begun.
    @Test func aRunKeepsTheFormatOfEach() async throws {
        let fixture = try RunFixture()
        try await Self.makeMixed(fixture)
        let kept = ["--format", "source", "--quality", "70", "--filter", "resize=12"]
        var result = try await fixture.end(["run", "mixed/", "-o", "out"] + kept)
        #expect(result.exit == 0, "\(result)")
        Self.check(try #require(try fixture.status()).images)
        try fixture.checkOutcome()
        #expect(try await fixture.end("verify out --again").exit == 0)
        try fixture.write(CodecSamples.gif, to: "mixed/g.gif")
        result = try await fixture.end(["run", "mixed/", "-o", "other"] + kept)
        result.shows(
            exit: 65,
            errors: .has(
                "images[6].source: ‘format: source’: ‘g.gif’ is a GIF picture by its name, and darkroom does not write GIF; name another format, such as png or webp"
            ))
        #expect(!fixture.exists("other/a.png"))
    }

    /// A GIF that a pattern means fails alone.
    @Test func theDaemonKeepsTheFormatOfEach() async throws {
        let pictures = try RunFixture()
        try await Self.makeMixed(pictures)
        try pictures.write(CodecSamples.gif, to: "mixed/g.gif")
        let fixture = try DaemonFixture(pictures: 1)
        let daemon = try await fixture.run(["sources.roots": "[\(pictures.scratch.path)]"])
        try fixture.spool.drop(
            "m.yaml",
            """
            output: {format: source, effort: 1}
            filters: {resize: 12}
            images:
              - mixed/*
              - {name: again, from: b}

            """)
        let status = try await fixture.spool.finish("m", daemon)
        try fixture.checkOutcome(status)
        #expect(status.state == .completedWithErrors)
        Self.check(Array(status.images.prefix(6)))
        let error = try #require(status.images[6].error)
        #expect(status.images[6].name == "g" && error.code == "format-not-written")
        #expect(error.message.contains("g.gif: ‘format: source’: the source is a GIF picture"))
        #expect(status.images[7].output?.file == "again.jpg")
        #expect(try await daemon.stop() == .exited(0))
    }

    @Test func aHotFolderKeepsTheFormatOfEach() async throws {
        let fixture = try HotFolderFixture(options: ", within: 1s")
        try fixture.recipe("filters: {resize: 8}\noutput: source\n")
        try fixture.put("a.png", 1)
        try fixture.put("b.webp", Data(CodecSamples.webp))
        try fixture.put("c.gif", Data(CodecSamples.gif))
        let daemon = try await fixture.run()
        let answers = try await fixture.expectAnswers(["a.png", "b.webp", "c.gif"], daemon)
        #expect(answers.map(\.image.output?.file) == ["a.png", "b.webp", nil])
        #expect(answers.map(\.image.error?.code) == [nil, nil, "format-not-written"])
        #expect(try await daemon.stop() == .exited(0))
    }

    @Test func filterKeepsTheFormatOfANamedFile() async throws {
        let fixture = try RunFixture()
        try await fixture.end("filter small.png -o x.webp").expect(exit: 0)
        try await fixture.end("filter x.webp --format source -o y --json")
            .shows(exit: 0, output: .has("\"format\":\"webp\""))
        try await fixture.end("filter --format source", input: "x").shows(
            exit: 64,
            errors:
                "darkroom: --format source is told by the name of a file, and standard input has none: write png, jpeg, webp, avif, tiff or jxl\n"
        )
    }
}
