import DarkroomPicture

/// A way in which a PNG file can be broken.
package enum PNGDamage: String, Sendable, CaseIterable {
    case crcOfHeader, crcOfPalette, crcOfData, crcOfLastData, crcOfEnd
    case wrongAdler, missingAdler
    case changedPixel, badBlock, notDeflate
    case tooFewRows, tooManyRows, missingLastByteOfRows
    case bytesAfterStream, dataChunkAfterStream, dataChunkAfterOthers, missingSecondDataChunk
    case missingHeader, missingPalette, emptyPalette, missingData, missingEnd
    case zeroWidth, zeroHeight, impossibleHeight, hugeWidth, badDepth, badColourType,
        badCompression, badInterlace
    case shortHeader, unknownCriticalChunk, filterNumberFive, chunkInsideData, emptyFile
    case signatureAlone, lineEndsConverted

    /// The error it must lead to.
    package var code: PictureError.Code {
        switch self {
        case .crcOfHeader, .crcOfPalette, .crcOfData, .crcOfLastData, .crcOfEnd: .pngCRC
        case .wrongAdler, .changedPixel: .pngAdler
        case .missingEnd, .signatureAlone: .pngTruncated
        case .missingHeader, .missingPalette, .emptyPalette, .badDepth, .badColourType,
            .badCompression, .badInterlace, .shortHeader:
            .pngHeader
        case .zeroWidth, .zeroHeight, .impossibleHeight: .pngDimensions
        case .hugeWidth: .tooManyPixels
        case .unknownCriticalChunk: .pngInvalid
        case .emptyFile: .notAPicture
        case .lineEndsConverted: .pngSignature
        case .missingAdler, .badBlock, .notDeflate, .tooFewRows, .tooManyRows,
            .missingLastByteOfRows, .bytesAfterStream, .dataChunkAfterStream,
            .dataChunkAfterOthers, .missingSecondDataChunk, .missingData, .filterNumberFive,
            .chunkInsideData:
            .pngData
        }
    }

    /// Those that decide no pixel: the picture is read, with a warning.
    package var isHarmless: Bool {
        [.tooManyRows, .bytesAfterStream, .dataChunkAfterStream].contains(self)
    }

    package static let failing = allCases.filter { !$0.isHarmless }

    /// Whether it needs a picture with a palette.
    package var isOfThePalette: Bool {
        [.crcOfPalette, .missingPalette, .emptyPalette].contains(self)
    }

    /// A file with this damage, otherwise as `maker` makes it. The maker's picture needs enough
    /// data for three IDATs.
    package func file(from maker: PNGMaker) -> [UInt8] {
        switch self {
        case .wrongAdler, .missingAdler, .changedPixel, .badBlock, .notDeflate, .tooFewRows,
            .tooManyRows,
            .missingLastByteOfRows, .bytesAfterStream, .filterNumberFive:
            PNGChunk.file(maker.chunks(around: stream(from: maker)))
        case .emptyFile: []
        case .signatureAlone: PNGChunk.signature
        case .lineEndsConverted: maker.encoded.filter { $0 != 0x0D }
        default: PNGChunk.file(chunks(from: maker))
        }
    }

    /// Damage to the compressed data, in chunks with the right checksums.
    private func stream(from maker: PNGMaker) -> [UInt8] {
        var rows = maker.filteredRows()
        var stream = maker.stream(of: rows)
        switch self {
        case .wrongAdler: return maker.stream(of: rows, adlerError: 1)
        case .missingAdler: stream.removeLast(4)
        case .badBlock: stream[2] |= 0x06
        case .notDeflate: stream[0] = 0x79
        case .bytesAfterStream: stream += [0, 0, 0]
        case .tooFewRows:
            rows.removeLast(rows.count / maker.height)
            return maker.stream(of: rows)
        case .missingLastByteOfRows:
            rows.removeLast()
            return maker.stream(of: rows)
        case .tooManyRows:
            rows += rows.prefix(rows.count / maker.height)
            return maker.stream(of: rows)
        case .changedPixel:
            // In a stored block: whatever its bytes are, they decompress.
            var changed = maker
            changed.method = .stored
            stream = changed.stream(of: rows)
            stream[stream.count / 2] ^= 0x10
        case .filterNumberFive:
            rows[rows.count / maker.height * 2] = 5
            return maker.stream(of: rows)
        default: preconditionFailure("not damage to the stream")
        }
        return stream
    }

    /// Damage to chunks.
    private func chunks(from maker: PNGMaker) -> [PNGChunk] {
        var chunks = maker.chunks
        func index(_ type: String) -> Int { chunks.firstIndex { $0.type == type } ?? 0 }
        func lastData() -> Int { chunks.lastIndex { $0.type == "IDAT" } ?? 0 }
        switch self {
        case .crcOfHeader: chunks[0].crcError = 1
        case .crcOfPalette: chunks[index("PLTE")].crcError = 1
        case .crcOfData: chunks[index("IDAT")].crcError = 0x8000_0000
        case .crcOfLastData: chunks[lastData()].crcError = 1
        case .crcOfEnd: chunks[chunks.count - 1].crcError = 1
        case .dataChunkAfterStream: chunks.insert(PNGChunk("IDAT", [1]), at: lastData() + 1)
        case .dataChunkAfterOthers:
            chunks.insert(
                contentsOf: [PNGChunk("tIME"), PNGChunk("IDAT", [1])], at: lastData() + 1)
        case .missingSecondDataChunk: chunks.remove(at: index("IDAT") + 1)
        case .chunkInsideData:
            chunks.insert(PNGChunk("tEXt", Array("a\0b".utf8)), at: index("IDAT") + 1)
        case .missingHeader: chunks.removeFirst()
        case .missingPalette: chunks.remove(at: index("PLTE"))
        case .emptyPalette: chunks[index("PLTE")].data = []
        case .missingData: chunks.removeAll { $0.type == "IDAT" }
        case .missingEnd: chunks.removeLast()
        case .zeroWidth: chunks[0].data.replaceSubrange(0..<4, with: [0, 0, 0, 0])
        case .zeroHeight: chunks[0].data.replaceSubrange(4..<8, with: [0, 0, 0, 0])
        case .impossibleHeight: chunks[0].data[4] = 0x80
        case .hugeWidth: chunks[0].data.replaceSubrange(0..<4, with: [0x7F, 0xFF, 0xFF, 0xFF])
        case .badDepth: chunks[0].data[8] = 3
        case .badColourType: chunks[0].data[9] = 5
        case .badCompression: chunks[0].data[10] = 1
        case .badInterlace: chunks[0].data[12] = 2
        case .shortHeader: chunks[0].data.removeLast()
        case .unknownCriticalChunk: chunks.insert(PNGChunk("ABCD", [1, 2]), at: 1)
        default: preconditionFailure("not damage to chunks")
        }
        return chunks
    }
}
