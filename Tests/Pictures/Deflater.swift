/// A deflate encoder (RFC 1951) of the tests' own: stored blocks, or one block of fixed Huffman
/// codes with matches at a few distances.
package enum Deflater {
    package enum Method: Sendable, CaseIterable {
        case stored
        case fixedCodes
    }

    /// A zlib stream (RFC 1950) of `bytes`.
    ///
    /// - Parameters:
    ///   - distances: Where `fixedCodes` looks for matches, in bytes back.
    ///   - adlerError: Added to the checksum, to make a wrong one.
    package static func zlib(
        _ bytes: [UInt8], _ method: Method, distances: [Int] = [1], adlerError: UInt32 = 0
    ) -> [UInt8] {
        // 78 01: deflate with a window of 32 KiB, "fastest", a multiple of 31.
        var stream: [UInt8] = [0x78, 0x01]
        switch method {
        case .stored: appendStored(bytes, to: &stream)
        case .fixedCodes: appendFixedCodes(bytes, distances: distances, to: &stream)
        }
        stream.append(bigEndian: Checksum.adler32(bytes) &+ adlerError)
        return stream
    }

    /// A zlib stream of so many zeros, one at least, without making them: literals, then matches of 258 bytes that
    /// reach one byte back.
    package static func zlib(zeros count: Int) -> [UInt8] {
        var writer = BitWriter(bytes: [0x78, 0x01])
        writer.append(0b011, count: 3)
        let matches = (count - 1) / 258
        for _ in 0..<count - matches * 258 { appendSymbol(0, to: &writer) }
        // Length 285, 11000101 with its first bit first, and distance 0, 00000; neither has further bits.
        for _ in 0..<matches { writer.append(0b00000_1010_0011, count: 13) }
        appendSymbol(256, to: &writer)
        var stream = writer.finished()
        // Adler-32: one sum stays 1, the other counts.
        stream.append(bigEndian: UInt32(count % 65521) << 16 | 1)
        return stream
    }

    private static func appendStored(_ bytes: [UInt8], to stream: inout [UInt8]) {
        var start = 0
        repeat {
            let end = min(bytes.count, start + 0xFFFF)
            let length = UInt16(end - start)
            stream.append(end == bytes.count ? 1 : 0)
            for word in [length, ~length] {
                stream.append(UInt8(truncatingIfNeeded: word))
                stream.append(UInt8(truncatingIfNeeded: word >> 8))
            }
            stream += bytes[start..<end]
            start = end
        } while start < bytes.count
    }

    private static func appendFixedCodes(
        _ bytes: [UInt8], distances: [Int], to stream: inout [UInt8]
    ) {
        var writer = BitWriter(bytes: stream)
        writer.append(0b011, count: 3)
        bytes.withUnsafeBufferPointer { bytes in
            var index = 0
            while index < bytes.count {
                let (length, distance) = longestMatch(in: bytes, at: index, distances: distances)
                if length >= 3 {
                    appendMatch(length: length, distance: distance, to: &writer)
                    index += length
                } else {
                    appendSymbol(Int(bytes[index]), to: &writer)
                    index += 1
                }
            }
        }
        appendSymbol(256, to: &writer)
        stream = writer.finished()
    }

    private static func longestMatch(
        in bytes: UnsafeBufferPointer<UInt8>, at index: Int, distances: [Int]
    ) -> (length: Int, distance: Int) {
        var best = (length: 0, distance: 0)
        let limit = min(258, bytes.count - index)
        for distance in distances where distance <= index && distance <= 32768 {
            var length = 0
            while length < limit, bytes[index + length] == bytes[index + length - distance] {
                length += 1
            }
            if length > best.length { best = (length, distance) }
        }
        return best
    }

    /// The fixed code of a literal or length symbol (RFC 1951, 3.2.6), its first bit first.
    private static func appendSymbol(_ symbol: Int, to writer: inout BitWriter) {
        switch symbol {
        case ..<144: writer.appendCode(0x30 + symbol, count: 8)
        case ..<256: writer.appendCode(0x190 + symbol - 144, count: 9)
        case ..<280: writer.appendCode(symbol - 256, count: 7)
        default: writer.appendCode(0xC0 + symbol - 280, count: 8)
        }
    }

    private static func appendMatch(length: Int, distance: Int, to writer: inout BitWriter) {
        let lengthCode = DeflateTables.lastIndex(in: DeflateTables.lengthBases, notAbove: length)
        appendSymbol(257 + lengthCode, to: &writer)
        writer.append(
            UInt32(length - DeflateTables.lengthBases[lengthCode]),
            count: DeflateTables.lengthExtraBits[lengthCode])
        let distanceCode = DeflateTables.lastIndex(
            in: DeflateTables.distanceBases, notAbove: distance)
        writer.appendCode(distanceCode, count: 5)
        writer.append(
            UInt32(distance - DeflateTables.distanceBases[distanceCode]),
            count: DeflateTables.distanceExtraBits[distanceCode])
    }
}

/// The lengths and distances of RFC 1951, 3.2.5.
enum DeflateTables {
    static let lengthExtraBits = [
        0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0,
    ]
    static let lengthBases = [
        3, 4, 5, 6, 7, 8, 9, 10, 11, 13, 15, 17, 19, 23, 27, 31, 35, 43, 51, 59, 67, 83, 99, 115,
        131, 163, 195, 227, 258,
    ]
    static let distanceExtraBits = [
        0, 0, 0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7, 8, 8, 9, 9, 10, 10, 11, 11, 12, 12,
        13, 13,
    ]
    static let distanceBases: [Int] = distanceExtraBits.reduce(into: [1]) { bases, bits in
        bases.append((bases.last ?? 1) + 1 << bits)
    }.dropLast()

    static func lastIndex(in bases: [Int], notAbove value: Int) -> Int {
        bases.lastIndex { $0 <= value } ?? 0
    }
}

/// Packs bits into bytes, the least significant first.
package struct BitWriter {
    private var bytes: [UInt8]
    private var pending: UInt64 = 0
    private var pendingCount = 0

    package init(bytes: [UInt8]) { self.bytes = bytes }

    package mutating func append(_ bits: UInt32, count: Int) {
        pending |= UInt64(bits) << pendingCount
        pendingCount += count
        while pendingCount >= 8 {
            bytes.append(UInt8(truncatingIfNeeded: pending))
            pending >>= 8
            pendingCount -= 8
        }
    }

    /// Appends a Huffman code, which goes with its most significant bit first.
    package mutating func appendCode(_ code: Int, count: Int) {
        var reversed: UInt32 = 0
        for bit in 0..<count where code >> bit & 1 == 1 { reversed |= 1 << (count - 1 - bit) }
        append(reversed, count: count)
    }

    /// All bytes, the last filled up with zeros.
    package func finished() -> [UInt8] {
        pendingCount > 0 ? bytes + [UInt8(truncatingIfNeeded: pending)] : bytes
    }
}
