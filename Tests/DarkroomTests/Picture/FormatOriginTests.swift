import TestPictures
import Testing

@testable import DarkroomPicture

/// What becomes of a picture whose result has the format that a name has told.
struct FormatOriginTests {
    private static func options(_ name: String) -> OutputOptions {
        var options = OutputOptions()
        options.choose(.source, isShared: true)
        options.decideFormat(byName: name)
        return options
    }

    @Test func aFileOfAnotherFormatKeepsThatOfItsName() throws {
        let png = PNGMaker.noise(width: 9, height: 5, colourType: .rgb, depth: 8)
        let (file, report) = try PictureSteps(options: Self.options("in.jpg")).run(png.encoded)
        #expect(InputFormat(prefix: file) == .jpeg && report.format == .jpeg)
        #expect(
            report.warnings == [
                "this is a PNG picture, but its name is that of a JPEG picture; the result is JPEG, as its name says"
            ])
        let (same, usual) = try PictureSteps(options: Self.options("in.PNG")).run(png.encoded)
        #expect(try PNGDecoder.decode(same) == png.reference && usual.warnings == [])
    }

    /// Beside another result of the same picture, and in the forecast.
    @Test func whatIsNotWrittenFailsAlone() throws {
        let refusal =
            "‘format: source’: the source is a GIF picture by its name, and darkroom does not write GIF; name another format, such as png or webp"
        #expect(throws: PictureError(.formatNotWritten, "in.png: \(refusal)")) {
            try PictureSteps(options: Self.options("in.gif")).run(CodecSamples.gif)
        }
        let made = try PictureVariants.run(
            CodecSamples.gif,
            [Self.options("in.gif"), OutputOptions(format: .webp)].map { PictureSteps([], $0) })
        #expect(throws: PictureError.self) { try made[0].outcome.get() }
        #expect(try made[1].outcome.get().format == .webp)
        let header = try PictureHeader(CodecSamples.gif, name: "in.gif")
        let steps = PictureSteps([], Self.options("in.gif"))
        #expect(throws: PictureError(.formatNotWritten, refusal)) {
            try PeakMemory.outcome(of: header.source(for: steps), steps)
        }
    }
}
