import CDarkroomDeflate

/// The compressed indices of a picture with a palette, which its result has too.
///
/// They are written while the rows are read and examined: if a row is not good, there is no result, and if rows follow
/// the last one, the result is written again without a copy (`PictureResult.withoutSurplus`). The source's chunks
/// do not matter: all have the same size here, so that timing does not change the bytes.
final class CopiedIndices {
    private let reader: PNGReader
    private let chunk: FilterBuffer<UInt8>

    private static let dataBytes = 64 << 10
    /// Length and name before a chunk's data, CRC after it.
    private static let (headBytes, tailBytes) = (8, 4)

    /// - Parameter reader: it keeps its data.
    init(of reader: PNGReader) throws(PictureError) {
        self.reader = reader
        chunk = try FilterBuffer(count: Self.headBytes + Self.dataBytes + Self.tailBytes)
    }

    /// Writes the chunks that are complete, or all the rest after the last row.
    func write(isEnd: Bool, output: StripEncoder.Output) throws(PictureError) {
        let data = UnsafeMutableBufferPointer(
            start: chunk.start + Self.headBytes, count: Self.dataBytes)
        while true {
            let count = try reader.calls.takeData(data, isEnd: isEnd)
            if count == 0 { return }
            try output(frame(count))
        }
    }

    /// After the last row: whether there are further rows.
    var hasSurplus: Bool { reader.calls.hasExtraRows }

    /// Writes length, name and CRC around the data.
    private func frame(_ count: Int) -> UnsafeRawBufferPointer {
        let bytes = chunk.start
        put(count, at: bytes)
        for (index, letter) in "IDAT".utf8.enumerated() { bytes[4 + index] = letter }
        let end = bytes + Self.headBytes + count
        put(Int(darkroom_crc32(0, bytes + 4, 4 + count)), at: end)
        return UnsafeRawBufferPointer(start: bytes, count: Self.headBytes + count + Self.tailBytes)
    }

    private func put(_ value: Int, at bytes: UnsafeMutablePointer<UInt8>) {
        for index in 0..<4 { bytes[index] = UInt8(truncatingIfNeeded: value >> (24 - 8 * index)) }
    }
}
