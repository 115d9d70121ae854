import SystemPackage

/// The first stage of a picture's way, which reads its file.
package protocol PictureReader: Stage {
    /// What the numbers of the pixels mean, as far as the file says so in a way that is usable.
    var colour: PNGColour { get }
    /// Which way up the pixels lie.
    var orientation: Orientation { get }
    /// What was remarked and let pass, so far.
    var warnings: [String] { get }
    /// What the file holds beside pixels, as `MetadataLedger` wants it.
    var metadata: SourceMetadata { get }

    /// Reads what has not been asked for, so that damage there is found too.
    func drain() throws(PictureError)
}

extension PictureReader {
    package func drain() throws(PictureError) {
        while try nextBand() != nil {}
    }
}

extension PNGReader: PictureReader {
    package var orientation: Orientation { .topLeft }

    package var metadata: SourceMetadata {
        var metadata = SourceMetadata(format: .png)
        for chunk in chunks where !["IHDR", "IDAT", "IEND"].contains(chunk) {
            metadata.meanings[chunk] =
                switch chunk {
                case "PLTE" where header.hasPalette: .pixels
                case "tRNS" where hasTransparencyChunk: .pixels
                case "iCCP": .colour(.profile)
                case "pHYs": .colour(.density)
                case "sRGB": .colour(.renderingIntent)
                case "gAMA": .colour(.gamma)
                case "cHRM": .colour(.chromaticities)
                case "cICP": .colour(.codePoints)
                default: .other
                }
        }
        return metadata
    }
}
