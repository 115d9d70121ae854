import CDarkroomCodecWire
import CDarkroomPixels

/// Converts rows of CMYK to RGB by the formula of `darkroom_cmyk_to_rgb`, which CMYK in JPEG has, too.
final class CMYKConverter {
    let bytesPerRow: Int
    private let rows: CodecRows
    private let buffer: FilterBuffer<UInt8>

    init(_ rows: CodecRows) throws(PictureError) {
        self.rows = rows
        bytesPerRow = rows.bytesPerRow
        // A slot has at most this many rows.
        let most = Int(DARKROOM_CODEC_BAND) / rows.bytesPerRow + 1
        buffer = try FilterBuffer(count: min(most, rows.height) * rows.layout.bytesPerRow)
    }

    /// - Returns: the converted rows, until the next call.
    func converted(_ stored: UnsafeMutableRawBufferPointer, rows count: Int)
        -> UnsafeMutableRawPointer?
    {
        guard count * rows.layout.bytesPerRow <= buffer.count else { return nil }
        guard let start = stored.baseAddress else { return nil }
        darkroom_cmyk_to_rgb(
            start, Int32(rows.channels), buffer.start, count * rows.width, Int32(rows.depth), false)
        return UnsafeMutableRawPointer(buffer.start)
    }
}
