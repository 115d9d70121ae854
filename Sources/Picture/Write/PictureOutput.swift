import CDarkroomDeflate

/// The format of a result, and the options of this format.
public struct PictureOutput: Sendable, Equatable {
    /// The options for the pipeline, not checked.
    let options: OutputOptions

    /// The format of the file.
    public var format: OutputFormat { options.format }

    /// A PNG file.
    ///
    /// - Parameters:
    ///   - compression: the balance of time and size. The pixels are always the same.
    ///   - keepsExif: whether a camera's metadata is kept. Colour profiles are always kept.
    public static func png(
        compression: PNGCompression = .balanced, keepsExif: Bool = false
    ) -> Self {
        Self(
            options: OutputOptions(format: .png, compression: compression, keepsExif: keepsExif))
    }

    /// A JPEG file. It has no alpha: transparent pixels are laid over white. Samples of 16 bits become 8.
    ///
    /// - Parameters:
    ///   - quality: 1 to 100, on the scale of the Independent JPEG Group. From 90 on, colour is not subsampled.
    ///   - progressive: several scans, from coarse to fine. The picture is held in memory while it is written.
    ///   - keepsExif: whether a camera's metadata is kept. Colour profiles are always kept.
    public static func jpeg(
        quality: Int = 85, progressive: Bool = false, keepsExif: Bool = false
    ) -> Self {
        Self(
            options: OutputOptions(
                format: .jpeg, quality: quality, progressive: progressive, keepsExif: keepsExif))
    }

    /// The balance of time and size for a PNG.
    @nonexhaustive public enum PNGCompression: String, Sendable, CaseIterable {
        /// Huffman codes and runs, and a short search for matches in pictures with many repetitions, such as drawings.
        /// Compared with libpng with zlib's level 6 and all row filters, on one core: photographs 45 to 80 times as
        /// fast and at most a fifth larger (with sepia); drawings 2.5 to 3.4 times as fast.
        case fast
        /// Photographs and drawings as small as with libpng, within 3 %: matches are searched if an estimate says that
        /// they are useful. Photographs 35 to 85 times as fast, with sepia 8 times, drawings 1.9 to 3.2 times.
        case balanced
        /// The smallest size, for pictures that are written once and sent often.
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
    /// - Throws: `invalidArguments` if one is outside its range.
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
