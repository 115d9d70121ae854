import CDarkroomCodecWire
import Glibc

/// What the header and the metadata of a picture mean.
struct CodecFacts {
    var colour = PictureColour()
    var exif: [UInt8]?
    var packets: SourcePackets
    var orientation = Orientation.topLeft
    var remarks: [String] = []
    var meanings: [String: SourceMetadata.Meaning] = [:]
    /// That of CMYK.
    var cmykProfile: [UInt8]?

    /// - Parameter page: the one that is wanted.
    init(
        _ header: darkroom_codec_header, _ blobs: CodecBlobs, isGray: Bool, isCMYK: Bool,
        page: Int?
    ) {
        if page == nil, header.pages > 1 {
            remarks.append(
                "it has \(header.pages) pages: page \(header.page) is used; pages: all uses each")
        }
        if header.pixels_x > 0, header.pixels_y > 0 {
            colour.density = PictureColour.Density(x: header.pixels_x, y: header.pixels_y, unit: 1)
            meanings["resolution"] = .colour(.density)
        }
        if let bytes = blobs[Int(DARKROOM_CODEC_ICC)] {
            if isCMYK {
                cmykProfile = bytes
            } else if let remark = colour.take(profile: bytes, isGray: isGray) {
                remarks.append(remark)
            }
            meanings["ICC"] = isCMYK ? .pixels : .colour(.profile)
        }
        exif = blobs[Int(DARKROOM_CODEC_EXIF)]
        packets = SourcePackets(
            exif: exif, xmp: blobs[Int(DARKROOM_CODEC_XMP)], iptc: blobs[Int(DARKROOM_CODEC_IPTC)])
        if packets.exif != nil { meanings["Exif"] = .packet(.exif) }
        if packets.xmp != nil { meanings["XMP"] = .packet(.xmp) }
        if packets.iptc != nil { meanings["IPTC"] = .packet(.iptc) }
        // 2 is unknown; primaries 1 with the transfer function 13 are sRGB, which a result without a note means anyway.
        let points = [header.cicp.0, header.cicp.1, header.cicp.2, header.cicp.3]
        if colour.profile == nil, points[0] != 2, points.allSatisfy({ $0 <= 255 }) {
            if (points[0], points[1]) == (1, 13) {
                colour.implied = .sRGB
            } else {
                colour.codePoints = [UInt8(points[0]), UInt8(points[1]), 0, 1]
                meanings["CICP"] = .colour(.codePoints)
            }
        }
        colour.noteColourSpace(ofExif: exif)
        if header.orientation == 0 {
            let (found, remark) = ExifOrientation.read(exif)
            orientation = found
            if let remark { remarks.append(remark) }
        } else {
            orientation = Orientation(rawValue: Int(header.orientation)) ?? .topLeft
            // The rows are as they are: what Exif says of them has no meaning.
            if orientation == .topLeft { exif = Exif.carried(exif, isUpright: true) }
        }
    }
}
