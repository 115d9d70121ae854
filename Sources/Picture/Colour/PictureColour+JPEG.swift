import CDarkroomShims

extension PictureColour.Density {
    /// JFIF's density in PNG's units; nil if it has no meaning.
    init?(_ density: darkroom_jpeg_density) {
        let (x, y) = (UInt32(density.x), UInt32(density.y))
        guard x > 0, y > 0 else { return nil }
        switch density.unit {
        // An inch is 0.0254 metres.
        case 1: self.init(x: (x * 10_000 + 127) / 254, y: (y * 10_000 + 127) / 254, unit: 1)
        case 2: self.init(x: x * 100, y: y * 100, unit: 1)
        case 0 where x != y: self.init(x: x, y: y, unit: 0)
        default: return nil
        }
    }

    /// The same in the form of JFIF, which has numbers of 16 bits; nil if they are too small for it.
    ///
    /// Integer numbers of pixels per centimetre are kept. Others are rounded to pixels per inch.
    var jfif: darkroom_jpeg_density? {
        if unit == 0 { return Self.jfif(0, x, y) }
        if x % 100 == 0, y % 100 == 0, let exact = Self.jfif(2, x / 100, y / 100) { return exact }
        func anInch(_ value: UInt32) -> UInt32 { UInt32((UInt64(value) * 254 + 5000) / 10_000) }
        return Self.jfif(1, anInch(x), anInch(y))
    }

    private static func jfif(_ unit: UInt8, _ x: UInt32, _ y: UInt32) -> darkroom_jpeg_density? {
        let most = UInt32(UInt16.max)
        guard (1...most).contains(x), (1...most).contains(y) else { return nil }
        return darkroom_jpeg_density(unit: unit, x: UInt16(x), y: UInt16(y))
    }
}
