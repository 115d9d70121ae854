import CDarkroomShims
import Glibc

/// The chunks of a PNG that define the meaning of its values: colour space and physical size.
package struct PNGColour: Sendable, Equatable {
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

    package init() {}

    /// pHYs.
    package struct Density: Sendable, Equatable {
        /// Pixels per unit.
        package var x: UInt32
        package var y: UInt32
        /// 1 for the metre; 0 if only the ratio has a meaning.
        package var unit: UInt8

        package init(x: UInt32, y: UInt32, unit: UInt8) {
            self.x = x
            self.y = y
            self.unit = unit
        }
    }

    /// iCCP.
    package struct Profile: Sendable, Equatable {
        /// In Latin-1, as stored in the file.
        package var name: [UInt8]
        /// The profile in the format of ICC.1. If it comes from a PNG, libpng has checked its header, its length and its
        /// table of tags.
        package var bytes: [UInt8]

        package init(name: [UInt8], bytes: [UInt8]) {
            self.name = name
            self.bytes = bytes
        }

        /// A profile that has no name, because it does not come from a PNG.
        init(bytes: [UInt8]) {
            self.init(name: Array(DARKROOM_PNG_PROFILE_NAME.utf8), bytes: bytes)
        }

        /// Checks a profile that does not come from a PNG, before it is written into one: libpng has rules of its own.
        ///
        /// - Parameter isGray: whether the picture is gray.
        /// - Returns: whether libpng writes it, and its remark.
        func judged(isGray: Bool) throws(PictureError) -> (isAccepted: Bool, remark: String?) {
            var words = [CChar](repeating: 0, count: Int(DARKROOM_PNG_PROFILE_WORDS))
            let result = darkroom_png_judge_profile(bytes, bytes.count, isGray ? 1 : 0, &words)
            let remark = String(
                decoding: words.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
            switch result {
            case DARKROOM_PNG_OK:
                return (true, remark.isEmpty ? nil : remark)
            case DARKROOM_PNG_MEMORY:
                throw PictureError.outOfMemory(
                    "writing the header", "not enough memory to check the colour profile")
            default:
                return (false, "the colour profile is dropped: \(remark)")
            }
        }

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
        package var isGray: Bool {
            bytes.count >= 20 && bytes[16..<20].elementsEqual("GRAY".utf8)
        }
    }
}

extension PNGColour {
    /// The names of the chunks in a set of `DARKROOM_PNG_HAS_…`.
    static func chunkNames(of present: UInt32) -> Set<String> {
        let names: [(UInt32, String)] = [
            (UInt32(DARKROOM_PNG_HAS_SRGB), "sRGB"), (UInt32(DARKROOM_PNG_HAS_GAMA), "gAMA"),
            (UInt32(DARKROOM_PNG_HAS_CHRM), "cHRM"), (UInt32(DARKROOM_PNG_HAS_PHYS), "pHYs"),
            (UInt32(DARKROOM_PNG_HAS_CICP), "cICP"), (UInt32(DARKROOM_PNG_HAS_ICCP), "iCCP"),
        ]
        return Set(names.filter { present & $0.0 != 0 }.map(\.1))
    }

    /// Copies the data of the shim.
    init(_ c: darkroom_png_colour) {
        func has(_ flag: some BinaryInteger) -> Bool { c.present & UInt32(flag) != 0 }
        if has(DARKROOM_PNG_HAS_SRGB) { renderingIntent = c.rendering_intent }
        if has(DARKROOM_PNG_HAS_GAMA) { gamma = c.gamma }
        if has(DARKROOM_PNG_HAS_CHRM) {
            chromaticities = withUnsafeBytes(of: c.chromaticities) {
                Array($0.bindMemory(to: Int32.self))
            }
        }
        if has(DARKROOM_PNG_HAS_PHYS) {
            density = Density(x: c.pixels_x, y: c.pixels_y, unit: c.unit)
        }
        if has(DARKROOM_PNG_HAS_CICP) {
            codePoints = withUnsafeBytes(of: c.code_points) { Array($0) }
        }
        if has(DARKROOM_PNG_HAS_ICCP), let name = c.profile_name {
            profile = Profile(
                name: Array(UnsafeBufferPointer(start: name, count: strlen(name))).map {
                    UInt8(bitPattern: $0)
                },
                bytes: Array(
                    UnsafeBufferPointer(start: c.profile, count: Int(c.profile_length))))
        }
    }

    /// Passes this to `body` in the shim's form, which is valid until `body` returns.
    func withShim<Result>(_ body: (UnsafePointer<darkroom_png_colour>) -> Result) -> Result {
        var c = darkroom_png_colour()
        func set(_ flag: some BinaryInteger) { c.present |= UInt32(flag) }
        if let renderingIntent {
            c.rendering_intent = renderingIntent
            set(DARKROOM_PNG_HAS_SRGB)
        }
        if let gamma {
            c.gamma = gamma
            set(DARKROOM_PNG_HAS_GAMA)
        }
        if let chromaticities {
            withUnsafeMutableBytes(of: &c.chromaticities) { to in
                chromaticities.withUnsafeBytes { to.copyMemory(from: $0) }
            }
            set(DARKROOM_PNG_HAS_CHRM)
        }
        if let density {
            (c.pixels_x, c.pixels_y, c.unit) = (density.x, density.y, density.unit)
            set(DARKROOM_PNG_HAS_PHYS)
        }
        if let codePoints {
            withUnsafeMutableBytes(of: &c.code_points) { $0.copyBytes(from: codePoints) }
            set(DARKROOM_PNG_HAS_CICP)
        }
        guard let profile else { return body(&c) }
        set(DARKROOM_PNG_HAS_ICCP)
        return (profile.name.map { CChar(bitPattern: $0) } + [0]).withUnsafeBufferPointer { name in
            profile.bytes.withUnsafeBufferPointer { bytes in
                c.profile_name = name.baseAddress
                c.profile = bytes.baseAddress
                c.profile_length = UInt32(bytes.count)
                return body(&c)
            }
        }
    }
}
