import CDarkroomShims
package import SystemPackage

/// The first stage: the rows of a PNG file, decoded as they are asked for.
///
/// Palettes are looked up, depths below 8 bits scaled to 8, transparency is turned into alpha; 16
/// bits stay 16. An interlaced picture is decoded whole into memory before its first band is lent,
/// which counts against `PictureLimits.wholePictureBytes`; others never take more than a band.
///
/// Damage to the pixels is an error wherever it lies. That after the last row, a wrong Adler
/// checksum or a missing IEND, is found by the call of `nextBand` that returns nil.
package final class PNGReader: TwoStepStage {
    package let layout: PixelLayout
    package let header: Header
    /// The chunks on colour and physical size that are usable.
    package let colour: PNGColour
    /// Whether tRNS became the alpha channel.
    package let hasTransparencyChunk: Bool
    /// As eXIf gives it, where that comes before the pixels.
    package let orientation: Orientation
    package let exif: [UInt8]?

    private let file: PNGFile
    private let name: String
    private let checkpoint: () -> Bool
    /// A band, or the whole of an interlaced picture.
    private let buffer: FilterMemory<UInt8>
    private let rowsPerBand: Int
    /// The first row not yet read, or not yet fetched.
    private var nextRow = 0
    private var isDecoded = false
    private var isFinished = false
    /// What is wrong with eXIf.
    private let remark: String?

    /// What IHDR says.
    package struct Header: Sendable, Equatable {
        /// PNG's number: 0 gray, 2 RGB, 3 palette, 4 gray and alpha, 6 RGB and alpha.
        package let colourType: UInt8
        /// Bits of a sample in the file.
        package let depth: Int
        package let isInterlaced: Bool

        package var hasPalette: Bool { colourType == 3 }
    }

    /// Who decodes the pixels. Everything around them is always read by libpng.
    package enum Decoder: Sendable, CaseIterable {
        /// Code of our own where the picture is of a usual kind, else libpng.
        case automatic
        /// libpng, with which the code of our own is compared.
        case reference
    }

    /// Reads all that comes before the pixels.
    ///
    /// - Parameters:
    ///   - file: Where the picture begins at the current offset. Stays open, and must do so as long
    ///     as this reader is used. Need not be seekable.
    ///   - name: What messages call the file.
    ///   - decoder: `reference` is for tests and benchmarks.
    ///   - checkpoint: Asked before each band; false ends reading with `PictureError.Code.cancelled`.
    package init(
        file descriptor: FileDescriptor, name: String, limits: PictureLimits = PictureLimits(),
        decoder: Decoder = .automatic, checkpoint: @escaping () -> Bool = { true }
    ) throws(PictureError) {
        let file = try PNGFile(descriptor, name: name, limits: limits)
        let prefix = try file.prefix(PictureKind.prefixLength)
        if let refusal = PictureKind(prefix: prefix).refusal(of: name) { throw refusal }
        let raw = try file.open(prefix: prefix)
        try limits.check(
            width: Int(raw.width), height: Int(raw.height), place: "\(name): reading the header")
        layout = PixelLayout(
            width: Int(raw.width), height: Int(raw.height), channels: Int(raw.channels),
            depth: Int(raw.depth))
        header = Header(
            colourType: raw.color_type, depth: Int(raw.bit_depth),
            isInterlaced: raw.interlaced != 0)
        colour = file.colour()
        hasTransparencyChunk = file.hasTransparency
        let exif = file.exif
        self.exif = exif.flatMap { $0.count <= Exif.mostBytes ? $0 : nil }
        (orientation, remark) = ExifOrientation.read(exif)
        rowsPerBand = Self.rowsPerBand(layout)
        if header.isInterlaced {
            try limits.checkWholePicture(layout, place: "\(name): reading an interlaced picture")
        }
        let heldRows = header.isInterlaced ? layout.height : rowsPerBand
        buffer = try FilterMemory(count: layout.bytesPerRow * heldRows)
        try file.start(decoder)
        self.file = file
        self.name = name
        self.checkpoint = checkpoint
    }

    /// What was remarked and let pass, so far: the first few of libpng's remarks.
    package var warnings: [String] { file.warnings + (remark.map { [$0] } ?? []) }

    /// The names of the chunks met so far, in order of appearance, each once.
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

    /// Reads what has not been asked for, so that damage there is found too.
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

    /// A band's usual number of rows, but eight at a time: so many are unfiltered together. Fewer only
    /// where eight take more than half a mebibyte.
    static func rowsPerBand(_ layout: PixelLayout) -> Int {
        let group = 8
        if layout.bytesPerRow > (512 << 10) / group { return layout.rowsPerBand }
        return min(layout.height, (layout.rowsPerBand + group - 1) / group * group)
    }

    /// Those of Adam7.
    private static let passes = 7

    /// One pass over an interlaced picture.
    private func decodeWhole() throws(PictureError) {
        var row = 0
        while row < layout.height {
            let rows = row..<min(layout.height, row + rowsPerBand)
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
