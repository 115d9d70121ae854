import CDarkroomShims

/// A PNG that is being read. Converts the results of the calls to errors that name the file and the step.
final class PNGFile {
    let calls: any PNGCalls
    private let name: String

    convenience init(_ input: PictureDecoder.Input) throws(PictureError) {
        switch input.limits.confine {
        case .others: self.init(try OwnPNGCalls(input), name: input.name)
        case .all: self.init(try ConfinedPNGCalls(input), name: input.name)
        }
    }

    init(_ calls: any PNGCalls, name: String) {
        self.calls = calls
        self.name = name
    }

    /// The first bytes. They are not consumed.
    func prefix(_ count: Int) throws(PictureError) -> [UInt8] {
        let (result, bytes) = try calls.prefix(count)
        try check(result, step: "reading the first bytes")
        return bytes
    }

    /// Reads everything before the pixels.
    ///
    /// - Parameter prefix: the first bytes, to distinguish impossible dimensions from other errors.
    func open(prefix: [UInt8]) throws(PictureError) -> darkroom_png_header {
        var header = darkroom_png_header()
        let result = try calls.open(&header)
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
        let choice = decoder == .reference ? DARKROOM_PNG_REFERENCE : DARKROOM_PNG_AUTOMATIC
        try check(try calls.start(choice), step: "preparing to read rows")
    }

    /// Reads the next rows. The numbers are used only in messages.
    func read(
        _ rows: Range<Int>, of height: Int, to start: UnsafeMutableRawPointer
    ) throws(PictureError) {
        let bytes = start.assumingMemoryBound(to: UInt8.self)
        try check(try calls.read(rows.count, to: bytes), rows, of: height)
    }

    /// Makes rows from the fetched data. The numbers are used only in messages.
    func undo(
        _ fetched: darkroom_png_fetched, at lines: UnsafePointer<UInt8>, _ rows: Range<Int>,
        of height: Int, to start: UnsafeMutablePointer<UInt8>
    ) throws(PictureError) {
        let result = calls.undo(fetched, at: lines, rows.count, to: start)
        try check(result, rows, of: height)
    }

    /// Makes rows gray and opaque.
    func fillWithGray(
        _ header: darkroom_png_header, _ rows: Int, at start: UnsafeMutablePointer<UInt8>
    ) {
        withUnsafePointer(to: header) { darkroom_png_fill_gray($0, start, UInt32(rows)) }
    }

    func finish() throws(PictureError) {
        try check(try calls.finish(), step: "reading the data after the last row")
    }

    private func check(
        _ result: darkroom_png_result, _ rows: Range<Int>, of height: Int
    ) throws(PictureError) {
        if result == DARKROOM_PNG_OK { return }
        let row = rows.lowerBound + calls.lastCount
        try check(result, step: "reading row \(row + 1) of \(height)")
    }

    private func check(_ result: darkroom_png_result, step: String) throws(PictureError) {
        if result == DARKROOM_PNG_OK { return }
        let words = calls.message
        let place = "\(name): \(step)"
        switch result {
        case DARKROOM_PNG_IO:
            throw ShimReader.readFailed(place, calls.systemError)
        case DARKROOM_PNG_MEMORY:
            throw PictureError.outOfMemory(place, words)
        case DARKROOM_PNG_LIMIT:
            throw PictureError(
                .pngInvalid, "\(place): \(words): it asked for more memory than a picture needs"
            )
        default:
            throw PictureError(Self.code(for: result), "\(place): \(words)")
        }
    }

    private static func code(for result: darkroom_png_result) -> PictureError.Code {
        switch result {
        case DARKROOM_PNG_SIGNATURE: .pngSignature
        case DARKROOM_PNG_TRUNCATED: .pngTruncated
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
