import SystemPackage
import TestSupport
import Testing

@testable import DarkroomCore
@testable import DarkroomPicture

/// Small copies of results, held against their definition.
@Suite struct PicturePreviewTests {
    private static func run(
        _ file: [UInt8], _ filters: [Filter] = [], _ options: OutputOptions = OutputOptions(),
        _ preview: PicturePreview?
    ) throws -> [UInt8] {
        let (source, target) = (try UnnamedFile(file), try UnnamedFile())
        _ = try PicturePipeline.run(
            input: source.descriptor, inputName: "in", filters: filters,
            output: target.descriptor, outputName: "out", options: options, preview: preview)
        return try target.contents()
    }

    /// The copy of a result, by its definition.
    private static func reference(
        _ picture: ReferencePicture
    ) -> (layout: PixelLayout, samples: [UInt8]) {
        let from = picture.layout
        let longest = max(from.width, from.height)
        let layout = PixelLayout(
            width: max(1, from.width * 128 / longest), height: max(1, from.height * 128 / longest),
            channels: from.channels > 2 ? 3 : 1, depth: 8)
        let side = longest > 2048 ? 4 : 2
        func place(_ part: Int, _ parts: Int, _ length: Int) -> Int {
            Int((Double(part) + 0.5) * Double(length) / Double(parts))
        }
        func byte(_ sample: UInt16) -> Int { Int(from.depth == 16 ? sample >> 8 : sample) }
        var samples: [UInt8] = []
        for y in 0..<layout.height {
            for x in 0..<layout.width {
                for channel in 0..<layout.channels {
                    var sum = 0
                    for row in 0..<side {
                        for column in 0..<side {
                            let start =
                                (place(y * side + row, layout.height * side, from.height)
                                    * from.width
                                    + place(x * side + column, layout.width * side, from.width))
                                * from.channels
                            let value = byte(picture.samples[start + channel])
                            let alpha =
                                from.hasAlpha
                                ? byte(picture.samples[start + from.channels - 1]) : 255
                            sum += (value * alpha + 255 * (255 - alpha) + 127) / 255
                        }
                    }
                    samples.append(UInt8((sum + side * side / 2) / (side * side)))
                }
            }
        }
        return (layout, samples)
    }

    static let kinds = PixelKind.all.filter { !$0.interlaced }

    /// Also wide pictures, of whose height not every part has a row, and more samples for a pixel.
    @Test(arguments: kinds, [(731, 719), (26_300, 20)])
    func isTheMeanOfItsSamples(kind: PixelKind, size: (width: Int, height: Int)) throws {
        var maker = kind.noise(width: size.width, height: size.height)
        if kind.colourType == .palette { maker.transparency = [0, 128] }
        let preview = PicturePreview()
        let output = try Self.run(maker.encoded, [], OutputOptions(compression: .fast), preview)
        let expected = Self.reference(try PNGReader.pixels(of: output).picture)
        #expect(preview.layout == expected.layout)
        #expect(preview.samples == expected.samples)
    }

    /// Of the filtered rows, whatever the writer makes of them, and the output does not change.
    @Test(arguments: [OutputFormat.png, .jpeg]) func isOfTheFilteredRows(
        format: OutputFormat
    ) throws {
        let file = PixelKind.all[0].noise(width: 900, height: 700).encoded
        let filters: [Filter] = [.invert(amount: 1), .rotate(.quarter)]
        let options = OutputOptions(format: format, compression: .fast)
        let preview = PicturePreview()
        #expect(
            try Self.run(file, filters, options, preview) == Self.run(file, filters, options, nil))
        let exact = try Self.run(file, filters, OutputOptions(compression: .fast), nil)
        let expected = Self.reference(try PNGReader.pixels(of: exact).picture)
        #expect(preview.layout == expected.layout)
        #expect(preview.samples == expected.samples)
        // Each variant has its own, and it is the same.
        let (source, first, second) = (try UnnamedFile(file), try UnnamedFile(), try UnnamedFile())
        let previews = [PicturePreview(), PicturePreview()]
        let outcomes = try PictureVariants(
            of: "in", commonFilters: 1,
            [
                PictureVariant(
                    filters: filters, output: first.descriptor, outputName: "a", options: options,
                    preview: previews[0]),
                PictureVariant(
                    filters: [filters[0], .resize(.init(width: 20))], output: second.descriptor,
                    outputName: "b", preview: previews[1]),
            ]
        ).run(input: source.descriptor)
        #expect(try outcomes.map { try $0.get().height } == [900, 16])
        #expect(previews[0].samples == expected.samples)
        #expect(previews[1].layout == nil)
    }

    @Test(
        arguments: [
            (1024, 512, nil), (1024, 513, (128, 64)), (1, 524_289, (1, 128)),
            (524_289, 1, (128, 1)),
            (4000, 3000, (128, 96)), (1_000_000, 1_000_000, (128, 128)),
        ] as [(Int, Int, (Int, Int)?)])
    func isOfLargeResultsOnly(width: Int, height: Int, size: (Int, Int)?) {
        let found = PicturePreview.size(ofWidth: width, height: height)
        #expect(found?.width == size?.0)
        #expect(found?.height == size?.1)
    }

    @Test func isWrittenAsAJPEG() throws {
        let preview = PicturePreview()
        let empty = try UnnamedFile()
        try preview.write(to: empty.descriptor, name: "p")
        #expect(try empty.contents().isEmpty)
        let file = PixelKind.all[0].noise(width: 900, height: 600).encoded
        _ = try Self.run(file, [], OutputOptions(compression: .fast), preview)
        let target = try UnnamedFile()
        try preview.write(to: target.descriptor, name: "p")
        try target.descriptor.seek(offset: 0, from: .start)
        let header = try PictureHeader(of: target.descriptor, name: "p")
        #expect(header.kind == .jpeg)
        #expect((header.layout.width, header.layout.height) == (128, 85))
    }
}
