import DarkroomAnswer
import DarkroomPicture
import Foundation
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

    /// The ending of the file decides.
    @Test(arguments: ["webp", "avif", "tiff", "tif", "jxl"])
    func filterWritesIt(ending: String) async throws {
        let fixture = try RunFixture()
        let result = try await ClientProcess.end(
            ["filter", "small.png", "--filter", "resize=20", "-o", "r.\(ending)", "--json"],
            folder: fixture.scratch.path)
        #expect(result.exit == 0, "\(result)")
        let format = try #require(OutputFormat(word: ending))
        #expect(result.output.contains("\"format\":\"\(format.rawValue)\""))
        #expect(try !fixture.bytes("r.\(ending)").isEmpty)
    }
}
