import Foundation
import SystemPackage
import TestSupport
import Testing

@testable import Darkroom

/// Broken files fail, each with its own code, and never pass with gray pixels.
@Suite struct PNGDamageTests {
    /// A palette and at least three IDATs, as `PNGDamage` asks for.
    static func maker(interlaced: Bool = false) -> PNGMaker {
        var maker = PNGMaker.noise(
            width: 24, height: 24, colourType: .palette, depth: 8, interlaced: interlaced)
        maker.bytesPerIDAT = 150
        return maker
    }

    static func failure(
        of file: [UInt8], name: String = "x.png", limits: PictureLimits = PictureLimits()
    ) -> PictureError? {
        #expect(throws: PictureError.self) {
            try PNGReader.pixels(of: file, name: name, limits: limits)
        }
    }

    @Test(arguments: PNGDamage.allCases)
    func isAnError(_ damage: PNGDamage) throws {
        let error = try #require(Self.failure(of: damage.file(from: Self.maker())))
        #expect(error.kind == damage.code, "\(error.message)")
        #expect(error.message.hasPrefix("x.png: "))
        #expect(!error.isTransient)
    }

    @Test(arguments: [
        PNGDamage.crcOfData, .crcOfLastData, .wrongAdler, .missingAdler, .flippedBitInData,
        .tooFewRows, .tooManyRows, .missingLastByteOfRows, .bytesAfterStream,
        .dataChunkAfterStream, .missingSecondDataChunk, .missingEnd, .crcOfEnd,
    ])
    func isAnErrorInterlacedToo(_ damage: PNGDamage) throws {
        let error = try #require(
            Self.failure(of: damage.file(from: Self.maker(interlaced: true))))
        #expect(error.kind == damage.code, "\(error.message)")
    }

    /// The stream's last four bytes, the Adler checksum, in a chunk of their own: libpng must read on
    /// after the last row to find it.
    @Test(arguments: [1, 2, 3, 4])
    func checksumInAChunkOfItsOwnCounts(bytes: Int) throws {
        let maker = Self.maker()
        for adlerError: UInt32 in [0, 1] {
            let stream = maker.stream(of: maker.filteredRows(), adlerError: adlerError)
            var chunks = maker.chunks(around: [])
            chunks.insert(
                contentsOf: [
                    PNGChunk("IDAT", stream.dropLast(bytes)),
                    PNGChunk("IDAT", Array(stream.suffix(bytes))),
                ], at: chunks.count - 1)
            let file = PNGChunk.file(chunks)
            if adlerError == 0 {
                #expect(try PNGReader.pixels(of: file).picture == maker.reference)
            } else {
                #expect(Self.failure(of: file)?.kind == .pngAdler)
            }
        }
    }

    @Test func messageNamesFileRowAndCause() throws {
        var maker = PNGMaker.noise(width: 100, height: 512, colourType: .rgb, depth: 8)
        maker.method = .stored
        maker.bytesPerIDAT = 301 * 20
        var chunks = maker.chunks
        chunks[1].crcError = 1
        let error = try #require(Self.failure(of: PNGChunk.file(chunks), name: "k04.png"))
        // 6020 bytes of which 7 lead the stored block: they hold 19 whole rows of 301 bytes.
        #expect(error.message == "k04.png: reading row 20 of 512: IDAT: CRC error (libpng)")
    }

    @Test(arguments: PixelKind.all.filter { $0.depth >= 8 })
    func cutOffAnywhereIsTruncated(kind: PixelKind) {
        let maker = kind.noise(width: 5, height: 4)
        let file = maker.encoded
        for count in 0..<file.count {
            let error = Self.failure(of: Array(file.prefix(count)))
            #expect(error?.kind == (count < 8 ? .notAPicture : .pngTruncated), "\(count) bytes")
        }
    }

    /// Any change of any byte of a file without ancillary chunks must be noticed: checksums cover all
    /// of it.
    @Test(arguments: [false, true])
    func noByteMayBeChanged(interlaced: Bool) {
        var maker = PNGMaker.noise(
            width: 5, height: 4, colourType: .palette, depth: 4, interlaced: interlaced)
        maker.bytesPerIDAT = 30
        let file = maker.encoded
        for index in file.indices {
            for mask: UInt8 in [0x01, 0x20, 0x80, 0xFF] {
                var changed = file
                changed[index] ^= mask
                // A file whose first IDAT is no longer called so ends in an error just the same.
                #expect(Self.failure(of: changed) != nil, "byte \(index) xor \(mask)")
            }
        }
    }

    @Test func animationsAreRefused() throws {
        var maker = Self.maker()
        maker.middle = [PNGChunk("acTL", [0, 0, 0, 2, 0, 0, 0, 0])]
        let error = try #require(Self.failure(of: maker.encoded))
        #expect(error.kind == .animated)
        #expect(error.message.contains("animation"))
    }

    @Test func animationControlAfterThePixelsIsNoAnimation() throws {
        var maker = Self.maker()
        maker.late = [PNGChunk("acTL", [0, 0, 0, 2, 0, 0, 0, 0])]
        #expect(try PNGReader.pixels(of: maker.encoded).picture == maker.reference)
    }

    @Test(arguments: [
        ("side", 24), ("pixels", 576), ("wholePictureBytes", 1728),
    ])
    func limitsAreExact(name: String, value: Int) throws {
        let file = Self.maker(interlaced: true).encoded
        func limits(_ value: Int) -> PictureLimits {
            var limits = PictureLimits()
            switch name {
            case "side": limits.side = value
            case "pixels": limits.pixels = value
            default: limits.wholePictureBytes = value
            }
            return limits
        }
        _ = try PNGReader.pixels(of: file, limits: limits(value))
        #expect(Self.failure(of: file, limits: limits(value - 1))?.kind == .tooManyPixels)
    }
}
