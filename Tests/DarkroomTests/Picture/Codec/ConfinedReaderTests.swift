import Foundation
import SystemPackage
import TestPictures
import Testing

@testable import DarkroomCore
@testable import DarkroomPicture

/// PNG and JPEG in a confined process: everything is as it is in this one.
struct ConfinedReaderTests {
    private func told(
        _ input: PictureInput, _ limits: PictureLimits, divisor: Int
    ) throws -> Reading {
        try input.rewind()
        var told = Reading(input, limits, divisor: divisor)
        if told.error != nil {
            // What a process had said before its end may be less.
            (told.warnings, told.metadata, told.colour, told.exif) = ([], nil, nil, nil)
        }
        return told
    }

    /// As a file, and as content if it is small.
    private func isTheSame(
        _ file: [UInt8], _ limits: PictureLimits = PictureLimits(), divisor: Int = 1,
        _ what: String = "", sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        var confined = limits
        confined.confine = .all
        let unnamed = try UnnamedFile(file)
        var inputs = [PictureInput.file(unnamed.descriptor)]
        if file.count <= PictureInput.mostBytes { inputs.append(.content(file)) }
        for input in inputs {
            let own = try told(input, limits, divisor: divisor)
            let other = try told(input, confined, divisor: divisor)
            #expect(own == other, "\(what)", sourceLocation: sourceLocation)
        }
    }

    @Test(arguments: PixelKind.all) func everyKindOfPNG(kind: PixelKind) throws {
        for (width, height) in [(1, 1), (31, 23), (700, 300)] {
            var maker = kind.noise(width: width, height: height)
            if [.gray, .rgb, .palette].contains(kind.colourType) {
                try isTheSame(maker.encoded)
                maker.transparency = kind.colourType == .palette ? [0, 128] : [0, 1, 0, 1, 0, 1]
            }
            try isTheSame(maker.encoded)
        }
    }

    static let makers = [
        JPEGMaker.noise(width: 61, height: 47, channels: 1, seed: 1),
        JPEGMaker.noise(width: 97, height: 83, channels: 3, seed: 2),
        JPEGMaker.gradient(width: 640, height: 480, channels: 3),
    ]

    @Test(arguments: makers.indices, [1, 2, 4, 8])
    func everyKindOfJPEG(_ index: Int, divisor: Int) throws {
        var maker = Self.makers[index]
        for scans in JPEGMaker.Scans.allCases {
            maker.scans = scans
            try isTheSame(maker.encoded, divisor: divisor, "\(scans)")
        }
    }

    /// Damaged pictures end with the same error at the same row, or are read as far.
    @Test(arguments: [DamagedRule.fail, .keep]) func damagedPictures(_ rule: DamagedRule) throws {
        let limits = PictureLimits { $0.damaged = rule }
        for interlaced in [false, true] {
            for damage in PNGDamage.failing {
                try isTheSame(
                    damage.file(from: PNGDamageTests.maker(interlaced: interlaced)), limits,
                    "\(damage)")
            }
        }
        for (index, maker) in Self.makers.enumerated() {
            let file = maker.encoded
            for cut in stride(from: 1, to: file.count, by: max(1, file.count / 25)) {
                try isTheSame(Array(file.prefix(cut)), limits, "\(index) \(cut)")
                var changed = file
                changed[cut] ^= 0x55
                try isTheSame(changed, limits, "\(index) \(cut) changed")
            }
        }
        try isTheSame([], limits)
        try isTheSame(Array("no picture".utf8), limits)
    }

    /// The profile and the camera's metadata come in pieces if they are large.
    @Test func metadata() throws {
        let limits = PictureLimits { $0.ancillaryBytes = 16 << 20 }
        for bytes in [0, 1, 70_000] {
            var jpeg = JPEGMaker.noise(width: 20, height: 10, channels: 3, seed: 3)
            jpeg.early = JPEGSegment.profile(ICCProfileMaker.profile(space: "RGB ", padding: bytes))
            try isTheSame(jpeg.encoded, limits)
        }
    }

    /// Results are the same bytes: filters, palettes that are copied, several sizes at once.
    @Test func results() throws {
        let maker = PixelKind(colourType: .palette, depth: 8, interlaced: false)
            .noise(width: 900, height: 500)
        let jpeg = JPEGMaker.gradient(width: 1600, height: 1200, channels: 3).encoded
        let sources = [maker.encoded, jpeg]
        let filters: [[Filter]] = [[], [.sepia(intensity: 1)], [.blur(sigma: 3)]]
        for source in sources {
            for filters in filters {
                for format in [OutputFormat.png, .jpeg] {
                    var files: [[UInt8]] = []
                    for rule in ConfineRule.allCases {
                        let limits = PictureLimits { $0.confine = rule }
                        files.append(
                            try PictureSteps(
                                filters: filters, options: OutputOptions(format: format),
                                limits: limits
                            ).run(source).file)
                    }
                    #expect(files[0] == files[1])
                }
            }
        }
    }

    @Test(arguments: JPEGMaker.Scans.allCases)
    func severalSizesAtOnce(_ scans: JPEGMaker.Scans) throws {
        var maker = JPEGMaker.gradient(width: 1603, height: 1201, channels: 3)
        maker.scans = scans
        let limits = PictureLimits { $0.confine = .all }
        let wishes = [1, 2, 4, 8].map { divisor in
            PictureVariantsTests.Wish(
                filters: [.resize(Filter.Resize(width: 1600 / divisor / 2))],
                options: OutputOptions(format: .jpeg))
        }
        let whole = maker.encoded
        for file in [whole, Array(whole.prefix(whole.count * 2 / 3))] {
            let together = try PictureVariantsTests.together(file, wishes, limits: limits)
            #expect(try together == PictureVariantsTests.alone(file, wishes))
        }
    }

    /// The pixels come from another process, and not from this one after all.
    @Test func aProcessDecodes() throws {
        let limits = PictureLimits { $0.confine = .all }
        let file = Self.makers[0].encoded
        let reader = try PictureDecoder.reader(
            of: PictureDecoder.Input(.content(file), name: "x", limits: limits))
        let programs = try FileManager.default.contentsOfDirectory(atPath: "/proc").filter {
            (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/\($0)/exe"))?
                .hasSuffix("/darkroom-codec-basic") == true
        }
        // The waiting one and its child.
        #expect(programs.count >= 2)
        try reader.drain()
    }

    // MARK: Answers that make no sense

    private func jpeg(_ way: String) throws -> JPEGFile {
        let input = PictureDecoder.Input(.content(Array(way.utf8)), name: "x")
        return JPEGFile(
            try ConfinedJPEGCalls(input, by: BadCodecTests.bad), name: "x")
    }

    private func png(_ way: String) throws -> PNGFile {
        let input = PictureDecoder.Input(.content(Array(way.utf8)), name: "x")
        return PNGFile(try ConfinedPNGCalls(input, by: BadCodecTests.bad), name: "x")
    }

    /// A hostile process can stop its picture, and not this process: results of the wrong function, sizes, numbers of
    /// rows, indices.
    @Test func answersThatMakeNoSense() throws {
        let memory = try FilterBuffer<UInt8>(count: 64 * 64 * 3)
        let layout = PixelLayout(width: 64, height: 64, channels: 3, depth: 8)
        let unusual = try jpeg("unusual-rows")
        _ = try unusual.open()
        _ = try unusual.start(.automatic, divisor: 1)
        expectFailure(.jpegInvalid) {
            try unusual.read(0..<64, of: layout, layout.bytesPerRow, to: memory.start)
        }
        expectFailure(.jpegInvalid) { try jpeg("misuse").open() }
        expectFailure(.codecCrashed) { try jpeg("large-fact").open() }
        let large = try jpeg("large-view")
        _ = try large.open()
        expectFailure(.codecCrashed) { try large.start(.automatic, divisor: 1) }
        let endless = try jpeg("rows-for-ever")
        _ = try endless.open()
        #expect(try endless.start(views: [1])?.count == 1)
        for _ in 0..<4 { #expect(try endless.step(into: [memory.at(0)]) == [16]) }
        expectFailure(.codecCrashed) { try endless.step(into: [memory.at(0)]) }
        expectFailure(.codecCrashed) { try png("odd-depth").open(prefix: []) }
        let strange = try png("strange-index")
        _ = try strange.open(prefix: [])
        try strange.start(.automatic)
        try strange.calls.keepIndices()
        expectFailure(.pngPalette) { try strange.read(0..<64, of: 64, to: memory.start) }
    }
}
