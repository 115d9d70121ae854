import DarkroomCore

/// A kind of picture that can be read: how to open a file, and the memory that this needs.
///
/// `all` is the only table of them, with the kinds of `CodecFormat`. `InputFormat` recognises a kind by its first bytes. A
/// kind that is not in the table is refused, and its name is in the message.
package struct PictureDecoder: Sendable {
    /// The factor by which a picture is reduced when it is decoded, for the width, height and orientation in its
    /// header; 1 for a kind that is always decoded completely.
    package typealias Divisor = (_ width: Int, _ height: Int, Orientation) -> Int

    /// The code that decodes the pixels. libpng and libjpeg always read everything around them.
    package enum Code: Sendable, CaseIterable {
        /// Darkroom's own for the usual kinds of pictures, the library for others.
        case automatic
        /// The library, which is the reference for Darkroom's own code.
        case reference
    }

    /// A picture that is to be read.
    package struct Input {
        let picture: PictureInput
        /// The name of the file in messages.
        let name: String
        let limits: PictureLimits
        /// From 1; nil for the first one, with a warning if there are others.
        let page: Int?
        let divisor: Divisor
        /// The space of the result, for a picture in CMYK; `keep` means sRGB for it.
        let profile: OutputProfile
        /// Called before each band; false ends reading with `PictureError.Code.cancelled`.
        let checkpoint: () -> Bool

        package init(
            _ picture: PictureInput, name: String, limits: PictureLimits = PictureLimits(),
            page: Int? = nil, divisor: @escaping Divisor = { _, _, _ in 1 },
            profile: OutputProfile = .keep, checkpoint: @escaping () -> Bool = { true }
        ) {
            self.picture = picture
            self.name = name
            self.limits = limits
            self.page = page
            self.divisor = divisor
            self.profile = profile
            self.checkpoint = checkpoint
        }

        /// - Throws: `cancelled`.
        func checkIn() throws(PictureError) {
            if !checkpoint() { throw PictureError(.cancelled, "\(name): cancelled while reading") }
        }
    }

    let kind: InputFormat
    /// The name in lists: `PNG`.
    let name: String
    /// The registered name: `image/png`.
    let mediaType: String
    /// The extensions of such files' names, in lower case, with the dot.
    let endings: [String]
    /// The word for a picture that is held in memory, because its rows are not stored one after the other; nil for a
    /// kind of which this is nothing special.
    let heldWord: String?
    /// The program that reads it; nil if this process does.
    var program: CodecProgram?
    /// Whether a file may have several pages.
    var hasPages = false
    /// The formats in which such pictures are best written, if no files of their own are; the first is the nearest.
    var nearest: [OutputFormat] = []
    /// Reads the header.
    let open: @Sendable (Input) throws(PictureError) -> any PictureReader
    /// What the reader of a picture needs, for the layout of its rows and the factor of their reduction.
    let needs: @Sendable (PixelLayout, _ divisor: Int) -> ReaderNeeds
    /// A row as wide and deep as such a picture can have; limits may make it shorter.
    var largestRow = PixelLayout(width: .max, height: 1, channels: 4, depth: 16)

    /// The maximum that the reader of a picture needs, if only the limits are known.
    func mostNeeds(_ limits: PictureLimits) -> ReaderNeeds {
        needs(largestRow.with(width: min(largestRow.width, limits.side)), 1)
    }

    static let all = own + CodecFormat.all

    /// Those of this process.
    private static let own = [
        PictureDecoder(
            kind: .png, name: "PNG", mediaType: "image/png", endings: [".png", ".apng"],
            heldWord: "interlaced",
            open: { input throws(PictureError) in try PNGReader(input) },
            needs: { layout, _ in PNGReader.needs(layout) }),
        PictureDecoder(
            kind: .jpeg, name: "JPEG", mediaType: "image/jpeg",
            endings: [".jpg", ".jpeg", ".jpe", ".jfif"],
            heldWord: "progressive",
            open: { input throws(PictureError) in try JPEGReader(input) },
            needs: { JPEGReader.needs($0, divisor: $1) },
            largestRow: PixelLayout(
                width: JPEGReader.largestSide, height: 1, channels: 3, depth: 8)),
    ]

    /// nil for a kind that cannot be read.
    static func decoder(of kind: InputFormat) -> PictureDecoder? { all.first { $0.kind == kind } }

    /// The reader for the kind that the picture's first bytes show.
    static func reader(of input: Input) throws(PictureError) -> any PictureReader {
        let kind = try InputFormat(of: input.picture, name: input.name)
        guard let decoder = decoder(of: kind) else {
            throw kind.refusal(of: input.name)
                ?? PictureError(.unsupportedFormat, "\(input.name): this is \(kind.words)")
        }
        if let page = input.page, page > 1, !decoder.hasPages {
            throw PictureError(
                .pageMissing,
                "\(input.name): this is \(kind.words), which has no pages, and no page \(page)")
        }
        if input.page == TIFFPages.uncountable {
            throw PictureError(
                .pageMissing,
                "\(input.name): it has more than \(TIFFPages.most) pages, or a million smaller copies beside"
                    + " them, so its pages cannot be images; list the pages that you need")
        }
        return try decoder.open(input)
    }
}

/// What a reader needs while it returns rows.
package struct ReaderNeeds: Sendable, Equatable {
    /// The rows in a band.
    package var rowsPerBand: Int
    /// Without the memory for a whole picture and for the colour profile.
    package var bytes: Int
}

extension InputFormat {
    /// Whether this version reads such pictures.
    package var isReadable: Bool { PictureDecoder.decoder(of: self) != nil }

    /// The extensions of the names of all readable kinds.
    static let readableEndings = PictureDecoder.all.flatMap(\.endings)

    /// The name of a readable kind in texts: `WebP`.
    package var name: String { PictureDecoder.decoder(of: self)?.name ?? words }

    /// The name of a kind for programs: `webp`.
    package var word: String { self == .jpegXL ? "jxl" : "\(self)" }

    /// What a download says that it takes (RFC 9110, section 12.5.1). PNG and JPEG come first, and the others have no
    /// names: many servers look for `image/webp` or `image/avif` only, and would then send these in place of a JPEG.
    package static let accepted = "image/png, image/jpeg, image/*;q=0.5, */*;q=0.1"

    /// The permitted kinds of pictures, as the end of a sentence that names the kind of one.
    package static let rule =
        "only \(Words.list(PictureDecoder.all.map(\.name), "and")) pictures are supported"

    /// The error if a file of this kind cannot be read; nil if the kind can be read.
    package func refusal(of name: String) -> PictureError? {
        if isReadable { return nil }
        if self == .mangledPNG { return PictureError(.pngSignature, "\(name): this is \(words)") }
        return PictureError(
            isPicture ? .unsupportedFormat : .notAPicture, "\(name): this is \(words)\(advice)")
    }

    /// What follows the name of a kind that is not read, in the error of a file: which kinds are read, and what to do.
    package var advice: String {
        [isPicture ? Self.rule : nil, remedy].compactMap { $0.map { "; \($0)" } }.joined()
    }
}
