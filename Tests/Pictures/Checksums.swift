/// The checksums of PNG and zlib, written from their definitions so that the tests do not share
/// them with the libraries under test.
package enum Checksum {
    /// CRC-32 of PNG (ISO 3309, reflected polynomial EDB88320).
    package static func crc32(_ parts: [UInt8]...) -> UInt32 {
        var crc: UInt32 = 0xFFFF_FFFF
        crcTable.withUnsafeBufferPointer { table in
            for part in parts {
                part.withUnsafeBufferPointer { bytes in
                    var index = 0
                    while index < bytes.count {
                        crc = table[Int(UInt8(truncatingIfNeeded: crc) ^ bytes[index])] ^ crc >> 8
                        index += 1
                    }
                }
            }
        }
        return ~crc
    }

    /// Adler-32 of zlib (RFC 1950).
    package static func adler32(_ bytes: [UInt8]) -> UInt32 {
        var low: UInt32 = 1
        var high: UInt32 = 0
        bytes.withUnsafeBufferPointer { bytes in
            var index = 0
            while index < bytes.count {
                // 5552 is the largest count for which `high` cannot overflow 32 bits.
                let end = min(bytes.count, index + 5552)
                while index < end {
                    low &+= UInt32(bytes[index])
                    high &+= low
                    index += 1
                }
                low %= 65521
                high %= 65521
            }
        }
        return high << 16 | low
    }

    private static let crcTable: [UInt32] = (0..<256).map { index in
        (0..<8).reduce(UInt32(index)) { value, _ in
            value & 1 == 1 ? 0xEDB8_8320 ^ value >> 1 : value >> 1
        }
    }
}

extension [UInt8] {
    /// Appends `value` with its most significant byte first.
    package mutating func append(bigEndian value: UInt32) {
        append(UInt8(truncatingIfNeeded: value >> 24))
        append(UInt8(truncatingIfNeeded: value >> 16))
        append(UInt8(truncatingIfNeeded: value >> 8))
        append(UInt8(truncatingIfNeeded: value))
    }

    /// The four bytes from `offset` on, most significant first.
    package func bigEndian(at offset: Int) -> UInt32 {
        self[offset..<offset + 4].reduce(0) { $0 << 8 | UInt32($1) }
    }
}
