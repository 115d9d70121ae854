/// The orientation of a picture as its camera recorded it: the tag 274 of Exif and TIFF. The names say where the first
/// row and the first column of the stored pixels are in the upright picture.
package enum Orientation: Int, Sendable, CaseIterable {
    case topLeft = 1
    case topRight, bottomRight, bottomLeft, leftTop, rightTop, rightBottom, leftBottom

    /// The filters that turn the stored pixels upright.
    package var filters: [Filter] {
        switch self {
        case .topLeft: []
        case .topRight: [.flop]
        case .bottomRight: [.rotate(.half)]
        case .bottomLeft: [.flip]
        // Mirrored at the diagonal from the top left: a quarter rotation, then left and right exchanged.
        case .leftTop: [.rotate(.quarter), .flop]
        case .rightTop: [.rotate(.quarter)]
        // Mirrored at the other diagonal.
        case .rightBottom: [.rotate(.threeQuarters), .flop]
        case .leftBottom: [.rotate(.threeQuarters)]
        }
    }

    /// Whether width and height are exchanged.
    package var isTransposed: Bool { rawValue >= 5 }

    /// Whether the first stored pixel is on the right of the upright picture.
    var beginsAtRight: Bool { [.topRight, .bottomRight, .rightTop, .rightBottom].contains(self) }

    /// Whether the first stored pixel is at the bottom of the upright picture.
    var beginsAtBottom: Bool {
        [.bottomRight, .bottomLeft, .rightBottom, .leftBottom].contains(self)
    }
}

/// The orientation in a TIFF structure, which is the format of Exif: a header, then a directory with entries of 12
/// bytes. (TIFF 6.0, section 2; Exif 2.32, section 4.6.4.)
package enum ExifOrientation: Equatable {
    case none
    case found(Orientation)
    /// It cannot be used. The text is the reason, as a sentence.
    case damaged(String)

    /// The orientation in a picture's Exif, or the usual one if there is none, and a remark about a problem.
    static func read(_ tiff: [UInt8]?) -> (Orientation, remark: String?) {
        switch tiff.map({ ExifOrientation(tiff: $0) }) ?? .none {
        case .none: (.topLeft, nil)
        case .found(let orientation): (orientation, nil)
        case .damaged(let words): (.topLeft, words)
        }
    }

    /// Reads only `bytes`, and only the first directory.
    package init(tiff bytes: [UInt8]) {
        var place = 0
        self.init(tiff: bytes, place: &place)
    }

    /// - Parameter place: set to the position of the orientation's value, if there is one.
    init(tiff bytes: [UInt8], place: inout Int) {
        guard let reader = TIFFReader(bytes) else {
            self = .damaged("Exif does not begin with a TIFF header")
            return
        }
        guard let start = reader.long(at: 4).map({ Int($0) }), start >= 8,
            let count = reader.short(at: start)
        else {
            self = .damaged("Exif has no first directory")
            return
        }
        self = .none
        for index in 0..<Int(count) {
            guard let entry = reader.entry(at: start + 2 + index * 12) else {
                self = .damaged("Exif ends within its first directory")
                return
            }
            guard entry.tag == ExifTags.orientation else { continue }
            place = start + 2 + index * 12 + 8
            if let orientation = entry.number.flatMap({ Orientation(rawValue: $0) }) {
                self = .found(orientation)
            } else {
                self = .damaged("Exif has an orientation that is not from 1 to 8")
            }
            return
        }
    }
}

/// Reads numbers in a TIFF structure; nil for a position outside of it.
struct TIFFReader {
    private let bytes: [UInt8]
    private let isBigEndian: Bool

    /// nil for data without TIFF's signature.
    init?(_ bytes: [UInt8]) {
        switch bytes.prefix(4) {
        case [0x49, 0x49, 42, 0]: isBigEndian = false
        case [0x4D, 0x4D, 0, 42]: isBigEndian = true
        default: return nil
        }
        self.bytes = bytes
    }

    func short(at place: Int) -> UInt16? { number(at: place, UInt16.self) }

    func long(at place: Int) -> UInt32? { number(at: place, UInt32.self) }

    private func number<Number: FixedWidthInteger>(at place: Int, _: Number.Type) -> Number? {
        let end = place + Number.bitWidth / 8
        guard place >= 0, end <= bytes.count else { return nil }
        let part = bytes[place..<end]
        return (isBigEndian ? Array(part) : part.reversed()).reduce(0) { $0 << 8 | Number($1) }
    }

    /// An entry of a directory.
    struct Entry {
        let tag: UInt16
        /// nil if the value is not a single SHORT or LONG.
        let number: Int?
    }

    func entry(at place: Int) -> Entry? {
        guard let tag = short(at: place), let type = short(at: place + 2),
            let count = long(at: place + 4), let long = long(at: place + 8),
            let short = short(at: place + 8)
        else { return nil }
        switch (type, count) {
        case (3, 1): return Entry(tag: tag, number: Int(short))
        case (4, 1): return Entry(tag: tag, number: Int(long))
        default: return Entry(tag: tag, number: nil)
        }
    }
}
