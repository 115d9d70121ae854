package import SystemPackage

/// A format of results: its properties, how pictures are written, and the memory that this needs. `OutputFormat.encoder` is
/// the only table of them.
package struct PictureEncoder: Sendable {
    /// A picture that is to be written.
    package struct Input {
        var stage: any Stage
        /// Written from the current offset on. It is neither synced nor closed.
        let file: FileDescriptor
        /// The name of the file in messages.
        let name: String
        package var options = OutputOptions()
        package var colour = PictureColour()
        /// A TIFF structure.
        package var exif: [UInt8]?
        /// A packet.
        package var xmp: [UInt8]?
        /// Datasets of IIM.
        package var iptc: [UInt8]?
        /// If the rows are indices: their colours.
        var palette: FilteredPalette?
        package var limits = PictureLimits()
        /// The budget for what is held until the end.
        package var memory = PictureMemory(limit: PictureLimits().wholePictureBytes)
        /// Those that can be borrowed. Which of them are idle does not change the written bytes.
        package var cores = Cores.shared
        /// What reads the picture's source ahead.
        var ahead: ReadAhead?
        /// Called before each band; false ends writing with `PictureError.Code.cancelled`.
        package var checkpoint: () -> Bool = { true }

        package init(_ stage: any Stage, to file: FileDescriptor, name: String) {
            self.stage = stage
            self.file = file
            self.name = name
        }

        /// The next band; nil after the last row.
        func nextBand() throws(PictureError) -> Band? {
            try checkCancellation()
            return try stage.nextBand()
        }

        func checkCancellation() throws(PictureError) {
            if !checkpoint() { throw PictureError(.cancelled, "\(name): cancelled while writing") }
        }
    }

    /// A picture that will be written, as far as it is known in advance.
    struct Expected {
        /// If the size is not known, the maximum of each side.
        var layout: PixelLayout
        /// The maximum number of pixels, if the size is not known.
        let mostPixels: Int?
        let name: String
        let options: OutputOptions
        let cores: Cores
    }

    /// What its files are recognised as.
    let kind: InputFormat
    /// Whether a file has the exact filtered pixels, with alpha, depth and everything that tells their meaning, so that
    /// other images can be made from it. For other formats the pixels are handed over in addition, see `HandOverFile`.
    let isLossless: Bool
    /// Whether a file has an alpha channel. If not, pictures are laid over white.
    let hasAlpha: Bool
    /// The maximum number of bits per sample.
    let mostDepth: Int
    /// The channels in the file of a picture with this layout.
    let channels: @Sendable (PixelLayout) -> Int
    /// The extensions of such files' names, in lower case. The first one is added to names without one.
    let endings: [String]
    /// Whether the rows may be indices of a palette.
    var usesPalette = false
    /// Whether a file can have a copy of Exif.
    var keepsExif = true
    /// The metadata that a file can have.
    var packets: Set<MetadataPacket> = [.exif, .xmp]
    /// Whether the orientation in this metadata counts, so that a picture that was not turned can keep it.
    var usesExifOrientation = true
    /// Examines a colour profile from a file of another format; nil if the format takes any profile.
    var judge:
        (@Sendable (PictureColour.Profile) throws(PictureError) -> PictureColour.Profile.Verdict)?
    /// The program that writes it; nil if this process does.
    package var program: CodecProgram?
    package let write: @Sendable (Input) throws(PictureError) -> WrittenPicture
    let needs: @Sendable (Expected) throws(PictureError) -> WriterNeeds

    fileprivate static let png = PictureEncoder(
        kind: .png, isLossless: true, hasAlpha: true, mostDepth: 16, channels: { $0.channels },
        endings: [".png"], usesPalette: true,
        judge: { profile throws(PictureError) in try profile.judged() },
        write: { input throws(PictureError) in try PNGWriter.write(input) },
        needs: { WriterNeeds(bytes: $0.strips) })

    fileprivate static let jpeg = PictureEncoder(
        kind: .jpeg, isLossless: false, hasAlpha: false, mostDepth: 8,
        channels: { $0.colourChannels }, endings: [".jpg", ".jpeg"], packets: [.exif, .xmp, .iptc],
        write: { input throws(PictureError) in try JPEGWriter.write(input) },
        needs: { picture throws(PictureError) in try JPEGWriter.needs(picture) })

    fileprivate static let webp = PictureEncoder(
        .webp, kind: .webp, mostDepth: 8, channels: { $0.hasAlpha ? 4 : 3 }, endings: [".webp"],
        judge: { $0.judged(withoutGray: .webp) })

    fileprivate static let avif = PictureEncoder(
        .avif, kind: .avif, mostDepth: 12, channels: { $0.channels == 2 ? 4 : $0.channels },
        endings: [".avif"], usesExifOrientation: false, judge: { $0.judged(withoutGray: .avif) })

    fileprivate static let tiff = PictureEncoder(
        .tiff, kind: .tiff, mostDepth: 16, endings: [".tif", ".tiff"], keepsExif: false,
        usesExifOrientation: false, packets: [.exif, .xmp, .iptc])

    fileprivate static let jpegXL = PictureEncoder(
        .jpegXL, kind: .jpegXL, mostDepth: 16, endings: [".jxl"], usesExifOrientation: false)
}

extension PictureEncoder {
    /// A format that a codec program writes. Its files are not used for other images: reading them would need a process
    /// again, and they lack some of what a PNG tells about colours.
    fileprivate init(
        _ codec: CodecEncoder, kind: InputFormat, mostDepth: Int,
        channels: @escaping @Sendable (PixelLayout) -> Int = { $0.channels }, endings: [String],
        keepsExif: Bool = true, usesExifOrientation: Bool = true,
        packets: Set<MetadataPacket> = [.exif, .xmp],
        judge: (@Sendable (PictureColour.Profile) -> PictureColour.Profile.Verdict)? = nil
    ) {
        self.init(
            kind: kind, isLossless: false, hasAlpha: true, mostDepth: mostDepth,
            channels: channels, endings: endings, keepsExif: keepsExif,
            packets: packets, usesExifOrientation: usesExifOrientation, judge: judge,
            program: codec.program,
            write: { input throws(PictureError) in try CodecWriter.write(input, codec) },
            needs: { picture throws(PictureError) in try codec.needs(picture) })
    }
}

/// What a writer needs.
struct WriterNeeds {
    /// Without the memory that is held until the end.
    var bytes: Int
    var heldBytes = 0
    /// The purpose of that memory, with which a message begins.
    var purpose = ""
    /// Whether the file is in memory, too, before it is written. It is not larger than what is held.
    var holdsFile = false
}

extension OutputFormat {
    package var encoder: PictureEncoder {
        switch self {
        case .png: .png
        case .jpeg: .jpeg
        case .webp: .webp
        case .avif: .avif
        case .tiff: .tiff
        case .jpegXL: .jpegXL
        }
    }

    package var isLossless: Bool { encoder.isLossless }

    package var hasAlpha: Bool { encoder.hasAlpha }

    package var mostDepth: Int { encoder.mostDepth }

    /// The extensions of such files' names, the usual one first.
    package var endings: [String] { Self.endingsOfAll[self] ?? [] }

    /// Names are compared with them again and again.
    private static let endingsOfAll = Dictionary(
        uniqueKeysWithValues: allCases.map { ($0, $0.encoder.endings) })

    /// `image/webp`, for example.
    package var mediaType: String {
        PictureDecoder.decoder(of: encoder.kind)?.mediaType ?? "application/octet-stream"
    }

    /// Why this machine cannot write it: its program is not installed.
    package var absence: PictureError? {
        encoder.program.flatMap { $0.path == nil ? $0.missing("write") : nil }
    }
}
