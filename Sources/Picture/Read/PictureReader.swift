import SystemPackage

/// The first stage of a pipeline, which reads the picture's file.
package protocol PictureReader: Stage {
    /// The valid information of the file about the meaning of the pixels' values.
    var colour: PictureColour { get }
    /// The orientation of the stored pixels.
    var orientation: Orientation { get }
    /// Exif's TIFF structure, as stored in the file.
    var exif: [UInt8]? { get }
    /// All metadata of the file, as it is stored. A PNG or a JPEG is looked through for it.
    func packets() throws(PictureError) -> SourcePackets
    /// Remarks so far that are not errors.
    var warnings: [String] { get }
    /// The format of the file.
    var format: InputFormat { get }
    /// What the file contains in addition to pixels, for `MetadataLedger`. It grows until the last band is read, so only
    /// the thread that reads may ask for it.
    var metadata: SourceMetadata { get }

    /// The memory that the reader needs.
    var needs: ReaderNeeds { get }

    /// The bytes that it holds because the picture's rows are not stored one after the other.
    var heldBytes: Int { get }

    /// The same, if it were reduced when it is decoded.
    var heldBytesIfReduced: Int { get }

    /// The size of the file's picture, which may be larger than that of the rows.
    var storedSize: (width: Int, height: Int) { get }

    /// The factor by which each side was reduced when it was decoded.
    var divisor: Int { get }

    /// Whether it can be reduced when it is decoded, for the filters that make it smaller.
    var canReduce: Bool { get }

    /// The bits per sample of the file's colours, which may be fewer than those of the rows.
    var storedDepth: Int { get }

    /// The reader of the file, whose values may be converted by another one around it.
    var stored: any PictureReader { get }

    /// Whether the file has CMYK, which becomes the RGB of the wanted space as rows are read.
    var hasInks: Bool { get }

    /// The codec programs that take part in its pixels (`CodecLibraries`).
    var programs: [CodecProgram] { get }

    /// Whether another thread may request bands from it.
    var canBeReadAhead: Bool { get }

    /// Reads the rest, so that damage there is found too.
    func drain() throws(PictureError)
}

extension PictureReader {
    package var storedSize: (width: Int, height: Int) { (layout.width, layout.height) }

    package var divisor: Int { 1 }

    package var canReduce: Bool { false }

    package var heldBytesIfReduced: Int { heldBytes }

    package var stored: any PictureReader { self }

    package var hasInks: Bool { false }

    package var storedDepth: Int { layout.depth }

    package var programs: [CodecProgram] { [] }

    package func packets() throws(PictureError) -> SourcePackets { SourcePackets(exif: exif) }

    package var canBeReadAhead: Bool { true }

    package func drain() throws(PictureError) {
        while try nextBand() != nil {}
    }
}

extension PNGReader: PictureReader {
    package var format: InputFormat { .png }

    package var needs: ReaderNeeds { Self.needs(layout) }

    static func needs(_ layout: PixelLayout) -> ReaderNeeds {
        let rows = rowsPerBand(layout)
        // A band, another one decompressed, and perhaps a third one still packed; the previous row, and libpng's rows;
        // the window of the decompression.
        return ReaderNeeds(
            rowsPerBand: rows,
            bytes: 3 * rows * layout.bytesPerRow + 4 * layout.bytesPerRow + 1 << 20)
    }

    package func packets() throws(PictureError) -> SourcePackets { try finder.inPNG(exif: exif) }

    package var heldBytes: Int {
        header.isInterlaced ? layout.bytes : 0
    }

    package var storedDepth: Int { header.hasPalette ? layout.depth : header.depth }

    package var metadata: SourceMetadata {
        var metadata = SourceMetadata(format: .png)
        for chunk in chunks where !["IHDR", "IDAT", "IEND"].contains(chunk) {
            metadata.meanings[chunk] =
                switch chunk {
                case "PLTE" where header.hasPalette: .pixels
                case "tRNS" where hasTransparencyChunk: .pixels
                case "eXIf": .packet(.exif)
                case "iTXt": .packet(.xmp)
                default: PictureColour.Item(rawValue: chunk).map { .colour($0) } ?? .other
                }
        }
        return metadata
    }
}

extension StatedColour {
    init(_ reader: any PictureReader) {
        self.init(colour: reader.colour, isGray: reader.layout.isGray)
    }
}
