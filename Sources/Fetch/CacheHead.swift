import CDarkroomDeflate
import Foundation

/// The header before each body in the cache: which body it is, its length and checksum, and the properties of its
/// response, or for the store of results (`ResultStore`) those of the result.
///
/// It is a block of 4096 bytes. Numbers are little-endian:
///
/// | offset | bytes | |
/// |-------:|------:|---|
/// |      0 |     8 | `DARKROOM` |
/// |      8 |     4 | the version of the layout, 1 |
/// |     12 |     4 | the CRC-32 of the block with these four bytes zero |
/// |     16 |    32 | the key, whose digits are the name of the file |
/// |     48 |     8 | the length of the body; the body follows the block and ends the file |
/// |     56 |     4 | the CRC-32 of the body |
/// |     60 |     4 | the length of the record |
/// |     64 |       | the record in JSON, then zeros |
///
/// The body begins at a block boundary, so that file systems that can share blocks between files can do so.
struct CacheHead<Record: CachedRecord>: Sendable, Equatable {
    var key: CacheKey
    var bodyLength: Int
    var bodyCRC: UInt32
    var record: Record

    static var length: Int { 4096 }

    private static var magic: [UInt8] { Array("DARKROOM".utf8) }
    private static var version: UInt32 { 1 }
    private static var crcOffset: Int { 12 }
    private static var recordOffset: Int { 64 }

    /// nil if the record does not fit; some servers send validators of kilobytes.
    func encoded() -> [UInt8]? {
        guard let json = try? JSONEncoder().encode(record),
            json.count <= Self.length - Self.recordOffset
        else { return nil }
        var block = Self.magic
        block.reserveCapacity(Self.length)
        block.append(Self.version)
        block.append(UInt32(0))
        block += key.bytes
        block.append(UInt64(bodyLength))
        block.append(bodyCRC)
        block.append(UInt32(json.count))
        block += json
        block += [UInt8](repeating: 0, count: Self.length - block.count)
        let crc = darkroom_crc32(0, block, block.count)
        for index in 0..<4 {
            block[Self.crcOffset + index] = UInt8(truncatingIfNeeded: crc >> (8 * index))
        }
        return block
    }
}

extension CacheHead {
    /// - Parameters:
    ///   - key: the key that belongs to the file's name.
    ///   - fileLength: the length of the whole file.
    init(decoding bytes: [UInt8], key: CacheKey, fileLength: Int) throws(CacheDamage) {
        guard bytes.count == Self.length else { throw .short }
        guard bytes.starts(with: Self.magic) else { throw .foreign }
        let version: UInt32 = bytes.number(at: 8)
        guard version == Self.version else { throw .version(version) }
        var block = bytes
        let crc: UInt32 = bytes.number(at: Self.crcOffset)
        block.replaceSubrange(Self.crcOffset..<Self.crcOffset + 4, with: [0, 0, 0, 0])
        guard darkroom_crc32(0, block, block.count) == crc else { throw .checksum }
        guard CacheKey(bytes: bytes[16..<48]) == key else { throw .key }
        let bodyLength: UInt64 = bytes.number(at: 48)
        guard bodyLength == fileLength - Self.length else { throw .bodyLength }
        let count: UInt32 = bytes.number(at: 60)
        guard count <= Self.length - Self.recordOffset,
            let record = try? JSONDecoder().decode(
                Record.self,
                from: Data(bytes[Self.recordOffset..<Self.recordOffset + Int(count)])),
            record.isPlausible
        else { throw .record }
        self.init(
            key: key, bodyLength: Int(bodyLength), bodyCRC: bytes.number(at: 56), record: record)
    }
}

enum CacheDamage: Error, Equatable {
    /// It is a folder, for example.
    case kind
    case short
    case foreign
    case version(UInt32)
    case checksum
    /// It belongs to another file.
    case key
    /// The length differs from that of the file.
    case bodyLength
    case record

    /// The end of the sentence "… was discarded: …".
    var words: String {
        switch self {
        case .kind: "it is not a file"
        case .short: "it is shorter than a header"
        case .foreign: "it is not a file of Darkroom’s cache"
        case .version(let version): "its layout has the unsupported version \(version)"
        case .checksum: "its header is damaged"
        case .key: "its key does not belong to its file name"
        case .bodyLength: "it is too long or too short"
        case .record: "its record cannot be read"
        }
    }
}

extension [UInt8] {
    /// Little-endian.
    fileprivate mutating func append(_ number: some FixedWidthInteger) {
        Swift.withUnsafeBytes(of: number.littleEndian) { append(contentsOf: $0) }
    }

    fileprivate func number<Number: FixedWidthInteger & UnsignedInteger>(at offset: Int) -> Number {
        var number = Number(0)
        for index in (0..<MemoryLayout<Number>.size).reversed() {
            number = number << 8 | Number(self[offset + index])
        }
        return number
    }
}
