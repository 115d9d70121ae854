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

    /// What it takes.
    var needs: ReaderNeeds { get }

    /// The bytes it holds because the picture's rows do not come one after the other.
    var heldBytes: Int { get }

    /// Whether another thread may ask it for bands.
    var canBeReadAhead: Bool { get }

    /// Reads what has not been asked for, so that damage there is found too.
    func drain() throws(PictureError)
}

/// Files of any kind that is read.
enum PictureFile {
    /// The reader for what the file begins like.
    ///
    /// - Parameter divisor: says how many times smaller to decode it, if its kind can be.
    static func open(
        _ file: FileDescriptor, name: String, limits: PictureLimits,
        divisor: @escaping PictureDecoder.Divisor = { _, _, _ in 1 },
        checkpoint: @escaping () -> Bool
    ) throws(PictureError) -> any PictureReader {
        let kind = try PictureKind(of: file, name: name)
        guard let decoder = PictureDecoder.decoder(of: kind) else {
            throw kind.refusal(of: name)
                ?? PictureError(.unsupportedFormat, "\(name): this is \(kind.words)")
        }
        return try decoder.open(
            PictureDecoder.Input(
                file: file, name: name, limits: limits, divisor: divisor, checkpoint: checkpoint))
    }
}

extension PictureReader {
    package var canBeReadAhead: Bool { true }

    package func drain() throws(PictureError) {
        while try nextBand() != nil {}
    }
}

extension PNGReader: PictureReader {
    package var needs: ReaderNeeds { Self.needs(layout) }

    static func needs(_ layout: PixelLayout) -> ReaderNeeds {
        let rows = rowsPerBand(layout)
        // A band, and another decompressed and perhaps a third still packed; the row above, and libpng's
        // rows; what compressed data refer back to.
        return ReaderNeeds(
            rowsPerBand: rows,
            bytes: 3 * rows * layout.bytesPerRow + 4 * layout.bytesPerRow + 1 << 20)
    }

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
