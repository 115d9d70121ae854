import CDarkroomShims

/// The first stage: the rows of a PNG file, decoded when they are requested.
///
/// Palette indices are replaced by colours, depths below 8 bits are scaled to 8, transparency becomes alpha, and 16
/// bits stay 16. An interlaced picture is decoded completely into memory before its first band is lent. This memory
/// counts for `PictureLimits.wholePictureBytes`. Other pictures never need more than a band.
///
/// Damage anywhere in the pixels is an error. The call of `nextBand` that returns nil finds damage after the last row:
/// a wrong Adler checksum or a missing IEND.
package final class PNGReader: PictureReader {
    package let layout: PixelLayout
    package let facts: PictureFacts
    package let header: Header
    /// Whether tRNS became the alpha channel.
    package let hasTransparencyChunk: Bool

    private let file: PNGFile
    private let finder: PacketFinder
    private let input: PictureDecoder.Input
    /// A band, or a whole interlaced picture.
    private let buffer: FilterBuffer<UInt8>
    private let rowsPerBand: Int
    /// The first row that has not been read or fetched.
    private var nextRow = 0
    private var isDecoded = false
    private var isFinished = false
    /// The problem with eXIf.
    private let remark: String?
    private let isAnimated: Bool

    /// The data of IHDR.
    package struct Header: Sendable, Equatable {
        /// PNG's number: 0 gray, 2 RGB, 3 palette, 4 gray and alpha, 6 RGB and alpha.
        package let colourType: UInt8
        /// Bits per sample in the file.
        package let depth: Int
        package let isInterlaced: Bool

        package var hasPalette: Bool { colourType == 3 }
    }

    package typealias Decoder = PictureDecoder.Code

    /// Reads everything before the pixels.
    ///
    /// - Parameters:
    ///   - input: a file need not be seekable.
    ///   - decoder: `reference` is for tests and benchmarks.
    package init(
        _ input: PictureDecoder.Input, decoder: Decoder = .automatic
    ) throws(PictureError) {
        let (name, limits) = (input.name, input.limits)
        finder = PacketFinder(input.picture)
        let file = try PNGFile(input)
        let prefix = try file.prefix(InputFormat.prefixLength)
        if let refusal = InputFormat(prefix: prefix).refusal(of: name) { throw refusal }
        let raw = try file.open(prefix: prefix)
        try limits.check(
            width: Int(raw.width), height: Int(raw.height), place: "\(name): reading the header")
        layout = PixelLayout(
            width: Int(raw.width), height: Int(raw.height), channels: Int(raw.channels),
            depth: Int(raw.depth))
        header = Header(
            colourType: raw.color_type, depth: Int(raw.bit_depth),
            isInterlaced: raw.interlaced != 0)
        // After the pixels, acTL means nothing (PNG, third edition, section 11.3.6.1).
        isAnimated = file.calls.chunks.contains("acTL")
        hasTransparencyChunk = file.calls.hasTransparency
        var facts = PictureFacts(.png, layout, Self.needs(layout))
        facts.colour = try file.calls.colour()
        // eXIf after the pixels is not known yet.
        let exif = try file.calls.exif()
        facts.exif = exif.flatMap { $0.count <= Exif.mostBytes ? $0 : nil }
        (facts.orientation, remark) = ExifOrientation.read(exif)
        facts.colour.noteColourSpace(ofExif: facts.exif)
        if !header.hasPalette { facts.storedDepth = header.depth }
        if header.isInterlaced { facts.heldBytes = layout.bytes }
        self.facts = facts
        rowsPerBand = Self.rowsPerBand(layout)
        if header.isInterlaced {
            try limits.checkWholePicture(layout, place: "\(name): reading an interlaced picture")
        }
        let heldRows = header.isInterlaced ? layout.height : rowsPerBand
        buffer = try FilterBuffer(count: layout.bytesPerRow * heldRows)
        if header.isInterlaced, limits.damaged == .keep {
            // What no pass gives.
            file.fillWithGray(raw, heldRows, at: buffer.start)
        }
        try file.start(decoder)
        self.file = file
        self.input = input
    }

    var calls: any PNGCalls { file.calls }

    /// Remarks so far that are not errors: the first few of libpng.
    package var warnings: [String] {
        file.calls.warnings + (remark.map { [$0] } ?? [])
            + (isAnimated ? ["this is an animation (APNG); only its default picture is read"] : [])
    }

    /// The names of the chunks so far, in order of appearance, each once.
    package var chunks: [String] { file.calls.chunks }

    package func packets() throws(PictureError) -> SourcePackets { try finder.inPNG(exif: exif) }

    package var metadata: SourceMetadata {
        var metadata = SourceMetadata(format: .png)
        for chunk in chunks where !["IHDR", "IDAT", "IEND"].contains(chunk) {
            metadata.meanings[chunk] =
                switch chunk {
                case "PLTE" where header.hasPalette: .pixels
                case "tRNS" where hasTransparencyChunk: .pixels
                case "eXIf": .packet(.exif)
                case "iTXt": .packet(.xmp)
                default: PictureColour.Item(rawValue: chunk).map { .colour($0) } ?? .other
                }
        }
        return metadata
    }

    package func nextBand() throws(PictureError) -> Band? {
        if nextRow == layout.height {
            if !isFinished { try file.finish() }
            isFinished = true
            return nil
        }
        if header.isInterlaced, !isDecoded {
            for _ in 0..<Self.passes { try decodeWhole() }
            isDecoded = true
        }
        let rows = nextRow..<min(layout.height, nextRow + rowsPerBand)
        nextRow = rows.upperBound
        if header.isInterlaced {
            try input.checkIn()
            return Band(start: buffer.at(rows.lowerBound * layout.bytesPerRow), rows: rows)
        }
        try decode(rows, to: buffer.start)
        return Band(start: buffer.start, rows: rows)
    }

    // MARK: Reading in two steps, for two threads

    /// How much memory a fetched band needs, in bytes; 0 if this picture cannot be read in two steps.
    ///
    /// Each step belongs to one thread at a time, and processes bands in the picture's order. The first may be ahead of the
    /// second. `nextBand` may be called only if it is not, or if it is at the end.
    var mostFetchedBytes: Int { rowsPerBand * file.calls.lineBytes }

    /// The first step: writes the data of the next band into `memory`.
    ///
    /// - Returns: nil after the last band. Then `nextBand` examines the data after the pixels.
    func decompress(
        _ memory: UnsafeMutablePointer<UInt8>
    ) throws(PictureError) -> DecompressedBand? {
        if nextRow == layout.height { return nil }
        try input.checkIn()
        let rows = nextRow..<min(layout.height, nextRow + rowsPerBand)
        nextRow = rows.upperBound
        return DecompressedBand(rows: rows, lines: file.calls.fetch(rows.count, to: memory))
    }

    /// The second step: makes the band from the data in `memory`. It throws all errors in the pixels, including those
    /// of the first step: the error of the picture's first damaged row.
    func band(
        of fetched: DecompressedBand, in memory: UnsafeMutablePointer<UInt8>
    ) throws(PictureError) -> Band {
        try file.undo(fetched.lines, at: memory, fetched.rows, of: layout.height, to: buffer.start)
        return Band(start: buffer.start, rows: fetched.rows)
    }

    // MARK: -

    /// The usual number of rows of a band, but at least eight, because eight are unfiltered together. It is less only
    /// if eight rows need more than half a mebibyte.
    static func rowsPerBand(_ layout: PixelLayout) -> Int {
        let group = 8
        if layout.bytesPerRow > (512 << 10) / group { return layout.rowsPerBand }
        return min(layout.height, (layout.rowsPerBand + group - 1) / group * group)
    }

    static func needs(_ layout: PixelLayout) -> ReaderNeeds {
        let rows = rowsPerBand(layout)
        // A band, another one decompressed, and perhaps a third one still packed; the previous row, and libpng's rows;
        // the window of the decompression.
        return ReaderNeeds(
            rowsPerBand: rows,
            bytes: 3 * rows * layout.bytesPerRow + 4 * layout.bytesPerRow + 1 << 20)
    }

    /// The passes of Adam7.
    private static let passes = 7

    /// The largest distance between two rows of a pass.
    private static let passStep = 8

    /// One pass over an interlaced picture. Of its rows the last pass has each second one, and earlier ones have fewer,
    /// so more are read at once than of other pictures: eight lines are unfiltered together.
    private func decodeWhole() throws(PictureError) {
        var row = 0
        while row < layout.height {
            let rows = row..<min(layout.height, row + Self.passStep * rowsPerBand)
            try decode(rows, to: buffer.at(row * layout.bytesPerRow))
            row = rows.upperBound
        }
    }

    private func decode(
        _ rows: Range<Int>, to start: UnsafeMutableRawPointer
    ) throws(PictureError) {
        try input.checkIn()
        try file.read(rows, of: layout.height, to: start)
    }
}

/// The result of the first step for the second, in addition to the memory.
struct DecompressedBand {
    let rows: Range<Int>
    let lines: darkroom_png_fetched
}
