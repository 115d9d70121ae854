import CDarkroomShims

/// The shim's reader of a JPEG, as `darkroom_jpeg.h` describes it: in this process, or in one of its own. A call throws
/// only if that process fails; what is wrong with the picture is the result.
protocol JPEGCalls: AnyObject {
    func open(_ header: inout darkroom_jpeg_header) throws(PictureError) -> darkroom_jpeg_result
    /// - Parameter heldBytes: what it holds until the last row.
    func start(
        _ decoder: darkroom_jpeg_decoder, divisor: Int, heldBytes: Int
    ) throws(PictureError) -> (darkroom_jpeg_result, width: Int, height: Int)
    func start(
        views divisors: [Int], heldBytes: Int
    ) throws(PictureError) -> (darkroom_jpeg_result, [JPEGFile.View])
    /// - Returns: the number of rows of each view.
    func step(
        _ views: [UnsafeMutablePointer<UInt8>]
    ) throws(PictureError) -> (darkroom_jpeg_result, [Int])
    func absorb() throws(PictureError) -> (darkroom_jpeg_result, isComplete: Bool)
    func read(
        _ count: Int, _ bytesPerRow: Int, to start: UnsafeMutablePointer<UInt8>
    ) throws(PictureError) -> darkroom_jpeg_result
    func finish() throws(PictureError) -> darkroom_jpeg_result

    /// Whether libjpeg gives the rows, from the beginning or since it has taken over.
    var isReference: Bool { get }
    /// After `open`: the TIFF structures of the first Exif segments.
    func exifs() throws(PictureError) -> [[UInt8]]
    func profile() throws(PictureError) -> [UInt8]?

    var warnings: [String] { get }
    var segments: [String] { get }
    /// Of the last call.
    var lastCount: Int { get }
    var message: String { get }
    var systemError: CInt { get }
}

/// The reader in this process.
final class OwnJPEGCalls: JPEGCalls {
    private let reader: OpaquePointer

    init(_ input: PictureDecoder.Input) throws(PictureError) {
        let (picture, limits) = (input.picture, input.limits)
        guard let reader = darkroom_jpeg_reader_new(picture.number, limits.ancillaryBytes) else {
            throw PictureError.outOfMemory(input.name, "not enough memory to read a JPEG")
        }
        if limits.damaged == .keep { darkroom_jpeg_reader_keep_damaged(reader) }
        picture.fill { darkroom_jpeg_reader_fill(reader, $0, $1) }
        self.reader = reader
    }

    deinit { darkroom_jpeg_reader_free(reader) }

    func open(_ header: inout darkroom_jpeg_header) -> darkroom_jpeg_result {
        darkroom_jpeg_reader_open(reader, &header)
    }

    func start(
        _ decoder: darkroom_jpeg_decoder, divisor: Int, heldBytes: Int
    ) -> (darkroom_jpeg_result, width: Int, height: Int) {
        var width: UInt32 = 0
        var height: UInt32 = 0
        let result = darkroom_jpeg_reader_start(reader, decoder, UInt32(divisor), &width, &height)
        return (result, Int(width), Int(height))
    }

    func start(views divisors: [Int], heldBytes: Int) -> (darkroom_jpeg_result, [JPEGFile.View]) {
        var widths = [UInt32](repeating: 0, count: Int(DARKROOM_JPEG_MOST_VIEWS))
        var heights = widths
        var rows = widths
        let result = darkroom_jpeg_reader_start_views(
            reader, divisors.map { UInt32($0) }, UInt32(divisors.count), &widths, &heights, &rows)
        let views = divisors.indices.map {
            JPEGFile.View(
                width: Int(widths[$0]), height: Int(heights[$0]), rowsPerStep: Int(rows[$0]))
        }
        return (result, views)
    }

    func step(_ views: [UnsafeMutablePointer<UInt8>]) -> (darkroom_jpeg_result, [Int]) {
        let most = Int(DARKROOM_JPEG_MOST_VIEWS)
        var rows: [UnsafeMutablePointer<UInt8>?] = views
        rows += [UnsafeMutablePointer<UInt8>?](repeating: nil, count: most - views.count)
        var counts = [UInt32](repeating: 0, count: most)
        let result = darkroom_jpeg_reader_step(reader, rows, &counts)
        return (result, views.indices.map { Int(counts[$0]) })
    }

    func absorb() -> (darkroom_jpeg_result, isComplete: Bool) {
        var isComplete: Int32 = 0
        let result = darkroom_jpeg_reader_absorb(reader, &isComplete)
        return (result, isComplete != 0)
    }

    func read(
        _ count: Int, _ bytesPerRow: Int, to start: UnsafeMutablePointer<UInt8>
    ) -> darkroom_jpeg_result {
        darkroom_jpeg_reader_rows(reader, start, bytesPerRow, UInt32(count))
    }

    func finish() -> darkroom_jpeg_result { darkroom_jpeg_reader_finish(reader) }

    var isReference: Bool { darkroom_jpeg_reader_is_reference(reader) != 0 }

    func exifs() -> [[UInt8]] {
        var result: [[UInt8]] = []
        while let tiff = ShimReader.bytes(
            of: reader, { darkroom_jpeg_reader_exif($0, result.count, $1) })
        {
            result.append(tiff)
        }
        return result
    }

    func profile() -> [UInt8]? { ShimReader.bytes(of: reader, darkroom_jpeg_reader_profile) }

    var warnings: [String] { ShimReader.strings(of: reader, darkroom_jpeg_reader_warning) }

    var segments: [String] { ShimReader.strings(of: reader, darkroom_jpeg_reader_segment) }

    var lastCount: Int { Int(darkroom_jpeg_reader_last_count(reader)) }

    var message: String { String(cString: darkroom_jpeg_reader_message(reader)) }

    var systemError: CInt { darkroom_jpeg_reader_errno(reader) }
}
