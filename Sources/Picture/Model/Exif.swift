/// The Exif of a source, as a TIFF structure, on its way to a result.
enum Exif {
    /// The maximum that a segment of a JPEG can contain in addition to its signature.
    static let mostBytes = 65_533 - 6

    /// The first of several blocks whose orientation can be read, or says that there is none. If there is no such block,
    /// the first one.
    static func firstUsable(_ blocks: [[UInt8]]) -> [UInt8]? {
        blocks.first { block in
            if case .damaged = ExifOrientation(tiff: block) { false } else { true }
        } ?? blocks.first
    }

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

    /// A TIFF structure with nothing but an orientation. (TIFF 6.0, section 2.)
    static func stating(_ orientation: Orientation) -> [UInt8] {
        // The header; one entry: the tag 274, SHORT, one number; no further directory.
        Array("II".utf8) + [42, 0, 8, 0, 0, 0, 1, 0, 0x12, 0x01, 3, 0, 1, 0, 0, 0]
            + [UInt8(orientation.rawValue), 0, 0, 0, 0, 0, 0, 0]
    }
}
