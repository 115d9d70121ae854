/// Makes PNG files of every kind from plain arrays of samples, with nothing of libpng or zlib in
/// it, so that the arrays are what the reader under test is compared with.
package struct PNGMaker: Sendable {
    package enum ColourType: UInt8, Sendable, CaseIterable {
        case gray = 0
        case rgb = 2
        case palette = 3
        case grayAlpha = 4
        case rgba = 6

        /// Samples of a pixel in the file.
        package var channels: Int {
            switch self {
            case .gray, .palette: 1
            case .grayAlpha: 2
            case .rgb: 3
            case .rgba: 4
            }
        }

        /// The depths that PNG allows for it.
        package var depths: [Int] {
            switch self {
            case .gray: [1, 2, 4, 8, 16]
            case .palette: [1, 2, 4, 8]
            case .rgb, .grayAlpha, .rgba: [8, 16]
            }
        }
    }

    /// Which of PNG's five row filters each row takes.
    package enum RowFilter: Sendable, Equatable {
        /// 0 none, 1 sub, 2 up, 3 average, 4 Paeth.
        case fixed(UInt8)
        /// Each in turn, Paeth first.
        case mixed

        func type(row: Int) -> UInt8 {
            switch self {
            case .fixed(let type): type
            case .mixed: UInt8((row + 4) % 5)
            }
        }
    }

    package var width: Int
    package var height: Int
    package var colourType: ColourType
    /// Bits of a sample in the file.
    package var depth: Int
    package var interlaced: Bool
    /// The samples as the file has them, from 0 to 2^depth − 1, interleaved, row by row from the
    /// top.
    package var samples: [UInt16]
    /// Red, green and blue of each entry.
    package var palette: [[UInt8]] = []
    /// The content of tRNS.
    package var transparency: [UInt8]?
    package var rowFilter = RowFilter.mixed
    package var method = Deflater.Method.fixedCodes
    /// At most so many bytes of compressed data go into one IDAT.
    package var bytesPerIDAT = 8192
    /// Chunks between IHDR and PLTE.
    package var early: [PNGChunk] = []
    /// Chunks between PLTE (and tRNS) and the first IDAT.
    package var middle: [PNGChunk] = []
    /// Chunks between the last IDAT and IEND.
    package var late: [PNGChunk] = []

    package init(
        width: Int, height: Int, colourType: ColourType, depth: Int, interlaced: Bool = false,
        samples: [UInt16]
    ) {
        precondition(samples.count == width * height * colourType.channels)
        self.width = width
        self.height = height
        self.colourType = colourType
        self.depth = depth
        self.interlaced = interlaced
        self.samples = samples
    }

    /// A picture of noise, every sample value as likely as any; the palette, if there is one, is
    /// full.
    package static func noise(
        width: Int, height: Int, colourType: ColourType, depth: Int, interlaced: Bool = false,
        seed: UInt64 = 1
    ) -> PNGMaker {
        var random = SplitMix64(seed: seed)
        let mask = UInt16(truncatingIfNeeded: 1 << depth - 1)
        var maker = PNGMaker(
            width: width, height: height, colourType: colourType, depth: depth,
            interlaced: interlaced,
            samples: (0..<width * height * colourType.channels).map { _ in
                UInt16(truncatingIfNeeded: random.next()) & mask
            })
        if colourType == .palette {
            maker.palette = (0..<1 << depth).map { _ in
                (0..<3).map { _ in UInt8(truncatingIfNeeded: random.next()) }
            }
        }
        return maker
    }

    /// The file of a black picture, made without its samples, which may be many.
    package static func black(
        width: Int, height: Int, colourType: ColourType, depth: Int
    ) -> [UInt8] {
        var maker = PNGMaker(
            width: 1, height: 1, colourType: colourType, depth: depth,
            samples: [UInt16](repeating: 0, count: colourType.channels))
        (maker.width, maker.height) = (width, height)
        let row = 1 + (width * colourType.channels * depth + 7) / 8
        return PNGChunk.file(maker.chunks(around: Deflater.zlib(zeros: height * row)))
    }

    package var headerChunk: PNGChunk {
        var data: [UInt8] = []
        data.append(bigEndian: UInt32(width))
        data.append(bigEndian: UInt32(height))
        data += [UInt8(depth), colourType.rawValue, 0, 0, interlaced ? 1 : 0]
        return PNGChunk("IHDR", data)
    }

    /// The IDAT chunks of a zlib stream.
    package func dataChunks(_ stream: [UInt8]) -> [PNGChunk] {
        stride(from: 0, to: stream.count, by: bytesPerIDAT).map {
            PNGChunk("IDAT", Array(stream[$0..<min(stream.count, $0 + bytesPerIDAT)]))
        }
    }

    /// The zlib stream of `rows`, which `filteredRows()` gave, perhaps changed since.
    package func stream(of rows: [UInt8], adlerError: UInt32 = 0) -> [UInt8] {
        let pixel = max(1, colourType.channels * depth / 8)
        let row = 1 + (width * colourType.channels * depth + 7) / 8
        return Deflater.zlib(rows, method, distances: [1, pixel, row], adlerError: adlerError)
    }

    /// The chunks around a zlib stream.
    package func chunks(around stream: [UInt8]) -> [PNGChunk] {
        var chunks = [headerChunk] + early
        if !palette.isEmpty { chunks.append(PNGChunk("PLTE", palette.flatMap { $0 })) }
        if let transparency { chunks.append(PNGChunk("tRNS", transparency)) }
        return chunks + middle + dataChunks(stream) + late + [PNGChunk("IEND")]
    }

    package var chunks: [PNGChunk] { chunks(around: stream(of: filteredRows())) }

    /// The whole file.
    package var encoded: [UInt8] { PNGChunk.file(chunks) }
}
