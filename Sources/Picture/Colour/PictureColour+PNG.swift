import CDarkroomShims
import Glibc

extension PictureColour {
    /// The parts in a set of `DARKROOM_PNG_HAS_…`.
    static func items(of present: UInt32) -> Set<Item> {
        let flags = [
            (DARKROOM_PNG_HAS_SRGB, Item.renderingIntent), (DARKROOM_PNG_HAS_GAMA, .gamma),
            (DARKROOM_PNG_HAS_CHRM, .chromaticities), (DARKROOM_PNG_HAS_PHYS, .density),
            (DARKROOM_PNG_HAS_CICP, .codePoints), (DARKROOM_PNG_HAS_ICCP, .profile),
        ]
        return Set(flags.filter { present & UInt32($0.0) != 0 }.map(\.1))
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

extension PictureColour.Profile {
    /// A profile that has no name, because it does not come from a PNG.
    init(bytes: [UInt8]) { self.init(name: Array(DARKROOM_PNG_PROFILE_NAME.utf8), bytes: bytes) }

    /// Whether a format takes the profile, and the remark about it.
    typealias Verdict = (isAccepted: Bool, remark: String?)

    /// Refuses one for gray, for a format whose files of gray pictures are read as RGB.
    func judged(withoutGray format: OutputFormat) -> Verdict {
        isGray
            ? (false, "the colour profile is dropped: \(format.title) has none for gray pictures")
            : (true, nil)
    }

    /// Checks a profile that does not come from a PNG, before it is written into one: libpng has rules of its own.
    func judged() throws(PictureError) -> Verdict {
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
}
