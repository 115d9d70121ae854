/// The directories of Exif that a result may keep, with their values. (TIFF 6.0, section 2; Exif 2.32, section 4.6.)
///
/// Only three directories are read: the main one, that of Exif and that of GPS. So no chain of directories can be endless.
/// A value that lies outside of the structure is left out.
struct ExifBlock: Equatable {
    struct Entry: Equatable {
        let tag: UInt16
        let type: UInt16
        let count: Int
        /// In the order of bytes of the block.
        var data: [UInt8]

        /// The bytes of one value of each type; nil for an unknown type.
        static func bytes(of type: UInt16) -> Int? {
            switch type {
            case 1, 2, 6, 7, 129: 1
            case 3, 8: 2
            case 4, 9, 11, 13: 4
            case 5, 10, 12: 8
            default: nil
            }
        }
    }

    var isBigEndian: Bool
    var main: [Entry] = []
    var exif: [Entry] = []
    var gps: [Entry] = []
    /// Whether it says Adobe RGB when it is written, as cameras do: by the index of interoperability R03 (DCF 2.0, 5.3).
    var isAdobe = false
    /// Whether there is a directory for a thumbnail.
    private(set) var hasThumbnail = false

    init(isBigEndian: Bool) { self.isBigEndian = isBigEndian }

    /// nil if it has no readable main directory, or if its values overlap so that they are larger than the structure.
    init?(_ bytes: [UInt8]) {
        guard bytes.count <= SourcePackets.mostRead, let reader = TIFFReader(bytes) else {
            return nil
        }
        isBigEndian = bytes[0] == UInt8(ascii: "M")
        var left = bytes.count
        guard let start = reader.long(at: 4).map({ Int($0) }), start >= 8,
            let main = Self.directory(at: start, of: bytes, reader, left: &left)
        else { return nil }
        self.main = main
        exif = below(ExifTags.exifDirectory, of: bytes, reader, left: &left)
        gps = below(ExifTags.gpsDirectory, of: bytes, reader, left: &left)
        if left < 0 { return nil }
        let next = Int(reader.short(at: start) ?? 0) * 12 + start + 2
        hasThumbnail = reader.long(at: next) ?? 0 > 0
    }

    /// The directory to which an entry of the main one points; empty if it cannot be read.
    private func below(
        _ tag: UInt16, of bytes: [UInt8], _ reader: TIFFReader, left: inout Int
    ) -> [Entry] {
        guard let place = main.first(where: { $0.tag == tag }).flatMap(number) else { return [] }
        return Self.directory(at: place, of: bytes, reader, left: &left) ?? []
    }

    /// - Parameter left: the bytes that values may still have; negative if they have more.
    private static func directory(
        at start: Int, of bytes: [UInt8], _ reader: TIFFReader, left: inout Int
    ) -> [Entry]? {
        guard let count = reader.short(at: start).map({ Int($0) }),
            start + 2 + count * 12 <= bytes.count
        else { return nil }
        var entries: [Entry] = []
        for place in stride(from: start + 2, to: start + 2 + count * 12, by: 12) {
            guard left >= 0, let tag = reader.short(at: place),
                let type = reader.short(at: place + 2), let size = Entry.bytes(of: type),
                let count = reader.long(at: place + 4).map({ Int($0) }), count > 0
            else { continue }
            let length = count * size
            let from = length <= 4 ? place + 8 : reader.long(at: place + 8).map { Int($0) } ?? 0
            guard from >= 8, from + length <= bytes.count else { continue }
            left -= length
            if left < 0 { return nil }
            entries.append(
                Entry(tag: tag, type: type, count: count, data: Array(bytes[from..<from + length])))
        }
        return entries
    }

    /// The value of an entry that is one SHORT or LONG.
    func number(_ entry: Entry) -> Int? {
        guard entry.count == 1, [3, 4, 13].contains(entry.type) else { return nil }
        return (isBigEndian ? entry.data : entry.data.reversed()).reduce(0) { $0 << 8 | Int($1) }
    }

    func first(_ tag: UInt16, in entries: KeyPath<ExifBlock, [Entry]>) -> Entry? {
        self[keyPath: entries].first { $0.tag == tag }
    }
}

extension ExifBlock {
    /// An entry with one SHORT.
    func short(_ tag: UInt16, _ value: Int) -> Entry {
        Entry(tag: tag, type: 3, count: 1, data: ordered(value, 2))
    }

    /// An entry with one LONG.
    func long(_ tag: UInt16, _ value: Int) -> Entry {
        Entry(tag: tag, type: 4, count: 1, data: ordered(value, 4))
    }

    /// An entry with one RATIONAL.
    func rational(_ tag: UInt16, _ value: Int) -> Entry {
        Entry(tag: tag, type: 5, count: 1, data: ordered(value, 4) + ordered(1, 4))
    }

    private func ordered(_ value: Int, _ count: Int) -> [UInt8] {
        let bytes = (0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
        return isBigEndian ? bytes.reversed() : bytes
    }

    /// The same block in the other order of bytes.
    var littleEndian: ExifBlock {
        guard isBigEndian else { return self }
        var block = self
        block.isBigEndian = false
        for part in [\ExifBlock.main, \.exif, \.gps] {
            for index in block[keyPath: part].indices { block[keyPath: part][index].reverse() }
        }
        return block
    }

    /// A TIFF structure with these entries, each directory sorted by its tags, and nothing else. Of entries with one tag, the
    /// first counts. Values begin at even places.
    var bytes: [UInt8] {
        var main = self.main.filter {
            $0.tag != ExifTags.exifDirectory && $0.tag != ExifTags.gpsDirectory
        }
        if !exif.isEmpty || isAdobe { main.append(long(ExifTags.exifDirectory, 0)) }
        if !gps.isEmpty { main.append(long(ExifTags.gpsDirectory, 0)) }
        var exif = self.exif
        if isAdobe { exif.append(long(ExifTags.interoperability, 0)) }
        let parts = [main, exif, gps, isAdobe ? Self.adobe : []].map(Self.sorted)
        let sizes = parts.map { part in
            part.isEmpty
                ? 0
                : part.reduce(6 + 12 * part.count) { $0 + ($1.data.count > 4 ? $1.even : 0) }
        }
        let starts = sizes.reduce(into: [8]) { $0.append($0[$0.count - 1] + $1) }
        var bytes = Array((isBigEndian ? "MM" : "II").utf8) + ordered(42, 2) + ordered(8, 4)
        for (part, start) in zip(parts, starts) where !part.isEmpty {
            var (values, place) = ([UInt8](), start + 6 + 12 * part.count)
            bytes += ordered(part.count, 2)
            for entry in part {
                bytes += ordered(Int(entry.tag), 2) + ordered(Int(entry.type), 2)
                bytes += ordered(entry.count, 4)
                switch entry.tag {
                case ExifTags.exifDirectory where start == 8: bytes += ordered(starts[1], 4)
                case ExifTags.gpsDirectory where start == 8: bytes += ordered(starts[2], 4)
                case ExifTags.interoperability where start == starts[1]:
                    bytes += ordered(starts[3], 4)
                case _ where entry.data.count <= 4:
                    bytes += entry.data + [UInt8](repeating: 0, count: 4 - entry.data.count)
                default:
                    bytes += ordered(place, 4)
                    values += entry.data
                    if entry.even > entry.data.count { values.append(0) }
                    place += entry.even
                }
            }
            bytes += ordered(0, 4) + values
        }
        return bytes
    }

    private static let adobe = [
        Entry(tag: 1, type: 2, count: 4, data: Array("R03\0".utf8)),
        Entry(tag: 2, type: 7, count: 4, data: Array("0100".utf8)),
    ]

    private static func sorted(_ entries: [Entry]) -> [Entry] {
        var seen: Set<UInt16> = []
        return entries.filter { seen.insert($0.tag).inserted }.sorted { $0.tag < $1.tag }
    }
}

extension ExifBlock.Entry {
    /// The bytes of the value, rounded up to an even number.
    fileprivate var even: Int { (data.count + 1) & ~1 }

    /// Reverses the bytes of each number. A text of 16 bits in a user's comment has the order of the structure.
    fileprivate mutating func reverse() {
        let isWideComment = tag == ExifTags.userComment && data.starts(with: "UNICODE\0".utf8)
        let size: Int
        switch type {
        case 3, 8: size = 2
        case 4, 5, 9, 10, 11, 13: size = 4
        case 12: size = 8
        default: size = isWideComment ? 2 : 1
        }
        guard size > 1 else { return }
        for start in stride(from: isWideComment ? 8 : 0, through: data.count - size, by: size) {
            data[start..<start + size].reverse()
        }
    }
}
