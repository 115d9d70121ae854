import DarkroomAnswer
import Foundation
import TestSupport
import Testing

/// Budgets and targets of outputs, from the manifest and the command line to the status.
@Suite(.fewAtATime) struct ChosenQualityTests {
    private let fixture: RunFixture

    init() throws {
        fixture = try RunFixture()
        try write(maxBytes: "4KiB")
    }

    private func write(maxBytes: String) throws {
        try fixture.write(
            """
            images:
              a: {source: large.png, output: {format: jpeg, maxBytes: \(maxBytes)}}
              b: {source: large.png, output: {format: webp, target: {ssim: 0.95}}}
              c: {source: large.png, output: {format: jpeg, maxBytes: 10B}}

            """, to: "m.yaml")
    }

    private func run() async throws -> [ImageStatus] {
        try await fixture.end("run m.yaml -o out --quiet").shows(exit: 3)
        return try #require(try fixture.status()).images
    }

    @Test func theStatusHasTheChoice() async throws {
        let images = try await run()
        let (a, b) = (try #require(images[0].output), try #require(images[1].output))
        #expect(a.bytes <= 4096 && fixture.list("out").contains("a.jpg"))
        let quality = try #require(a.quality)
        #expect((10...85).contains(quality) && a.ssim == nil)
        #expect(b.quality != nil && (0.95...1).contains(b.ssim ?? 0))
        #expect(images[2].error?.code == "too-many-bytes" && images[2].error?.isTransient == false)
        let shown = try await fixture.end("show out --images")
        #expect(shown.output.contains(" QUALITY ") && shown.output.contains(" \(quality) "))
        #expect(shown.output.contains("the smallest trial had"))
        #expect(!shown.output.contains("a retry may help"))
        let json = try jsonObject(try await fixture.end("show out --images --json").output.utf8)
        let outputs = (json["images"] as? [[String: Any]])?.map { $0["output"] as? [String: Any] }
        #expect(outputs?.first??["quality"] as? Int == quality)
        // Made anew, all is the same.
        try await fixture.end("verify out --again").shows(
            exit: 0, output: .begins("m: 2 outputs, "))
        try fixture.remove("out/a.jpg")
        #expect(try await run().map(\.output) == images.map(\.output))
        // Another budget is another result.
        try write(maxBytes: "3000B")
        let smaller = try await run()
        #expect(smaller[0].output?.bytes ?? 9999 <= 3000 && smaller[0].output != images[0].output)
        #expect(smaller[1].output == images[1].output)
    }

    @Test func theCommandLineHasBoth() async throws {
        try await fixture.end(
            "run large.png --format avif --max-bytes 1MiB --ssim 0.9 -o out --quiet"
        ).shows(exit: 0)
        let output = try #require(try fixture.status()?.images.first?.output)
        #expect(output.ssim ?? 0 >= 0.9 && output.bytes <= 1 << 20)
        let filter = try await fixture.end("filter large.png --max-bytes 3000 -o x.jpg --json")
        #expect(filter.exit == 0, "\(filter)")
        let json = try jsonObject(filter.output.utf8)
        #expect(json["quality"] as? Int != nil && json["ssim"] == nil)
        #expect(try fixture.bytes("x.jpg").count <= 3000)
        let impossible = try await fixture.end("filter large.png --max-bytes 20 -o y.jpg")
        #expect(impossible.exit == 3 && !fixture.exists("y.jpg"))
        #expect(impossible.errors.contains("more than 20B (maxBytes)"))
    }
}
