import CDarkroomDeflate
import DarkroomCore

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
            options: OutputOptions(
                format: .png, compression: compression, metadata: keepsExif ? .exifCopy : .none))
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
                format: .jpeg, quality: quality, progressive: progressive,
                metadata: keepsExif ? .exifCopy : .none))
    }

    /// A WebP file. Its pixels are RGB, also of a gray picture. Samples of 16 bits become 8.
    ///
    /// - Parameters:
    ///   - quality: 1 to 100, on libwebp's scale.
    ///   - lossless: whether it has exactly the filtered pixels, of 8 bits. `quality` then has no effect.
    ///   - effort: 0, the fastest, to 10, the smallest.
    ///   - keepsExif: whether a camera's metadata is kept. Colour profiles are kept, but those for gray.
    public static func webp(
        quality: Int = 85, lossless: Bool = false, effort: Int = 6, keepsExif: Bool = false
    ) -> Self {
        Self(
            options: OutputOptions(
                format: .webp, quality: quality, lossless: lossless, effort: effort,
                metadata: keepsExif ? .exifCopy : .none))
    }

    /// An AVIF file.
    ///
    /// - Parameters:
    ///   - quality: 1 to 100, on libheif's scale.
    ///   - lossless: whether it has exactly the filtered pixels, of `depth` bits. `quality` and `chroma` then have no
    ///     effect.
    ///   - effort: 0, the fastest, to 10, the smallest. Above 6, a large picture may take minutes.
    ///   - depth: the bits per sample, 8, 10 or 12. More than 8 show gradients without bands. Many programs do not show 12.
    ///   - chroma: the resolution of colour.
    ///   - keepsExif: whether a camera's metadata is kept. Colour profiles are kept, but those for gray.
    public static func avif(
        quality: Int = 75, lossless: Bool = false, effort: Int = 4, depth: Int = 8,
        chroma: Chroma = .half, keepsExif: Bool = false
    ) -> Self {
        Self(
            options: OutputOptions(
                format: .avif, quality: quality, lossless: lossless, effort: effort, depth: depth,
                chroma: chroma, metadata: keepsExif ? .exifCopy : .none))
    }

    /// A TIFF file with exactly the filtered pixels. Colour profiles and the density are kept.
    ///
    /// - Parameters:
    ///   - compression: of the pixels.
    ///   - depth: the most bits per sample, 8 or 16.
    public static func tiff(compression: TIFFCompression = .deflate, depth: Int = 16) -> Self {
        Self(
            options: OutputOptions(
                format: .tiff, tiffCompression: compression, depth: depth))
    }

    /// A JPEG XL file.
    ///
    /// - Parameters:
    ///   - quality: 1 to 100, on the scale of cjxl.
    ///   - lossless: whether it has exactly the filtered pixels. `quality` then has no effect.
    ///   - effort: 0, the fastest, to 10, the smallest; libjxl has 1 to 9.
    ///   - depth: the most bits per sample, 8 or 16.
    ///   - keepsExif: whether a camera's metadata is kept. Colour profiles are always kept.
    public static func jpegXL(
        quality: Int = 85, lossless: Bool = false, effort: Int = 5, depth: Int = 16,
        keepsExif: Bool = false
    ) -> Self {
        Self(
            options: OutputOptions(
                format: .jpegXL, quality: quality, lossless: lossless, effort: effort,
                depth: depth, metadata: keepsExif ? .exifCopy : .none))
    }

    /// Metadata of a source that results can keep.
    @nonexhaustive public enum Metadata: String, Sendable, CaseIterable {
        /// Who made the picture and may use it, wherever it is recorded: the title, artist and copyright of Exif; byline,
        /// credit and copyright notice of IPTC; dc:rights, dc:creator and xmpRights of XMP.
        case copyright
        /// What a camera records, without thumbnails and maker notes.
        case exif
        /// The older form of captions and keywords, which only JPEG and TIFF have.
        case iptc
        /// A packet of XMP, without what is not valid for the result.
        case xmp
    }

    /// The same output, which keeps this metadata, valid for the result. It replaces `keepsExif`.
    ///
    /// - Parameters:
    ///   - items: what is kept.
    ///   - places: whether it may say where the picture was taken.
    public func keeping(_ items: Set<Metadata>, places: Bool = true) -> Self {
        var options = options
        options.metadata = MetadataChoice(
            Set(items.compactMap { MetadataChoice.Item(rawValue: $0.rawValue) }),
            keepsPlaces: places)
        return Self(options: options)
    }

    /// A colour space of results.
    @nonexhaustive public enum ColourSpace: String, Sendable, CaseIterable {
        /// sRGB, which every program takes for granted.
        case srgb
        /// Display P3, for screens that show more saturated colours.
        case p3
    }

    /// The same output in a colour space. The picture is converted before the first filter.
    public func converted(to space: ColourSpace) -> Self {
        var options = options
        options.profile =
            switch space {
            case .srgb: .srgb
            case .p3: .p3
            }
        return Self(options: options)
    }

    /// The resolution of colour beside that of brightness.
    @nonexhaustive public enum Chroma: String, Sendable, CaseIterable {
        /// Half in each direction.
        case half = "4:2:0"
        /// The same.
        case full = "4:4:4"
    }

    /// How the pixels of a TIFF are compressed, always without loss.
    @nonexhaustive public enum TIFFCompression: String, Sendable, CaseIterable {
        /// Not at all.
        case none
        /// As in a PNG.
        case deflate
        /// As programs before 2002 can read it too.
        case lzw
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
        let name = format.rawValue
        try PictureError.check(options.quality, OutputOptions.qualities, "\(name): quality")
        try PictureError.check(options.effort, OutputOptions.efforts, "\(name): effort")
        let depths = OutputOption.depths(of: format)
        if let depth = options.depth, !depths.contains(depth) {
            throw PictureError(
                .invalidArguments,
                "\(name): depth must be \(Words.list(depths.map { "\($0)" }, "or")),"
                    + " not \(depth)")
        }
        return options
    }
}
