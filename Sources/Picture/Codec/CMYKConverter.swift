import CDarkroomCodecWire

/// Converts rows of CMYK to RGB, without a profile: a colour's light passes its ink and black, so red is
/// (1 − cyan) · (1 − black), rounded to the next level. Alpha stays.
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
        let target = UnsafeMutableRawPointer(buffer.start)
        if rows.depth == 8 {
            convert(stored.bindMemory(to: UInt8.self), target, count, as: UInt8.self)
        } else {
            convert(stored.bindMemory(to: UInt16.self), target, count, as: UInt16.self)
        }
        return target
    }

    private func convert<Sample: FixedWidthInteger & UnsignedInteger>(
        _ stored: UnsafeMutableBufferPointer<Sample>, _ target: UnsafeMutableRawPointer,
        _ count: Int, as: Sample.Type
    ) {
        let most = UInt64(Sample.max)
        let target = target.assumingMemoryBound(to: Sample.self)
        let (from, to) = (rows.channels, rows.layout.channels)
        for pixel in 0..<count * rows.width {
            let black = most - UInt64(stored[pixel * from + 3])
            for colour in 0..<3 {
                let light = most - UInt64(stored[pixel * from + colour])
                target[pixel * to + colour] = Sample((light * black + most / 2) / most)
            }
            if to == 4 { target[pixel * to + 3] = stored[pixel * from + 4] }
        }
    }
}
