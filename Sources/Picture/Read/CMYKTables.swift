import DarkroomCore

/// The tables for CMYK, by the digest of their profiles: those that were used last. Each has 501 KB.
enum CMYKTables {
    private static let recent =
        RecentValues<ColourConversions.Key, Result<[UInt16]?, PictureError>>(most: 8)

    /// - Parameters:
    ///   - profile: that of the file.
    ///   - target: `keep` means sRGB.
    /// - Returns: also a remark, if the profile cannot be used.
    static func table(
        for profile: [UInt8]?, to target: OutputProfile, _ input: PictureDecoder.Input
    ) throws(PictureError) -> (table: [UInt16], remark: String?) {
        let usual = target.cmykTable
        guard let profile else { return (usual, nil) }
        var digest = SHA256Digest()
        digest.update(profile)
        let key = ColourConversions.Key(digest.bytes(), target: target == .keep ? .srgb : target)
        let made = try recent.value(for: key) { () throws(PictureError) -> [UInt16]? in
            let answer = try ProfileTables.samples(of: profile, target.direction, input)
            guard case .samples(let table) = answer, table.count == CMYKModel.count else {
                return nil
            }
            return table
        }
        if let made { return (made, nil) }
        return (
            usual,
            "the colour profile cannot be used: the inks are taken as those of offset printing"
        )
    }
}
