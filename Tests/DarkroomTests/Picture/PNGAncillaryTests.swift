import Foundation
import TestPictures
import Testing

@testable import DarkroomPicture

/// Sloppiness in chunks that are not pixels is remarked and let pass, and costs little memory.
struct PNGAncillaryTests {
    struct Case: Sendable, CustomTestStringConvertible {
        let chunk: PNGChunk
        /// What the remark says; nil where there is none to make.
        let remark: String?
        var testDescription: String { "\(chunk.type): \(remark ?? "no remark")" }

        init(_ chunk: PNGChunk, _ remark: String?) {
            self.chunk = chunk
            self.remark = remark
        }
    }

    static func crcError(_ type: String, _ data: [UInt8]) -> PNGChunk {
        var chunk = PNGChunk(type, data)
        chunk.crcError = 1
        return chunk
    }

    static let cases = [
        Case(PNGChunk("iCCP", Array("x\0\0rubbish".utf8)), "iCCP: "),
        Case(PNGChunk("iCCP", []), "iCCP: "),
        Case(crcError("gAMA", [0, 0, 0xB1, 0x8F]), "gAMA: CRC error"),
        Case(crcError("tEXt", Array("a\0b".utf8)), "tEXt: CRC error"),
        Case(PNGChunk("gAMA", [1]), "gAMA: invalid"),
        Case(PNGChunk("cHRM", [UInt8](repeating: 0xFF, count: 32)), "cHRM: invalid"),
        Case(PNGChunk("sRGB", [9]), "sRGB: "),
        Case(PNGChunk("pHYs", [1, 2]), "pHYs: invalid"),
        Case(PNGChunk("tRNS", [0, 0]), "tRNS: invalid"),
        Case(PNGChunk("zTXt", [0xFF]), nil),
        Case(PNGChunk("eXIf", [1, 2, 3]), "Exif does not begin"),
        Case(PNGChunk("tIME", [0]), nil),
        Case(PNGChunk("bKGD", []), nil),
        Case(PNGChunk("prVt", [1, 2, 3]), nil),
    ]

    static let maker = PNGMaker.noise(width: 9, height: 7, colourType: .rgb, depth: 8)

    @Test(arguments: cases)
    func isLetPassBeforeThePixels(_ example: Case) throws {
        var maker = Self.maker
        maker.early = [example.chunk]
        let (picture, reader) = try PNGReader.pixels(of: maker.encoded)
        #expect(picture == maker.reference)
        if let remark = example.remark {
            #expect(reader.warnings.contains { $0.hasPrefix(remark) }, "\(reader.warnings)")
        } else {
            #expect(reader.warnings == [])
        }
        #expect(reader.colour == PictureColour())
        #expect(reader.chunks == ["IHDR", example.chunk.type, "IDAT", "IEND"])
    }

    @Test(arguments: cases)
    func isLetPassAfterThePixels(_ example: Case) throws {
        var maker = Self.maker
        maker.late = [example.chunk]
        let (picture, reader) = try PNGReader.pixels(of: maker.encoded)
        #expect(picture == maker.reference)
        #expect(reader.chunks == ["IHDR", "IDAT", example.chunk.type, "IEND"])
        // There, only the checksum counts.
        let remarks = example.chunk.crcError == 0 ? [] : ["\(example.chunk.type): CRC error"]
        #expect(reader.warnings == remarks)
    }

    private static let text = PNGChunk("tEXt", Array("a\0b".utf8))
    private static let tooLong: PNGChunk = {
        var chunk = text
        chunk.claimedLength = 0x8000_0000
        return chunk
    }()

    /// What contradicts the pixels' end is an error, with or without libpng.
    @Test(arguments: [
        ([PNGChunk("t1Xt")], "a chunk's name has other bytes than letters"),
        ([tooLong], "tEXt: the length is out of range"),
        ([text, PNGChunk("IHDR", [UInt8](repeating: 0, count: 13))], "IHDR: out of place"),
        (
            [text, PNGChunk("IDAT", [1])], "IDAT: more compressed data after its end"
        ),
        ([crcError("ABCD", [1])], "ABCD: CRC error"),
    ])
    func isAnErrorAfterThePixels(late: [PNGChunk], message: String) throws {
        var maker = Self.maker
        maker.late = late
        let file = maker.encoded
        let error = try #require(throws: PictureError.self) { try PNGReader.pixels(of: file) }
        #expect(
            error.message.hasSuffix("reading the data after the last row: \(message)"), "\(error)")
    }

    @Test(arguments: [
        ([text, PNGChunk("IDAT")], ["IDAT: one without data, after other chunks"]),
        (
            [PNGChunk("IEND", [1])],
            ["IEND: it has data", "IEND: trailing bytes after the end of the picture"]
        ),
        ([PNGChunk("IDAT"), text], []),
    ])
    func isRemarkedAfterThePixels(late: [PNGChunk], remarks: [String]) throws {
        var maker = Self.maker
        maker.late = late
        let (picture, reader) = try PNGReader.pixels(of: maker.encoded)
        #expect(picture == maker.reference)
        #expect(reader.warnings == remarks)
    }

    @Test func remarksAreBounded() throws {
        var maker = Self.maker
        // Different names make different remarks; the last is a repetition.
        maker.early = (0..<60).map {
            let letter = String(UnicodeScalar(UInt8(ascii: "a") + UInt8($0 % 26)))
            let case2 = $0 < 26 ? "a" : $0 < 52 ? "b" : "c"
            return Self.crcError("x\(case2)X\(letter)", [0])
        }
        let (picture, reader) = try PNGReader.pixels(of: maker.encoded)
        #expect(picture == maker.reference)
        #expect(reader.warnings.count == 8)
        #expect(Set(reader.warnings).count == 8)
        #expect(reader.chunks.count == 48)
    }

    /// Of chunks that are kept as they are a few are enough; the first one counts.
    @Test func keptChunksAreBounded() throws {
        var maker = Self.maker
        maker.early = (0..<20).map { PNGChunk("cICP", [UInt8($0), 13, 0, 1]) }
        let (picture, reader) = try PNGReader.pixels(of: maker.encoded)
        #expect(picture == maker.reference)
        #expect(reader.colour.codePoints == [0, 13, 0, 1])
        #expect(reader.warnings.contains { $0.contains("no space in chunk cache") })
    }

    /// Chunks that claim 2 GB in files of some 100 bytes: libpng 1.6.39 asked malloc for all of it.
    static let greedy = [
        "eXIf", "tEXt", "zTXt", "iTXt", "iCCP", "sPLT", "cICP", "hIST", "pCAL", "sCAL", "prVt",
        "gAMA", "tRNS",
    ]

    static func greedyFile(_ type: String) -> [UInt8] {
        var maker = Self.maker
        var chunk = PNGChunk(type, [0x41, 0, 0, 0x78, 0x9C])
        chunk.claimedLength = 0x7FFF_FFF0
        maker.early = [chunk]
        return maker.encoded
    }

    /// An iCCP of a few bytes whose profile claims to be 2 GB.
    static let greedyProfile: PNGChunk = {
        var profile = [UInt8](repeating: 0, count: 132)
        profile.replaceSubrange(0..<4, with: [0x7F, 0xFF, 0xFF, 0xF0])
        return PNGChunk("iCCP", Array("p\0\0".utf8) + Deflater.zlib(profile, .stored))
    }()

    @Test(arguments: greedy)
    func chunksThatClaimTooMuchFail(type: String) throws {
        let file = Self.greedyFile(type)
        let error = try #require(PNGDamageTests.failure(of: file))
        #expect([.pngTruncated, .pngInvalid].contains(error.kind), "\(error)")
    }

    @Test func profilesThatClaimTooMuchAreLeftOut() throws {
        var maker = Self.maker
        maker.early = [Self.greedyProfile]
        let (picture, reader) = try PNGReader.pixels(of: maker.encoded)
        #expect(picture == maker.reference)
        #expect(reader.colour.profile == nil)
        #expect(reader.warnings.contains { $0.hasPrefix("iCCP: ") })
    }

    @Test func claimsCostNoMemory() async {
        await #expect(processExitsWith: .success) {
            // The first reading sets up what the libraries keep.
            _ = try PNGReader.pixels(of: PNGAncillaryTests.maker.encoded)
            let before = try ProcessMemory.status("VmPeak")
            for type in PNGAncillaryTests.greedy {
                _ = try? PNGReader.pixels(of: PNGAncillaryTests.greedyFile(type))
            }
            var maker = PNGAncillaryTests.maker
            maker.early = [PNGAncillaryTests.greedyProfile]
            _ = try PNGReader.pixels(of: maker.encoded)
            #expect(try ProcessMemory.status("VmPeak") - before < 64 << 20)
        }
    }
}
