/// The Exif of a source, as a TIFF structure, on its way to a result.
enum Exif {
    /// The maximum that a segment of a JPEG can contain in addition to its signature.
    static let mostBytes = 65_533 - 6

    /// The Exif for a result; nil if it is damaged or too large.
    ///
    /// - Parameter isUpright: whether the picture has been turned as its Exif says. Then the result's Exif must not say
    ///   so any more. Nothing else of it changes.
    static func carried(_ tiff: [UInt8]?, isUpright: Bool) -> [UInt8]? {
        guard var bytes = tiff, bytes.count <= mostBytes else { return nil }
        var place = 0
        switch ExifOrientation(tiff: bytes, place: &place) {
        case .damaged: return nil
        case .none: return bytes
        case .found(let orientation):
            if isUpright, orientation != .topLeft {
                // A number of 16 or 32 bits that is less than 256, in either byte order: exactly one byte is not 0.
                for index in place..<place + 4 where bytes[index] == UInt8(orientation.rawValue) {
                    bytes[index] = UInt8(Orientation.topLeft.rawValue)
                    break
                }
            }
            return bytes
        }
    }

    /// A TIFF structure with an orientation and the size of another picture. (TIFF 6.0, section 2.)
    static func stating(_ orientation: Orientation, width: Int, height: Int) -> [UInt8] {
        func bytes(_ value: Int) -> [UInt8] {
            withUnsafeBytes(of: UInt32(clamping: value).littleEndian) { Array($0) }
        }
        // A tag, its type, one number, the number: ImageWidth, ImageLength, Orientation.
        let entries: [UInt8] =
            [0x00, 0x01, 4, 0, 1, 0, 0, 0] + bytes(width) + [0x01, 0x01, 4, 0, 1, 0, 0, 0]
            + bytes(height) + [0x12, 0x01, 3, 0, 1, 0, 0, 0] + bytes(orientation.rawValue)
        // The header, the number of entries, the entries, no further directory.
        return Array("II".utf8) + [42, 0, 8, 0, 0, 0, 3, 0] + entries + [0, 0, 0, 0]
    }

    /// The size in a structure that `stating` has made.
    static func statedSize(_ tiff: [UInt8]) -> (width: Int, height: Int)? {
        guard tiff.count == 50, tiff.starts(with: stating(.topLeft, width: 0, height: 0).prefix(18))
        else { return nil }
        func number(at place: Int) -> Int {
            (0..<4).reduce(0) { $0 | Int(tiff[place + $1]) << (8 * $1) }
        }
        return (number(at: 18), number(at: 30))
    }
}
