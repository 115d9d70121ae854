import CDarkroomShims

/// Owns the shim's JPEG reader, and converts its results to errors that name the file and the step.
final class JPEGFile {
    private let reader: OpaquePointer
    private let name: String

    init(_ input: PictureDecoder.Input) throws(PictureError) {
        let (picture, limits) = (input.picture, input.limits)
        guard let reader = darkroom_jpeg_reader_new(picture.number, limits.ancillaryBytes) else {
            throw PictureError.outOfMemory(input.name, "not enough memory to read a JPEG")
        }
        if limits.damaged == .keep { darkroom_jpeg_reader_keep_damaged(reader) }
        picture.fill { darkroom_jpeg_reader_fill(reader, $0, $1) }
        self.reader = reader
        name = input.name
    }

    deinit { darkroom_jpeg_reader_free(reader) }

    func open() throws(PictureError) -> darkroom_jpeg_header {
        var header = darkroom_jpeg_header()
        try check(darkroom_jpeg_reader_open(reader, &header), step: "reading the header")
        return header
    }

    /// - Returns: the size of the picture of the rows.
    func start(
        _ decoder: JPEGReader.Decoder, divisor: Int
    ) throws(PictureError) -> (width: Int, height: Int) {
        var width: UInt32 = 0
        var height: UInt32 = 0
        let choice =
            switch decoder {
            case .automatic: DARKROOM_JPEG_AUTOMATIC
            case .reference: DARKROOM_JPEG_REFERENCE
            }
        try check(
            darkroom_jpeg_reader_start(reader, choice, UInt32(divisor), &width, &height),
            step: "preparing to read rows")
        return (Int(width), Int(height))
    }

    /// One of several sizes of a picture.
    struct View {
        let width: Int
        let height: Int
        /// The most rows that a step gives.
        let rowsPerStep: Int
    }

    /// Begins to read at several sizes at once; nil if only libjpeg reads the picture.
    func start(views divisors: [Int]) throws(PictureError) -> [View]? {
        let most = Int(DARKROOM_JPEG_MOST_VIEWS)
        guard divisors.count <= most else { return nil }
        var widths = [UInt32](repeating: 0, count: most)
        var heights = widths
        var rows = widths
        let result = darkroom_jpeg_reader_start_views(
            reader, divisors.map { UInt32($0) }, UInt32(divisors.count), &widths, &heights, &rows)
        if result == DARKROOM_JPEG_UNUSUAL { return nil }
        try check(result, step: "preparing to read rows")
        return divisors.indices.map {
            View(width: Int(widths[$0]), height: Int(heights[$0]), rowsPerStep: Int(rows[$0]))
        }
    }

    /// Reads the next rows of each size.
    ///
    /// - Returns: how many of each: zeros after the last ones; nil if the data are in doubt.
    func step(into memory: [UnsafeMutableRawPointer]) throws(PictureError) -> [Int]? {
        let most = Int(DARKROOM_JPEG_MOST_VIEWS)
        var rows: [UnsafeMutablePointer<UInt8>?] = memory.map {
            $0.assumingMemoryBound(to: UInt8.self)
        }
        rows += [UnsafeMutablePointer<UInt8>?](repeating: nil, count: most - memory.count)
        var counts = [UInt32](repeating: 0, count: most)
        let result = darkroom_jpeg_reader_step(reader, rows, &counts)
        if result == DARKROOM_JPEG_UNUSUAL { return nil }
        try check(result, step: "reading rows")
        return memory.indices.map { Int(counts[$0]) }
    }

    /// Whether libjpeg gives the rows, from the beginning or since it has taken over.
    var usesLibrary: Bool { darkroom_jpeg_reader_is_reference(reader) != 0 }

    /// Reads a part of a picture with several scans.
    ///
    /// - Returns: false if the picture is complete.
    func absorb() throws(PictureError) -> Bool {
        var isComplete: Int32 = 0
        try check(darkroom_jpeg_reader_absorb(reader, &isComplete), step: "reading the scans")
        return isComplete == 0
    }

    /// The same for several sizes at once.
    ///
    /// - Returns: nil if the data are in doubt.
    func absorbViews() throws(PictureError) -> Bool? {
        var isComplete: Int32 = 0
        let result = darkroom_jpeg_reader_absorb(reader, &isComplete)
        if result == DARKROOM_JPEG_UNUSUAL { return nil }
        try check(result, step: "reading the scans")
        return isComplete == 0
    }

    /// Reads the next rows. The numbers are used only in messages.
    func read(
        _ rows: Range<Int>, of layout: PixelLayout, to start: UnsafeMutableRawPointer
    ) throws(PictureError) {
        let bytes = start.assumingMemoryBound(to: UInt8.self)
        let result = darkroom_jpeg_reader_rows(
            reader, bytes, layout.bytesPerRow, UInt32(rows.count))
        if result == DARKROOM_JPEG_OK { return }
        let row = rows.lowerBound + Int(darkroom_jpeg_reader_last_count(reader))
        try check(result, step: "reading row \(row + 1) of \(layout.height)")
    }

    func finish() throws(PictureError) {
        try check(darkroom_jpeg_reader_finish(reader), step: "reading the data after the last row")
    }

    var warnings: [String] { ShimReader.strings(of: reader, darkroom_jpeg_reader_warning) }

    var segments: [String] { ShimReader.strings(of: reader, darkroom_jpeg_reader_segment) }

    /// The TIFF structures of the first Exif segments.
    var exifs: [[UInt8]] {
        var result: [[UInt8]] = []
        while let tiff = ShimReader.bytes(
            of: reader, { darkroom_jpeg_reader_exif($0, result.count, $1) })
        {
            result.append(tiff)
        }
        return result
    }

    /// The colour profile.
    var profile: [UInt8]? { ShimReader.bytes(of: reader, darkroom_jpeg_reader_profile) }

    private func check(_ result: darkroom_jpeg_result, step: String) throws(PictureError) {
        if result == DARKROOM_JPEG_OK { return }
        let words = String(cString: darkroom_jpeg_reader_message(reader))
        let place = "\(name): \(step)"
        switch result {
        case DARKROOM_JPEG_IO:
            throw ShimReader.readFailed(place, darkroom_jpeg_reader_errno(reader))
        case DARKROOM_JPEG_MEMORY:
            throw PictureError.outOfMemory(place, words)
        default:
            throw PictureError(Self.code(for: result), "\(place): \(words)")
        }
    }

    private static func code(for result: darkroom_jpeg_result) -> PictureError.Code {
        switch result {
        case DARKROOM_JPEG_TRUNCATED: .jpegTruncated
        case DARKROOM_JPEG_HEADER: .jpegHeader
        case DARKROOM_JPEG_DATA: .jpegData
        case DARKROOM_JPEG_UNSUPPORTED: .jpegUnsupported
        case DARKROOM_JPEG_LIMIT: .tooManyPixels
        case DARKROOM_JPEG_INVALID: .jpegInvalid
        default: preconditionFailure("the JPEG shim was used in the wrong order")
        }
    }
}
