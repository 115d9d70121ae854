import DarkroomCore

/// A kind of picture that can be read: how to open a file, and the memory that this needs.
///
/// `all` is the only table of them. `InputFormat` recognises a kind by its first bytes. A kind that is not in the table
/// is refused, and its name is in the message.
package struct PictureDecoder: Sendable {
    /// The factor by which a picture is reduced when it is decoded, for the width, height and orientation in its
    /// header; 1 for a kind that is always decoded completely.
    package typealias Divisor = (_ width: Int, _ height: Int, Orientation) -> Int

    /// A picture that is to be read.
    package struct Input {
        let picture: PictureInput
        /// The name of the file in messages.
        let name: String
        let limits: PictureLimits
        let divisor: Divisor
        /// Called before each band; false ends reading with `PictureError.Code.cancelled`.
        let checkpoint: () -> Bool

        package init(
            _ picture: PictureInput, name: String, limits: PictureLimits = PictureLimits(),
            divisor: @escaping Divisor = { _, _, _ in 1 },
            checkpoint: @escaping () -> Bool = { true }
        ) {
            self.picture = picture
            self.name = name
            self.limits = limits
            self.divisor = divisor
            self.checkpoint = checkpoint
        }
    }

    let kind: InputFormat
    /// The name in lists: `PNG`.
    let name: String
    /// The registered name, with which a download asks for it: `image/png`.
    let mediaType: String
    /// The word for a picture that is held in memory, because its rows are not stored one after the other.
    let heldWord: String
    /// Reads the header.
    let open: @Sendable (Input) throws(PictureError) -> any PictureReader
    /// What the reader of a picture needs, for the layout of its rows and the factor of their reduction.
    let needs: @Sendable (PixelLayout, _ divisor: Int) -> ReaderNeeds
    /// Whether a picture can be reduced when it is decoded.
    let reduces: Bool
    /// The maximum that the reader of a picture needs, if only the limits are known.
    let mostNeeds: @Sendable (PictureLimits) -> ReaderNeeds

    static let all = [
        PictureDecoder(
            kind: .png, name: "PNG", mediaType: "image/png",
            heldWord: "interlaced",
            open: { input throws(PictureError) in try PNGReader(input) },
            needs: { layout, _ in PNGReader.needs(layout) }, reduces: false,
            mostNeeds: { limits in
                PNGReader.needs(
                    PixelLayout(width: limits.side, height: 1, channels: 4, depth: 16))
            }),
        PictureDecoder(
            kind: .jpeg, name: "JPEG", mediaType: "image/jpeg",
            heldWord: "progressive",
            open: { input throws(PictureError) in try JPEGReader(input) },
            needs: { JPEGReader.needs($0, divisor: $1) }, reduces: true,
            mostNeeds: { limits in
                let side = min(limits.side, JPEGReader.largestSide)
                return JPEGReader.needs(
                    PixelLayout(width: side, height: 1, channels: 3, depth: 8), divisor: 1)
            }),
    ]

    /// nil for a kind that cannot be read.
    static func decoder(of kind: InputFormat) -> PictureDecoder? {
        all.first { $0.kind == kind }
    }

    /// The reader for the kind that the picture's first bytes show.
    static func reader(of input: Input) throws(PictureError) -> any PictureReader {
        let kind = try InputFormat(of: input.picture, name: input.name)
        guard let decoder = decoder(of: kind) else {
            throw kind.refusal(of: input.name)
                ?? PictureError(.unsupportedFormat, "\(input.name): this is \(kind.words)")
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

    /// The media types of the kinds that this version reads.
    package static let readableMediaTypes = PictureDecoder.all.map(\.mediaType)

    /// The permitted kinds of pictures, as the end of a sentence that names the kind of one.
    package static let rule =
        "only \(Words.list(PictureDecoder.all.map(\.name), "and")) pictures are supported"

    /// The error if a file of this kind cannot be read; nil if the kind can be read.
    package func refusal(of name: String) -> PictureError? {
        if isReadable { return nil }
        if self == .mangledPNG { return PictureError(.pngSignature, "\(name): this is \(words)") }
        return isPicture
            ? PictureError(
                .unsupportedFormat, "\(name): this is \(words); \(Self.rule)")
            : PictureError(.notAPicture, "\(name): this is \(words)")
    }
}
