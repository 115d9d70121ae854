/// A chunk of a PNG file, whole or deliberately damaged.
package struct PNGChunk: Sendable, Equatable {
    package var type: String
    package var data: [UInt8]
    /// Added to the checksum, to make a wrong one.
    package var crcError: UInt32 = 0
    /// What the length field says where that is not the number of bytes.
    package var claimedLength: UInt32?

    package init(_ type: String, _ data: [UInt8] = []) {
        self.type = type
        self.data = data
    }

    package static let signature: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]

    /// The chunk as it lies in a file: length, type, data, checksum.
    package var encoded: [UInt8] {
        var bytes: [UInt8] = []
        bytes.append(bigEndian: claimedLength ?? UInt32(data.count))
        bytes += Array(type.utf8)
        bytes += data
        bytes.append(bigEndian: Checksum.crc32(Array(type.utf8), data) &+ crcError)
        return bytes
    }

    /// A file of these chunks.
    package static func file(_ chunks: [PNGChunk]) -> [UInt8] {
        chunks.reduce(into: signature) { $0 += $1.encoded }
    }

    /// The chunks of a file that is in order; nil if it is not.
    package static func all(in file: [UInt8]) -> [PNGChunk]? {
        guard file.starts(with: signature) else { return nil }
        var chunks: [PNGChunk] = []
        var offset = 8
        while offset < file.count {
            guard offset + 12 <= file.count else { return nil }
            let length = Int(file.bigEndian(at: offset))
            guard offset + 12 + length <= file.count else { return nil }
            let type = String(decoding: file[offset + 4..<offset + 8], as: UTF8.self)
            let chunk = PNGChunk(type, Array(file[offset + 8..<offset + 8 + length]))
            guard chunk.encoded == Array(file[offset..<offset + 12 + length]) else { return nil }
            chunks.append(chunk)
            offset += 12 + length
        }
        return chunks.last?.type == "IEND" ? chunks : nil
    }
}
