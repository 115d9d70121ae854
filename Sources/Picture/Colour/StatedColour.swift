import DarkroomCore

/// What a picture's file says of its values.
struct StatedColour: Sendable {
    let colour: PictureColour
    let isGray: Bool

    /// Nothing, which means sRGB.
    static let nothing = StatedColour(colour: PictureColour(), isGray: false)

    /// The space of the values; also a remark, if something in the file cannot be used.
    var space: (space: SourceSpace, remark: String?) { SourceSpace.of(colour, isGray: isGray) }

    /// The same for all files that say the same.
    var digest: [UInt8] {
        var digest = SHA256Digest()
        let facts =
            "\(colour.codePoints ?? []) \(colour.renderingIntent != nil) \(colour.gamma ?? 0)"
            + " \(colour.chromaticities ?? []) \(colour.implied == .adobe) \(isGray)\n"
        digest.update(facts.utf8)
        digest.update(colour.profile?.bytes ?? [])
        return digest.bytes()
    }
}
