import DarkroomCore

/// The options for writing an image's result: a manifest's `output`. An option that is not of the format has no effect.
package struct OutputOptions: Sendable, Equatable {
    /// Without a meaning while `isFormatOpen`.
    package var format: OutputFormat
    /// How the format was decided.
    package internal(set) var origin = FormatOrigin.given
    private var givenQuality: Int?
    private var givenEffort: Int?
    /// See `OutputOption.depth`; nil for the default of the format.
    package var depth: Int?
    /// See `OutputOption.maxBytes`: the most bytes of the file.
    package var maxBytes: Int?
    /// See `OutputOption.target`: the similarity to the filtered picture, 0 to 1.
    package var ssim: Double?
    /// For JPEG: whether it has several scans, from coarse to fine.
    package var progressive: Bool
    /// For PNG.
    package var compression: PNGWriter.Compression
    /// For TIFF.
    package var tiffCompression: PictureOutput.TIFFCompression
    /// Whether the result has exactly the filtered pixels. Quality and chroma then have no effect.
    package var lossless: Bool
    /// For AVIF: the resolution of colour.
    package var chroma: PictureOutput.Chroma
    /// The colour space of the result.
    package var profile: OutputProfile
    /// What is kept of the source's metadata.
    package var metadata: MetadataChoice
    /// The template for the paths of outputs; nil for the names of the images. It does not decide any bytes.
    package var name: NameTemplate?

    package init(
        format: OutputFormat = .png, quality: Int? = nil, progressive: Bool = false,
        compression: PNGWriter.Compression = .balanced,
        tiffCompression: PictureOutput.TIFFCompression = .deflate, lossless: Bool = false,
        effort: Int? = nil, depth: Int? = nil, chroma: PictureOutput.Chroma = .half,
        profile: OutputProfile = .keep, metadata: MetadataChoice = .none, maxBytes: Int? = nil,
        ssim: Double? = nil
    ) {
        self.format = format
        givenQuality = quality
        givenEffort = effort
        self.depth = depth
        self.progressive = progressive
        self.compression = compression
        self.tiffCompression = tiffCompression
        self.lossless = lossless
        self.chroma = chroma
        self.profile = profile
        self.metadata = metadata
        self.maxBytes = maxBytes
        self.ssim = ssim
    }

    /// 1 to 100, on the scale of the format's library. If it is chosen, this is the highest one.
    package var quality: Int {
        get { givenQuality ?? (search?.ssim == nil ? format.defaultQuality : 100) }
        set { givenQuality = newValue }
    }

    /// How the quality is chosen; nil if it is given.
    var search: QualitySearch? {
        guard maxBytes != nil || ssim != nil, !losesNothing,
            OutputOption.maxBytes.formats.contains(format)
        else { return nil }
        return QualitySearch(maxBytes: maxBytes, ssim: ssim)
    }

    /// Whether `lossless` has an effect.
    var losesNothing: Bool { lossless && OutputOption.lossless.formats.contains(format) }

    /// 0, the fastest, to 10, the smallest.
    package var effort: Int {
        get { givenEffort ?? format.defaultEffort }
        set { givenEffort = newValue }
    }

    package static let qualities = 1...100
    package static let efforts = 0...10
    /// Of `maxBytes`: no picture has fewer, and a file system has no more.
    package static let budgets = 1...1 << 50
    /// Of `ssim`. Less is of no use.
    package static let similarities = 0.5...1

    /// What was given for another format may not be one of this.
    private var usableDepth: Int? {
        depth.flatMap { OutputOption.depths(of: format).contains($0) ? $0 : nil }
    }

    /// The bits per sample in the file of a picture with this layout.
    func depth(of layout: PixelLayout) -> Int {
        switch format {
        case .avif: usableDepth ?? 8
        case .tiff, .jpegXL: min(layout.depth, usableDepth ?? 16)
        case .png, .jpeg, .webp: min(layout.depth, format.mostDepth)
        }
    }
}

extension OutputFormat {
    /// The defaults have about the SSIM of a JPEG of quality 85 (etc/doc/performance.md).
    package var defaultQuality: Int { self == .avif ? 75 : 85 }

    /// More effort than this takes several times as long for a few percent (etc/doc/performance.md).
    package var defaultEffort: Int {
        switch self {
        case .webp: 6
        case .avif: 4
        // Not an option: more makes its deflate four times as slow for 2 %.
        case .tiff: 1
        default: 5
        }
    }
}

/// The options that some formats have and others have not, by their keys in a manifest.
///
/// `formats` is the only table of them: errors, the schema and the manual follow it.
package enum OutputOption: String, Sendable, CaseIterable {
    case quality, maxBytes, target, progressive, lossless, effort, depth, chroma, compression

    package var formats: [OutputFormat] {
        switch self {
        case .quality: [.jpeg, .webp, .avif, .jpegXL]
        case .maxBytes, .target: [.jpeg, .webp, .avif]
        case .progressive: [.jpeg]
        case .lossless, .effort: [.webp, .avif, .jpegXL]
        case .depth: [.avif, .tiff, .jpegXL]
        case .chroma: [.avif]
        case .compression: [.png, .tiff]
        }
    }

    /// The values of `depth`: the bits of an AVIF; the most that a TIFF or a JPEG XL keeps.
    package static func depths(of format: OutputFormat) -> [Int] {
        switch format {
        case .avif: [8, 10, 12]
        case .tiff, .jpegXL: [8, 16]
        case .png, .jpeg, .webp: []
        }
    }

    /// The values of `depth` for any format, in their order.
    package static let allDepths = Set(OutputFormat.allCases.flatMap(depths)).sorted()

    /// The end of a sentence that names the option.
    package func mismatch(with format: OutputFormat) -> String {
        "is an option of \(Words.list(formats.map(\.rawValue), "and")), but the format here is"
            + " \(format.rawValue)"
    }
}
