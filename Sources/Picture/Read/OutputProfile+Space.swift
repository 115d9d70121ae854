/// What the values of results are converted into. A new space needs a case in each of these; the compiler asks for it.
///
/// `keep` means sRGB here: of CMYK, whose own space no result has.
extension OutputProfile {
    /// Its primaries and its curve.
    var space: RGBSpace {
        switch self {
        case .keep, .srgb: .sRGB
        case .p3: .displayP3
        }
    }

    /// The table for CMYK without a profile that can be used.
    var cmykTable: [UInt16] {
        switch self {
        case .keep, .srgb: CMYKModel.sRGB
        case .p3: CMYKModel.displayP3
        }
    }

    /// How lcms2 converts from another profile.
    var direction: ProfileTables.Direction {
        switch self {
        case .keep, .srgb: .toSRGB
        case .p3: .toP3
        }
    }
}
