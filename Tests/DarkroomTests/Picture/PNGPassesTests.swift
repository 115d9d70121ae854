import TestPictures
import Testing

@testable import DarkroomPicture

/// Interlaced pictures: our own decoder beside libpng.
struct PNGPassesTests {
    private static let kinds = PixelKind.all.filter(\.interlaced)

    /// A picture of random size, filter, compression and chunks.
    private static func maker(_ kind: PixelKind, _ random: inout SplitMix64) -> PNGMaker {
        func below(_ count: UInt64) -> Int { Int(random.next() % count) }
        var maker = kind.noise(
            width: 1 + below(40), height: 1 + below(40), seed: random.next())
        maker.rowFilter = below(3) == 0 ? .fixed(UInt8(below(5))) : .mixed
        maker.method = Deflater.Method.allCases[below(UInt64(Deflater.Method.allCases.count))]
        maker.bytesPerIDAT = [1, 7, 100, 8192][below(4)]
        if kind.colourType == .palette, below(2) == 0 {
            maker.transparency = (0..<1 + below(UInt64(maker.palette.count))).map {
                UInt8($0 * 37 % 256)
            }
        }
        return maker
    }

    @Test(arguments: kinds)
    func randomPicturesHaveTheirPixels(kind: PixelKind) throws {
        var random = SplitMix64(seed: 32)
        for _ in 0..<60 {
            let maker = Self.maker(kind, &random)
            try DecodingWay.expectAll(
                maker.encoded, maker.reference,
                "\(maker.width) × \(maker.height), \(maker.rowFilter)")
        }
    }

    /// Passes without pixels have no lines, and the last line may belong to any pass.
    @Test(arguments: kinds)
    func smallPicturesLackPasses(kind: PixelKind) throws {
        for width in 1...9 {
            for height in 1...9 {
                let maker = kind.noise(width: width, height: height)
                try DecodingWay.expectAll(
                    maker.encoded, maker.reference, "\(width) × \(height)")
            }
        }
    }

    /// The same kind of error as libpng at each length. If damaged pictures are kept, those pixels that libpng has, and
    /// perhaps a line more: libpng asks for data that are not there before it has taken all that zlib can give.
    @Test(arguments: [(11, 9), (4, 1), (1, 6)])
    func endsEarlyAsLibpngDoes(size: (Int, Int)) throws {
        let limits = PictureLimits { $0.damaged = .keep }
        for kind in Self.kinds where kind.colourType != .palette {
            var maker = kind.noise(width: size.0, height: size.1)
            maker.bytesPerIDAT = 40
            let (file, reference) = (maker.encoded, maker.reference)
            for count in 0..<file.count {
                let cut = Array(file[..<count])
                let failures = PNGReader.Decoder.allCases.map {
                    PNGDamageTests.failure(of: cut, decoder: $0)
                }
                #expect(failures[0]?.kind == failures[1]?.kind, "\(kind), \(count) bytes")
                let kept = PNGReader.Decoder.allCases.map {
                    try? PNGReader.pixels(of: cut, limits: limits, decoder: $0)
                }
                let (own, libpng) = (kept[0]?.picture.samples, kept[1]?.picture.samples)
                #expect(own?.count == libpng?.count, "\(kind), \(count) bytes")
                let areRight = (own ?? []).indices.allSatisfy {
                    own?[$0] == libpng?[$0] || own?[$0] == reference.samples[$0]
                }
                #expect(areRight, "\(kind), \(count) bytes")
            }
        }
    }

    /// Each pixel of a damaged picture that is kept is that of the picture or gray, never an index.
    @Test func earlierPassesOfAPaletteAreColours() throws {
        let limits = PictureLimits { $0.damaged = .keep }
        let kind = PixelKind(colourType: .palette, depth: 8, interlaced: true)
        var maker = kind.noise(width: 40, height: 40)
        maker.bytesPerIDAT = 64
        let (file, reference) = (maker.encoded, maker.reference)
        let (picture, reader) = try PNGReader.pixels(
            of: Array(file[..<(file.count / 2)]), limits: limits)
        #expect(reader.warnings.first?.hasPrefix("damaged from pass ") == true)
        var kept = 0
        for start in stride(from: 0, to: picture.samples.count, by: 3) {
            let pixel = picture.samples[start..<start + 3]
            if pixel == reference.samples[start..<start + 3] {
                kept += 1
            } else {
                #expect(pixel.allSatisfy { $0 == 0x80 }, "pixel \(start / 3)")
            }
        }
        #expect(kept > 100)
    }
}
