import CDarkroomShims

/// The first stage: the rows of a PNG file, decoded when they are requested.
///
/// Palette indices are replaced by colours, depths below 8 bits are scaled to 8, transparency becomes alpha, and 16
/// bits stay 16. An interlaced picture is decoded completely into memory before its first band is lent. This memory
/// counts for `PictureLimits.wholePictureBytes`. Other pictures never need more than a band.
///
/// Damage anywhere in the pixels is an error. The call of `nextBand` that returns nil finds damage after the last row:
/// a wrong Adler checksum or a missing IEND.
package final class PNGReader: TwoStepStage {
    package let layout: PixelLayout
    package let header: Header
    /// The valid chunks about colour and physical size.
    package let colour: PictureColour
    /// Whether tRNS became the alpha channel.
    package let hasTransparencyChunk: Bool
    /// The orientation in eXIf, if it is before the pixels.
    package let orientation: Orientation
    package let exif: [UInt8]?

    private let file: PNGFile
    let finder: PacketFinder
    private let name: String
    private let checkpoint: () -> Bool
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

    /// The decoder of the pixels. libpng always reads everything around them.
    package enum Decoder: Sendable, CaseIterable {
        /// Darkroom's own code for the usual kinds of pictures, libpng for others.
        case automatic
        /// libpng, which is the reference for Darkroom's own code.
        case reference
    }

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
        isAnimated = file.chunks.contains("acTL")
        var colour = try file.colour()
        hasTransparencyChunk = file.hasTransparency
        let exif = try file.exif()
        self.exif = exif.flatMap { $0.count <= Exif.mostBytes ? $0 : nil }
        (orientation, remark) = ExifOrientation.read(exif)
        colour.heed(exif: self.exif)
        self.colour = colour
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
        self.name = name
        checkpoint = input.checkpoint
    }

    /// Before the first band: the palette, with red, green, blue and alpha of each index; nil if the picture has none, or
    /// is interlaced.
    var palette: [UInt8]? { file.palette }

    /// Has the bands be rows of the palette's indices, of 8 bits each, instead of those that `layout` describes. The
    /// indices are examined as before. There must be a palette.
    func keepIndices() throws(PictureError) { try file.keepIndices() }

    /// After `keepIndices`: has the compressed data be kept, so that the same indices can be written as they are.
    ///
    /// - Returns: false if they were compressed with little effort; then they are not kept.
    func keepData() throws(PictureError) -> Bool { try file.keepData() }

    /// Moves kept data to memory: as many bytes as there is room for, or none if so many have not been read, or the rest
    /// after the last row. The data are good if all rows are.
    func takeData(
        _ memory: UnsafeMutableBufferPointer<UInt8>, isEnd: Bool
    ) throws(PictureError) -> Int {
        try file.takeData(memory, isEnd: isEnd)
    }

    /// After the last row: whether kept data go on with further rows.
    var hasExtraRows: Bool { file.hasExtraRows }

    /// Remarks so far that are not errors: the first few of libpng.
    package var warnings: [String] {
        file.warnings + (remark.map { [$0] } ?? [])
            + (isAnimated ? ["this is an animation (APNG); only its default picture is read"] : [])
    }

    /// The names of the chunks so far, in order of appearance, each once.
    package var chunks: [String] { file.chunks }

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
            try checkIn()
            return Band(start: buffer.at(rows.lowerBound * layout.bytesPerRow), rows: rows)
        }
        try decode(rows, to: buffer.start)
        return Band(start: buffer.start, rows: rows)
    }

    /// Reads the rest, so that damage there is found too.
    package func drain() throws(PictureError) {
        while try nextBand() != nil {}
    }

    // MARK: Reading in two steps

    package var mostFetchedBytes: Int { rowsPerBand * file.lineBytes }

    package func decompress(
        _ memory: UnsafeMutablePointer<UInt8>
    ) throws(PictureError) -> DecompressedBand? {
        if nextRow == layout.height { return nil }
        try checkIn()
        let rows = nextRow..<min(layout.height, nextRow + rowsPerBand)
        nextRow = rows.upperBound
        return DecompressedBand(rows: rows, lines: file.decompress(rows.count, to: memory))
    }

    package func band(
        of fetched: DecompressedBand, in memory: UnsafeMutablePointer<UInt8>
    ) throws(PictureError) -> Band {
        try file.undo(
            fetched.lines, at: memory, fetched.rows, of: layout.height, to: buffer.start)
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
        try checkIn()
        try file.read(rows, of: layout.height, to: start)
    }

    private func checkIn() throws(PictureError) {
        if !checkpoint() { throw PictureError(.cancelled, "\(name): cancelled while reading") }
    }
}
