import SystemPackage

/// The first stage of a picture's way, which reads its file.
package protocol PictureReader: Stage {
    /// What the numbers of the pixels mean, as far as the file says so in a way that is usable.
    var colour: PNGColour { get }
    /// Which way up the pixels lie.
    var orientation: Orientation { get }
    /// Exif's TIFF structure, as it stands in the file.
    var exif: [UInt8]? { get }
    /// What was remarked and let pass, so far.
    var warnings: [String] { get }
    /// What the file holds beside pixels, as `MetadataLedger` wants it.
    var metadata: SourceMetadata { get }

    /// The bytes it holds because the picture's rows do not come one after the other.
    var heldBytes: Int { get }

    /// Reads what has not been asked for, so that damage there is found too.
    func drain() throws(PictureError)
}

/// Files of any kind that is read.
enum PictureFile {
    /// The reader for what the file begins like.
    ///
    /// - Parameter divisor: given a JPEG's width, height and orientation, says how many times smaller to
    ///   decode it.
    static func open(
        _ file: FileDescriptor, name: String, limits: PictureLimits,
        divisor: (_ width: Int, _ height: Int, Orientation) -> Int = { _, _, _ in 1 },
        checkpoint: @escaping () -> Bool
    ) throws(PictureError) -> any PictureReader {
        let kind = try PictureKind(of: file, name: name)
        if let refusal = kind.refusal(of: name) { throw refusal }
        guard kind == .jpeg else {
            return try PNGReader(file: file, name: name, limits: limits, checkpoint: checkpoint)
        }
        return try JPEGReader(
            file: file, name: name, limits: limits, divisor: divisor, checkpoint: checkpoint)
    }
}

extension PictureReader {
    package func drain() throws(PictureError) {
        while try nextBand() != nil {}
    }
}

extension PNGReader: PictureReader {
    package var heldBytes: Int {
        header.isInterlaced ? layout.bytes : 0
    }

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
                case "eXIf": .exif
                default: .other
                }
        }
        return metadata
    }
}
