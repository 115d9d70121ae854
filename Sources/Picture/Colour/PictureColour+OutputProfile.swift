extension PictureColour {
    /// The least that makes every program show values of this space right, and the physical size.
    ///
    /// For sRGB that is the chunk sRGB of a PNG; other formats say nothing, which means sRGB. For Display P3 it is a
    /// profile of a few hundred bytes; a format that has numbers for spaces gets these. Gray has sRGB's curve in both.
    func stating(_ profile: OutputProfile, isGray: Bool) -> PictureColour {
        var stated = PictureColour()
        stated.density = density
        switch profile {
        case .keep: return self
        case .srgb: stated.renderingIntent = 1
        case .p3:
            if isGray {
                stated.renderingIntent = 1
            } else {
                stated.profile = .displayP3
                stated.codePoints = [12, 13, 0, 1]
            }
        }
        return stated
    }

    /// What the RGB of a picture in CMYK is. sRGB goes without saying, as for other pictures without a profile; what Exif
    /// says is about the values of CMYK.
    func stating(ofCMYK profile: OutputProfile) -> PictureColour {
        switch profile {
        case .keep, .srgb:
            var stated = self
            stated.implied = .sRGB
            return stated
        case .p3: return stating(.p3, isGray: false)
        }
    }
}

extension PictureColour.Profile {
    /// Display P3 as a profile of version 4 (ICC.1:2022): a matrix, and one curve for all channels.
    static let displayP3 = PictureColour.Profile(bytes: ICCProfile.displayP3)
}
