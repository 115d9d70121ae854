/// What a file tells about the meaning of its values: colour space and physical size, with the parts of a PNG's chunks. A
/// JPEG has two of them.
package struct PictureColour: Sendable, Equatable {
    /// sRGB: the rendering intent, 0 to 3.
    package var renderingIntent: Int32?
    /// gAMA, times 100,000.
    package var gamma: UInt32?
    /// cHRM: x and y of white, red, green and blue, times 100,000.
    package var chromaticities: [Int32]?
    package var density: Density?
    /// cICP: primaries, transfer function, matrix and range, as numbers of ITU-T H.273.
    package var codePoints: [UInt8]?
    package var profile: Profile?
    /// What the file says in another way; it counts if nothing above tells the colours.
    package var implied: Implied?

    package init() {}

    package enum Implied: Sendable {
        /// Values of inks or of Lab that were converted, or a container whose numbers mean sRGB.
        case sRGB
        /// Exif of cameras, see `ExifColourSpace`.
        case adobe
    }

    /// Takes a profile that was beside the picture. Returns a remark if the picture cannot have it.
    mutating func take(profile bytes: [UInt8], isGray: Bool) -> String? {
        let profile = Profile(bytes: bytes)
        if let reason = profile.mismatch(isGray: isGray) {
            return "the colour profile is dropped: \(reason)"
        }
        self.profile = profile
        return nil
    }

    /// Notes the colour space that Exif names.
    mutating func noteColourSpace(ofExif exif: [UInt8]?) {
        guard implied == nil, let exif, ExifColourSpace.isAdobe(tiff: exif) else { return }
        implied = .adobe
    }

    /// Whether anything tells the colours.
    var saysSpace: Bool {
        profile != nil || codePoints != nil || renderingIntent != nil || gamma != nil
            || chromaticities != nil || implied != nil
    }

    /// What is left of it in a file that has these parts.
    func only(_ items: Set<Item>) -> PictureColour {
        var colour = PictureColour()
        if items.contains(.renderingIntent) { colour.renderingIntent = renderingIntent }
        if items.contains(.gamma) { colour.gamma = gamma }
        if items.contains(.chromaticities) { colour.chromaticities = chromaticities }
        if items.contains(.codePoints) { colour.codePoints = codePoints }
        if items.contains(.profile) { colour.profile = profile }
        return colour
    }

    /// With the chunks of a PNG for what only Exif says: for files that are read again here.
    var spelledOut: PictureColour {
        var colour = self
        colour.implied = nil
        guard implied == .adobe, !colour.saysSpace else { return self }
        // Adobe RGB (1998): its gamma is 2 + 51/256.
        colour.gamma = 45471
        colour.chromaticities = [31270, 32900, 64000, 33000, 21000, 71000, 15000, 6000]
        return colour
    }

    /// pHYs.
    package struct Density: Sendable, Equatable {
        /// Pixels per unit.
        package var x: UInt32
        package var y: UInt32
        /// 1 for the metre; 0 if only the ratio has a meaning.
        package var unit: UInt8
    }

    /// iCCP.
    package struct Profile: Sendable, Equatable {
        /// In Latin-1, as stored in the file.
        package var name: [UInt8]
        /// The profile in the format of ICC.1. If it comes from a PNG, libpng has checked its header, its length and its
        /// table of tags.
        package var bytes: [UInt8]

        /// Why it cannot be a profile for a picture; nil if it can. By ICC.1 it has a signature at byte 36, and its colour
        /// space at byte 16.
        func mismatch(isGray: Bool) -> String? {
            guard bytes.count >= 128, bytes[36..<40].elementsEqual("acsp".utf8) else {
                return "invalid signature"
            }
            if self.isGray != isGray {
                return isGray ? "it is not for gray pictures" : "it is for gray pictures"
            }
            return bytes[16..<20].elementsEqual("CMYK".utf8) ? "it is for CMYK pictures" : nil
        }

        /// Whether the profile is for gray: the header's colour space, at byte 16, is `GRAY`.
        package var isGray: Bool { bytes.count >= 20 && bytes[16..<20].elementsEqual("GRAY".utf8) }
    }
}

extension PictureColour {
    /// The parts, by the names of PNG's chunks.
    package enum Item: String, Sendable, CaseIterable {
        case renderingIntent = "sRGB"
        case gamma = "gAMA"
        case chromaticities = "cHRM"
        case density = "pHYs"
        case codePoints = "cICP"
        case profile = "iCCP"
    }

    /// The part that is still valid after `filters`, for a result of `layout`.
    ///
    /// The physical size is not valid after a change of scale, and rotates with the picture. A profile for RGB is not
    /// valid for gray, nor is one for gray valid for RGB.
    func carried(through filters: [Filter], to layout: PixelLayout) -> PictureColour {
        var result = self
        for filter in filters {
            switch filter {
            case .resize:
                result.density = nil
            case .rotate(.quarter), .rotate(.threeQuarters):
                result.density = result.density.map { Density(x: $0.y, y: $0.x, unit: $0.unit) }
            default:
                break
            }
        }
        if let profile, profile.isGray != (layout.colourChannels == 1) { result.profile = nil }
        return result
    }
}
