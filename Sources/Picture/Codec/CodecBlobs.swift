import CDarkroomCodecWire

/// The profile and the metadata of a picture, as a codec program says them in pieces.
struct CodecBlobs {
    /// In the order in which they come.
    private static let order = [
        DARKROOM_CODEC_ICC, DARKROOM_CODEC_EXIF, DARKROOM_CODEC_XMP, DARKROOM_CODEC_IPTC,
    ].map { UInt32($0) }

    private let sizes: [UInt32: Int]
    private var bytes: [UInt32: [UInt8]] = [:]
    private let isTooLarge: Bool

    init(_ header: darkroom_codec_header, most: Int) {
        sizes = Dictionary(
            uniqueKeysWithValues: zip(
                Self.order, [header.icc, header.exif, header.xmp, header.iptc].map { Int($0) }))
        isTooLarge = sizes.values.contains { $0 > most }
    }

    private var next: UInt32? { Self.order.first { (bytes[$0]?.count ?? 0) < sizes[$0] ?? 0 } }

    var isMissingSome: Bool { next != nil }

    /// Takes the next piece, and frees its slot.
    mutating func take(_ message: darkroom_codec_message, _ call: CodecCall) throws(PictureError) {
        let step = "reading the header"
        guard let next, !isTooLarge, message.isA(DARKROOM_CODEC_BLOB), message.bits == next,
            message.bytes > 0,
            message.bytes <= (sizes[next] ?? 0) - (bytes[next]?.count ?? 0)
        else { throw call.nonsense(step) }
        let piece = try call.slot(message, bytes: Int(message.bytes), step)
        bytes[next, default: []].append(contentsOf: piece)
        call.free(slot: message.slot)
    }

    subscript(which: Int) -> [UInt8]? { bytes[UInt32(which)] }
}
