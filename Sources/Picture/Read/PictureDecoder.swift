import DarkroomCore
import SystemPackage

/// A kind of picture that is read: how a file of it is opened, and what that takes.
///
/// `all` is the one table of them. `PictureKind` tells a kind by its first bytes; a kind that is not here is refused by
/// its name.
struct PictureDecoder: Sendable {
    /// How many times smaller to decode a picture, given width, height and orientation as they stand in its header: 1
    /// for a kind that is always decoded whole.
    typealias Divisor = (_ width: Int, _ height: Int, Orientation) -> Int

    /// A file at the picture's beginning, and who asks.
    struct Input {
        let file: FileDescriptor
        /// What messages call the file.
        let name: String
        let limits: PictureLimits
        let divisor: Divisor
        let checkpoint: () -> Bool
    }

    let kind: PictureKind
    /// As it is written in a list: `PNG`.
    let name: String
    /// Reads the header.
    let open: @Sendable (Input) throws(PictureError) -> any PictureReader
    /// What the reader of a picture takes of which nothing is known but the limits.
    let mostNeeds: @Sendable (PictureLimits) -> ReaderNeeds

    static let all = [
        PictureDecoder(
            kind: .png, name: "PNG",
            open: { input throws(PictureError) in
                try PNGReader(
                    file: input.file, name: input.name, limits: input.limits,
                    checkpoint: input.checkpoint)
            },
            mostNeeds: { limits in
                PNGReader.needs(
                    PixelLayout(width: limits.side, height: 1, channels: 4, depth: 16))
            }),
        PictureDecoder(
            kind: .jpeg, name: "JPEG",
            open: { input throws(PictureError) in
                try JPEGReader(
                    file: input.file, name: input.name, limits: input.limits,
                    divisor: input.divisor, checkpoint: input.checkpoint)
            },
            mostNeeds: { limits in
                let side = min(limits.side, JPEGReader.largestSide)
                return JPEGReader.needs(
                    PixelLayout(width: side, height: 1, channels: 3, depth: 8), divisor: 1)
            }),
    ]

    /// nil for a kind that is not read.
    static func decoder(of kind: PictureKind) -> PictureDecoder? {
        all.first { $0.kind == kind }
    }
}

/// What a reader takes while it hands out rows.
package struct ReaderNeeds: Sendable, Equatable {
    /// Of the bands that it hands out.
    package var rowsPerBand: Int
    /// But for what it holds of the whole picture, and for the colour profile.
    package var bytes: Int
}

extension PictureKind {
    /// Whether this version reads such pictures.
    package var isReadable: Bool { PictureDecoder.decoder(of: self) != nil }

    /// What pictures must be, as the end of a sentence that says what one is.
    package static let rule =
        "only \(Words.list(PictureDecoder.all.map(\.name), "and")) pictures are read"

    /// Why a file of this kind cannot be read, or nil where it can be tried.
    package func refusal(of name: String) -> PictureError? {
        if isReadable { return nil }
        if self == .mangledPNG { return PictureError(.pngSignature, "\(name): this is \(words)") }
        return isPicture
            ? PictureError(
                .unsupportedFormat, "\(name): this is \(words); \(Self.rule)")
            : PictureError(.notAPicture, "\(name): this is \(words)")
    }
}
