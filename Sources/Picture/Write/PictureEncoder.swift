package import SystemPackage

/// A format of results: its properties, how pictures are written, and the memory that this needs. `encoder(of:)` is the
/// only table of them.
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
        /// If the rows are indices: their colours.
        var palette: FilteredPalette?
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
            if !checkpoint() { throw PictureError(.cancelled, "\(name): cancelled while writing") }
            return try stage.nextBand()
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
    /// Whether a file contains the exact filtered pixels, with alpha and depth, so that other images can be made from
    /// it. For other formats the pixels are handed over in addition, see `HandOverFile`.
    let isLossless: Bool
    /// Whether a file has an alpha channel. If not, pictures are laid over white.
    let hasAlpha: Bool
    /// The maximum number of bits per sample.
    let mostDepth: Int
    /// The endings of such files' names, in lower case. The first one is added to names without an ending.
    let endings: [String]
    /// Whether the rows may be indices of a palette.
    let usesPalette: Bool
    /// Examines a colour profile from a file of another format; nil if the format takes any profile.
    let judge:
        (@Sendable (PictureColour.Profile) throws(PictureError) -> PictureColour.Profile.Verdict)?
    let write: @Sendable (Input) throws(PictureError) -> WrittenPicture
    let needs: @Sendable (Expected) throws(PictureError) -> WriterNeeds

    static func encoder(of format: OutputFormat) -> PictureEncoder {
        switch format {
        case .png: png
        case .jpeg: jpeg
        }
    }

    private static let png = PictureEncoder(
        kind: .png, isLossless: true, hasAlpha: true, mostDepth: 16, endings: [".png"],
        usesPalette: true,
        judge: { profile throws(PictureError) in try profile.judged() },
        write: { input throws(PictureError) in try PNGWriter.write(input) },
        needs: { WriterNeeds(bytes: $0.strips) })

    private static let jpeg = PictureEncoder(
        kind: .jpeg, isLossless: false, hasAlpha: false, mostDepth: 8, endings: [".jpg", ".jpeg"],
        usesPalette: false, judge: nil,
        write: { input throws(PictureError) in try JPEGWriter.write(input) },
        needs: { picture throws(PictureError) in try JPEGWriter.needs(picture) })
}

/// What a writer needs.
struct WriterNeeds {
    /// Without the memory that is held until the end.
    var bytes: Int
    var heldBytes = 0
    /// The purpose of that memory, with which a message begins.
    var purpose = ""
}

extension OutputFormat {
    var encoder: PictureEncoder { PictureEncoder.encoder(of: self) }

    package var isLossless: Bool { encoder.isLossless }

    package var hasAlpha: Bool { encoder.hasAlpha }

    package var mostDepth: Int { encoder.mostDepth }

    package var endings: [String] { encoder.endings }
}
