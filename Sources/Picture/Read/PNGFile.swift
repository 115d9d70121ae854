import CDarkroomShims

/// Owns the shim's reader, and converts its results to errors that name the file and the step.
final class PNGFile {
    private let reader: OpaquePointer
    private let name: String

    init(_ input: PictureDecoder.Input) throws(PictureError) {
        let limits = input.limits
        // The largest valid requests of libpng: a row with 8 bytes per pixel, or an ancillary chunk. All other requests
        // are small, and a mebibyte is enough for them.
        let largest = max(limits.side * 8, limits.ancillaryBytes) + 1 << 20
        guard
            let reader = darkroom_png_reader_new(
                input.picture.number, largest, limits.ancillaryBytes)
        else {
            throw PictureError.outOfMemory(input.name, "not enough memory to read a PNG")
        }
        if limits.damaged == .keep { darkroom_png_reader_keep_damaged(reader) }
        input.picture.fill { darkroom_png_reader_fill(reader, $0, $1) }
        self.reader = reader
        name = input.name
    }

    deinit { darkroom_png_reader_free(reader) }

    /// The first bytes. They are not consumed.
    func prefix(_ count: Int) throws(PictureError) -> [UInt8] {
        var copied = 0
        var result = DARKROOM_PNG_OK
        let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
            result = darkroom_png_reader_prefix(reader, buffer.baseAddress, count, &copied)
            initialized = copied
        }
        try check(result, step: "reading the first bytes")
        return bytes
    }

    /// Reads everything before the pixels.
    ///
    /// - Parameter prefix: the first bytes, to distinguish impossible dimensions from other errors.
    func open(prefix: [UInt8]) throws(PictureError) -> darkroom_png_header {
        var header = darkroom_png_header()
        let result = darkroom_png_reader_open(reader, &header)
        let step = "reading the header"
        if result == DARKROOM_PNG_HEADER || result == DARKROOM_PNG_INVALID,
            let words = Self.impossibleDimensions(prefix)
        {
            throw PictureError(.pngDimensions, "\(name): \(step): \(words)")
        }
        try check(result, step: step)
        return header
    }

    /// The error in the dimensions in IHDR, which must be a PNG's first chunk.
    private static func impossibleDimensions(_ prefix: [UInt8]) -> String? {
        guard prefix.count >= 24, prefix[12..<16].elementsEqual("IHDR".utf8) else { return nil }
        let sides = [16, 20].map { start in
            prefix[start..<start + 4].reduce(0) { $0 << 8 | Int($1) }
        }
        if sides.allSatisfy((1...Int(Int32.max)).contains) { return nil }
        return "\(sides[0]) × \(sides[1]) pixels; a side of a PNG has 1 to \(Int32.max)"
    }

    func start(_ decoder: PNGReader.Decoder) throws(PictureError) {
        var rowBytes = 0
        let choice =
            switch decoder {
            case .automatic: DARKROOM_PNG_AUTOMATIC
            case .reference: DARKROOM_PNG_REFERENCE
            }
        try check(
            darkroom_png_reader_start(reader, choice, &rowBytes), step: "preparing to read rows")
    }

    /// Red, green, blue and alpha of each index; nil if the picture has no palette, or if libpng decodes it.
    var palette: [UInt8]? {
        var count: UInt32 = 0
        guard let colours = darkroom_png_reader_palette(reader, &count), count > 0 else {
            return nil
        }
        return Array(UnsafeRawBufferPointer(start: colours, count: 4 * Int(count)))
    }

    /// Has the rows be indices of the palette, of 8 bits each.
    func keepIndices() { darkroom_png_reader_keep_indices(reader) }

    /// Has the compressed data be kept.
    ///
    /// - Returns: false if they were compressed with little effort, or if libpng decodes the picture.
    func keepData() -> Bool { darkroom_png_reader_keep_data(reader) }

    /// Moves kept data to memory: as many bytes as there is room for, or none, or the rest at the end.
    func takeData(_ memory: UnsafeMutableBufferPointer<UInt8>, isEnd: Bool) -> Int {
        darkroom_png_reader_take_data(reader, memory.baseAddress, memory.count, isEnd)
    }

    /// After the last row: whether kept data go on with further rows.
    var hasExtraRows: Bool { darkroom_png_reader_has_extra_rows(reader) }

    /// Reads the next rows. The numbers are used only in messages.
    func read(
        _ rows: Range<Int>, of height: Int, to start: UnsafeMutableRawPointer
    ) throws(PictureError) {
        let bytes = start.assumingMemoryBound(to: UInt8.self)
        try check(darkroom_png_reader_rows(reader, bytes, UInt32(rows.count)), rows, of: height)
    }

    /// The bytes of a fetched row; 0 if rows cannot be read in two steps.
    var lineBytes: Int { darkroom_png_reader_line_bytes(reader) }

    /// Decompresses the next rows. Errors are reported when rows are made from them.
    func decompress(_ rows: Int, to start: UnsafeMutablePointer<UInt8>) -> darkroom_png_fetched {
        var fetched = darkroom_png_fetched()
        darkroom_png_reader_fetch(reader, start, UInt32(rows), &fetched)
        return fetched
    }

    /// Makes rows from the fetched data. The numbers are used only in messages.
    func undo(
        _ fetched: darkroom_png_fetched, at lines: UnsafePointer<UInt8>, _ rows: Range<Int>,
        of height: Int, to start: UnsafeMutablePointer<UInt8>
    ) throws(PictureError) {
        let result = withUnsafePointer(to: fetched) {
            darkroom_png_reader_undo(reader, lines, $0, start, UInt32(rows.count))
        }
        try check(result, rows, of: height)
    }

    /// Makes rows gray and opaque.
    func fillWithGray(
        _ header: darkroom_png_header, _ rows: Int, at start: UnsafeMutablePointer<UInt8>
    ) {
        withUnsafePointer(to: header) { darkroom_png_fill_gray($0, start, UInt32(rows)) }
    }

    func finish() throws(PictureError) {
        try check(darkroom_png_reader_finish(reader), step: "reading the data after the last row")
    }

    func colour() -> PictureColour {
        var colour = darkroom_png_colour()
        darkroom_png_reader_colour(reader, &colour)
        return PictureColour(colour)
    }

    /// The data of eXIf if it is before the pixels.
    var exif: [UInt8]? { ShimReader.bytes(of: reader, darkroom_png_reader_exif) }

    var hasTransparency: Bool { darkroom_png_reader_has_transparency(reader) != 0 }

    var warnings: [String] { ShimReader.strings(of: reader, darkroom_png_reader_warning) }

    var chunks: [String] { ShimReader.strings(of: reader, darkroom_png_reader_chunk) }

    private func check(
        _ result: darkroom_png_result, _ rows: Range<Int>, of height: Int
    ) throws(PictureError) {
        if result == DARKROOM_PNG_OK { return }
        let row = rows.lowerBound + Int(darkroom_png_reader_last_count(reader))
        try check(result, step: "reading row \(row + 1) of \(height)")
    }

    private func check(_ result: darkroom_png_result, step: String) throws(PictureError) {
        if result == DARKROOM_PNG_OK { return }
        let words = String(cString: darkroom_png_reader_message(reader))
        let place = "\(name): \(step)"
        switch result {
        case DARKROOM_PNG_IO:
            throw ShimReader.readFailed(place, darkroom_png_reader_errno(reader))
        case DARKROOM_PNG_MEMORY:
            throw PictureError.outOfMemory(place, words)
        case DARKROOM_PNG_LIMIT:
            throw PictureError(
                .pngInvalid, "\(place): \(words): it asked for more memory than a picture needs"
            )
        case DARKROOM_PNG_TRUNCATED:
            throw PictureError(.pngTruncated, "\(place): \(words)")
        default:
            throw PictureError(Self.code(for: result), "\(place): \(words)")
        }
    }

    private static func code(for result: darkroom_png_result) -> PictureError.Code {
        switch result {
        case DARKROOM_PNG_SIGNATURE: .pngSignature
        case DARKROOM_PNG_CRC: .pngCRC
        case DARKROOM_PNG_ADLER: .pngAdler
        case DARKROOM_PNG_HEADER: .pngHeader
        case DARKROOM_PNG_DATA: .pngData
        case DARKROOM_PNG_PALETTE: .pngPalette
        case DARKROOM_PNG_INVALID: .pngInvalid
        default: preconditionFailure("the PNG shim was used in the wrong order")
        }
    }
}
