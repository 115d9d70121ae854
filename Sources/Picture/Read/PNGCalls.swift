import CDarkroomShims

/// The shim's reader of a PNG, as `darkroom_png.h` describes it: in this process, or in one of its own. A call throws only
/// if that process fails; what is wrong with the picture is the result.
protocol PNGCalls: AnyObject {
    /// - Returns: the first bytes, which are not consumed.
    func prefix(_ count: Int) throws(PictureError) -> (darkroom_png_result, [UInt8])
    func open(_ header: inout darkroom_png_header) throws(PictureError) -> darkroom_png_result
    func start(_ decoder: darkroom_png_decoder) throws(PictureError) -> darkroom_png_result

    /// Red, green, blue and alpha of each index; nil if the picture has no palette, or if libpng decodes it.
    var palette: [UInt8]? { get }
    /// Before the first row: has the rows be indices of the palette, of 8 bits each. There must be one. The indices are
    /// examined as before.
    func keepIndices() throws(PictureError)
    /// After `keepIndices`: has the compressed data be kept, so that the same indices can be written as they are.
    ///
    /// - Returns: false if they were compressed with little effort, or if libpng decodes the picture; then they are not kept.
    func keepData() throws(PictureError) -> Bool
    /// Moves kept data to memory: as many bytes as there is room for, or none if so many have not been read, or the rest
    /// at the end. The data are good if all rows are.
    func takeData(
        _ memory: UnsafeMutableBufferPointer<UInt8>, isEnd: Bool
    ) throws(PictureError) -> Int
    /// After the last row: whether the kept data have further rows.
    var hasExtraRows: Bool { get }

    /// Reads rows into memory, which has the former rows of an interlaced picture.
    func read(
        _ count: Int, to start: UnsafeMutablePointer<UInt8>
    ) throws(PictureError) -> darkroom_png_result
    func finish() throws(PictureError) -> darkroom_png_result

    /// The bytes of a fetched row; 0 if rows cannot be read in two steps.
    var lineBytes: Int { get }
    /// Decompresses the next rows. Errors are reported when rows are made from them.
    func fetch(_ count: Int, to start: UnsafeMutablePointer<UInt8>) -> darkroom_png_fetched
    func undo(
        _ fetched: darkroom_png_fetched, at lines: UnsafePointer<UInt8>, _ count: Int,
        to start: UnsafeMutablePointer<UInt8>
    ) -> darkroom_png_result

    /// After `open`.
    func colour() throws(PictureError) -> PictureColour
    /// The data of eXIf if it is before the pixels.
    func exif() throws(PictureError) -> [UInt8]?
    var hasTransparency: Bool { get }

    var warnings: [String] { get }
    var chunks: [String] { get }
    /// Of the last call.
    var lastCount: Int { get }
    var message: String { get }
    var systemError: CInt { get }
}

/// The reader in this process.
final class OwnPNGCalls: PNGCalls {
    private let reader: OpaquePointer

    init(_ input: PictureDecoder.Input) throws(PictureError) {
        let limits = input.limits
        guard
            let reader = darkroom_png_reader_new(
                input.picture.number, limits.largestAllocation, limits.ancillaryBytes)
        else { throw PictureError.outOfMemory(input.name, "not enough memory to read a PNG") }
        if limits.damaged == .keep { darkroom_png_reader_keep_damaged(reader) }
        input.picture.fill { darkroom_png_reader_fill(reader, $0, $1) }
        self.reader = reader
    }

    deinit { darkroom_png_reader_free(reader) }

    func prefix(_ count: Int) -> (darkroom_png_result, [UInt8]) {
        var copied = 0
        var result = DARKROOM_PNG_OK
        let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
            result = darkroom_png_reader_prefix(reader, buffer.baseAddress, count, &copied)
            initialized = copied
        }
        return (result, bytes)
    }

    func open(_ header: inout darkroom_png_header) -> darkroom_png_result {
        darkroom_png_reader_open(reader, &header)
    }

    func start(_ decoder: darkroom_png_decoder) -> darkroom_png_result {
        var rowBytes = 0
        return darkroom_png_reader_start(reader, decoder, &rowBytes)
    }

    var palette: [UInt8]? {
        var count: UInt32 = 0
        guard let colours = darkroom_png_reader_palette(reader, &count), count > 0 else {
            return nil
        }
        return Array(UnsafeRawBufferPointer(start: colours, count: 4 * Int(count)))
    }

    func keepIndices() { darkroom_png_reader_keep_indices(reader) }

    func keepData() -> Bool { darkroom_png_reader_keep_data(reader) }

    func takeData(_ memory: UnsafeMutableBufferPointer<UInt8>, isEnd: Bool) -> Int {
        darkroom_png_reader_take_data(reader, memory.baseAddress, memory.count, isEnd)
    }

    var hasExtraRows: Bool { darkroom_png_reader_has_extra_rows(reader) }

    func read(_ count: Int, to start: UnsafeMutablePointer<UInt8>) -> darkroom_png_result {
        darkroom_png_reader_rows(reader, start, UInt32(count))
    }

    func finish() -> darkroom_png_result { darkroom_png_reader_finish(reader) }

    var lineBytes: Int { darkroom_png_reader_line_bytes(reader) }

    func fetch(_ count: Int, to start: UnsafeMutablePointer<UInt8>) -> darkroom_png_fetched {
        var fetched = darkroom_png_fetched()
        darkroom_png_reader_fetch(reader, start, UInt32(count), &fetched)
        return fetched
    }

    func undo(
        _ fetched: darkroom_png_fetched, at lines: UnsafePointer<UInt8>, _ count: Int,
        to start: UnsafeMutablePointer<UInt8>
    ) -> darkroom_png_result {
        withUnsafePointer(to: fetched) {
            darkroom_png_reader_undo(reader, lines, $0, start, UInt32(count))
        }
    }

    func colour() -> PictureColour {
        var colour = darkroom_png_colour()
        darkroom_png_reader_colour(reader, &colour)
        return PictureColour(colour)
    }

    func exif() -> [UInt8]? { ShimReader.bytes(of: reader, darkroom_png_reader_exif) }

    var hasTransparency: Bool { darkroom_png_reader_has_transparency(reader) != 0 }

    var warnings: [String] { ShimReader.strings(of: reader, darkroom_png_reader_warning) }

    var chunks: [String] { ShimReader.strings(of: reader, darkroom_png_reader_chunk) }

    var lastCount: Int { Int(darkroom_png_reader_last_count(reader)) }

    var message: String { String(cString: darkroom_png_reader_message(reader)) }

    var systemError: CInt { darkroom_png_reader_errno(reader) }
}

extension PictureLimits {
    /// The largest valid requests of libpng: a row with 8 bytes per pixel, or an ancillary chunk. All other requests are
    /// small, and a mebibyte is enough for them.
    var largestAllocation: Int { max(side * 8, ancillaryBytes) + 1 << 20 }
}
