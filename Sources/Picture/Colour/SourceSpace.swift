import DarkroomCore
import Foundation

/// The space in which a picture's values are, as far as its file tells.
enum SourceSpace: Equatable {
    case rgb(RGBSpace)
    /// The light of values at equal distances.
    case gray([Double])
    /// A profile that lcms2 must read.
    case profile([UInt8])

    /// What the file says, in the order of the PNG specification (third edition, 4.3), which other formats do not
    /// contradict: cICP; the profile; sRGB; gAMA and cHRM; after these Exif's colour space. Without any of them it is
    /// sRGB. A cICP that cannot be used leaves it to the others; 2 means that it says nothing.
    ///
    /// - Returns: also a remark, if something in the file cannot be used.
    static func of(_ colour: PictureColour, isGray: Bool) -> (space: SourceSpace, remark: String?) {
        guard let points = colour.codePoints, points.prefix(2) != [2, 2] else {
            return ofOthers(colour, isGray: isGray)
        }
        if let space = RGBSpace(codePoints: points) {
            return (isGray ? .gray(space.curves[0]) : .rgb(space), nil)
        }
        let (space, remark) = ofOthers(colour, isGray: isGray)
        let numbers = Words.list(points.map { "\($0)" }, "and")
        let next = colour.profile == nil ? "its values are taken as sRGB" : "its profile counts"
        return (
            space,
            remark ?? "the colour space with the numbers \(numbers) of H.273 is not known: \(next)"
        )
    }

    private static func ofOthers(
        _ colour: PictureColour, isGray: Bool
    ) -> (space: SourceSpace, remark: String?) {
        if let profile = colour.profile { return of(profile, isGray: isGray) }
        if colour.renderingIntent != nil { return (Self.usual(isGray), nil) }
        if let space = RGBSpace(gamma: colour.gamma, chromaticities: colour.chromaticities) {
            return (isGray ? .gray(space.curves[0]) : .rgb(space), nil)
        }
        return (colour.implied == .adobe && !isGray ? .rgb(.adobe) : Self.usual(isGray), nil)
    }

    private static func of(
        _ profile: PictureColour.Profile, isGray: Bool
    ) -> (SourceSpace, String?) {
        guard let read = ICCProfile(profile.bytes) else { return (.profile(profile.bytes), nil) }
        if isGray { return (.gray(read.curves[0]), nil) }
        guard let space = RGBSpace(read) else { return (.profile(profile.bytes), nil) }
        guard space.makesSense else {
            return (
                Self.usual(isGray),
                "the colour profile makes no sense: the picture's values are taken as sRGB"
            )
        }
        return (.rgb(space), nil)
    }

    private static func usual(_ isGray: Bool) -> SourceSpace {
        isGray ? .gray(RGBSpace.sRGB.curves[0]) : .rgb(.sRGB)
    }
}

extension SourceSpace {
    /// Whether the same values are the same colours; of gray and RGB, gray values.
    func isNearly(_ other: SourceSpace) -> Bool {
        switch (self, other) {
        case (.rgb(let own), .rgb(let other)): own.isNearly(other)
        case (.gray(let own), .gray(let other)): RGBSpace.isNearly(own, other)
        case (.rgb(let space), .gray(let curve)), (.gray(let curve), .rgb(let space)):
            space.curves.allSatisfy { RGBSpace.isNearly($0, curve) }
        case (.profile(let own), .profile(let other)): own == other
        case (.profile, _), (_, .profile): false
        }
    }
}

extension RGBSpace {
    /// From the numbers of ITU-T H.273 for primaries (table 2) and transfer function (table 3); nil for those that no
    /// usual picture has, and for more light than white (16, 18).
    init?(codePoints points: [UInt8]) {
        // A PNG has RGB of full range, so the matrix is 0; other files say only this.
        guard points.count == 4, points[2] == 0, points[3] == 1 else { return nil }
        let primaries: [Double]
        // All but the cinema's P3 have daylight for white.
        let white = points[0] == 11 ? [0.314, 0.351] : Self.d65
        switch points[0] {
        case 1: primaries = [0.64, 0.33, 0.30, 0.60, 0.15, 0.06]
        case 5: primaries = [0.64, 0.33, 0.29, 0.60, 0.15, 0.06]
        case 6, 7: primaries = [0.630, 0.340, 0.310, 0.595, 0.155, 0.070]
        case 9: primaries = [0.708, 0.292, 0.170, 0.797, 0.131, 0.046]
        case 11, 12: primaries = [0.680, 0.320, 0.265, 0.690, 0.150, 0.060]
        default: return nil
        }
        let curve: [Double]
        switch points[1] {
        // Still pictures with the curves of video cameras are meant as sRGB, and browsers show them so.
        case 1, 6, 13, 14, 15: curve = RGBSpace.sRGB.curves[0]
        case 4: curve = Self.curve { pow($0, 2.2) }
        case 5: curve = Self.curve { pow($0, 2.8) }
        case 8: curve = Self.curve { $0 }
        default: return nil
        }
        self.init(curve: curve, primaries: primaries, white: white)
    }

    /// From gAMA and cHRM, times 100,000 as in a PNG; nil without both, or if they make no sense. What is missing is
    /// that of sRGB. Many programs say sRGB by its primaries, or none, and a gamma of 1/2.2.
    init?(gamma: UInt32?, chromaticities: [Int32]?) {
        guard gamma != nil || chromaticities != nil else { return nil }
        let isUsual = gamma.map { abs(Int($0) - 45455) <= 100 } ?? true
        var curve = RGBSpace.sRGB.curves[0]
        if let gamma, !isUsual {
            guard gamma > 0, gamma < 1_000_000 else { return nil }
            curve = Self.curve { pow($0, 100_000 / Double(gamma)) }
        }
        guard let chromaticities else {
            self.init(curves: [curve, curve, curve], matrix: RGBSpace.sRGB.matrix)
            return
        }
        guard chromaticities.count == 8 else { return nil }
        let points = chromaticities.map { Double($0) / 100_000 }
        guard points.enumerated().allSatisfy({ $0.offset % 2 == 0 || $0.element > 0 }) else {
            return nil
        }
        self.init(curve: curve, primaries: Array(points[2...]), white: Array(points[..<2]))
        // With primaries of its own, a gamma is what it says.
        if let gamma, isUsual, !isNearly(.sRGB) {
            let exact = Self.curve { pow($0, 100_000 / Double(gamma)) }
            self.init(curves: [exact, exact, exact], matrix: matrix)
        }
    }
}
