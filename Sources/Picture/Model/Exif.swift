/// Exif on its way from a source to a result, as a TIFF structure.
enum Exif {
    /// As much as a segment of a JPEG holds beside its signature.
    static let mostBytes = 65_533 - 6

    /// What a result can carry: nil for what is damaged or too large.
    ///
    /// - Parameter isUpright: The picture has been turned as the Exif says, which then must not say so any
    ///   more. Nothing else of it is changed.
    static func carried(_ tiff: [UInt8]?, isUpright: Bool) -> [UInt8]? {
        guard var bytes = tiff, bytes.count <= mostBytes else { return nil }
        var place = 0
        switch ExifOrientation(tiff: bytes, place: &place) {
        case .damaged: return nil
        case .none: return bytes
        case .found(let orientation):
            if isUpright, orientation != .topLeft {
                // A number of 16 or 32 bits below 256, in either byte order: one byte of it is not 0.
                for index in place..<place + 4 where bytes[index] == UInt8(orientation.rawValue) {
                    bytes[index] = UInt8(Orientation.topLeft.rawValue)
                    break
                }
            }
            return bytes
        }
    }
}
