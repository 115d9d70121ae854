import CDarkroomDeflate

/// How a result is written: its format, and what that format lets one choose.
public struct PictureOutput: Sendable, Equatable {
    /// What the pipeline has of it; not checked.
    let options: OutputOptions

    /// The format of the file.
    public var format: PictureFormat { options.format }

    /// A PNG file.
    ///
    /// - Parameters:
    ///   - compression: how much time bytes are worth. The pixels are the same with each.
    ///   - keepsExif: keeps what a camera has noted; colour profiles are always kept.
    public static func png(
        compression: PNGCompression = .balanced, keepsExif: Bool = false
    ) -> Self {
        Self(
            options: OutputOptions(format: .png, compression: compression, keepsExif: keepsExif))
    }

    /// A JPEG file. It has no alpha: what is transparent is laid over white. Samples of 16 bits become 8.
    ///
    /// - Parameters:
    ///   - quality: 1 to 100, by the scale of the Independent JPEG Group. From 90 on colour is not subsampled.
    ///   - progressive: builds the picture up in scans, from coarse to fine. It is held in memory while it is written.
    ///   - keepsExif: keeps what a camera has noted; colour profiles are always kept.
    public static func jpeg(
        quality: Int = 85, progressive: Bool = false, keepsExif: Bool = false
    ) -> Self {
        Self(
            options: OutputOptions(
                format: .jpeg, quality: quality, progressive: progressive, keepsExif: keepsExif))
    }

    /// How much time the bytes of a PNG are worth.
    @nonexhaustive public enum PNGCompression: String, Sendable, CaseIterable {
        /// Huffman codes and runs, and a brief search for matches where much repeats, as in drawings.
        /// Measured against libpng with zlib's level 6 and all row filters, on one core: photographs 45
        /// to 80 times as fast and at most a fifth larger, which sepia is; drawings 2.5 to 3.4 times.
        case fast
        /// Of photographs and drawings as small as libpng so, within 3 %: matches are looked for where
        /// an estimate says that they pay. Photographs 35 to 85 times as fast, with sepia 8 times,
        /// drawings 1.9 to 3.2 times.
        case balanced
        /// Whatever is smallest, for pictures that are written once and sent often.
        case small

        var effort: darkroom_effort {
            switch self {
            case .fast: DARKROOM_DEFLATE_FAST
            case .balanced: DARKROOM_DEFLATE_BALANCED
            case .small: DARKROOM_DEFLATE_SMALL
            }
        }
    }

    /// The options for the pipeline.
    ///
    /// - Throws: `invalidArguments` where one is out of range.
    func checked() throws(PictureError) -> OutputOptions {
        guard OutputOptions.qualities.contains(options.quality) else {
            throw PictureError(
                .invalidArguments,
                "jpeg: quality must be \(OutputOptions.qualities.lowerBound) to"
                    + " \(OutputOptions.qualities.upperBound), not \(options.quality)")
        }
        return options
    }
}
