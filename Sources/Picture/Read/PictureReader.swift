/// What a reader knows of its picture before the first row.
package struct PictureFacts {
    /// The format of the file.
    package var format: InputFormat
    /// The size of the file's picture, which may be larger than that of the rows.
    package var storedSize: (width: Int, height: Int)
    /// The bits per sample of the file's colours, which may be fewer than those of the rows.
    package var storedDepth: Int
    /// The factor by which each side is reduced when it is decoded.
    package var divisor = 1
    /// Whether it can be reduced when it is decoded, for the filters that make it smaller.
    package var canReduce = false
    /// The valid information of the file about the meaning of the pixels' values.
    package var colour = PictureColour()
    /// The orientation of the stored pixels.
    package var orientation = Orientation.topLeft
    /// Exif's TIFF structure, as stored in the file.
    package var exif: [UInt8]?
    /// Whether the file has CMYK, which becomes the RGB of the wanted space as rows are read.
    package var isCMYK = false
    /// The memory that the reader needs.
    package var needs: ReaderNeeds
    /// The bytes that the reader holds because the picture's rows are not stored one after the other.
    package var heldBytes = 0
    /// The same, if the picture were reduced when it is decoded; nil if that makes no difference.
    package var heldBytesIfReduced: Int?

    /// A picture that is decoded in its own size and depth.
    ///
    /// - Parameter layout: of the rows.
    init(_ format: InputFormat, _ layout: PixelLayout, _ needs: ReaderNeeds) {
        self.format = format
        storedSize = (layout.width, layout.height)
        storedDepth = layout.depth
        self.needs = needs
    }
}

/// The first stage of a pipeline, which reads the picture's file.
package protocol PictureReader: Stage {
    var facts: PictureFacts { get }
    /// All metadata of the file, as it is stored. A PNG or a JPEG is looked through for it.
    func packets() throws(PictureError) -> SourcePackets
    /// Remarks so far that are not errors.
    var warnings: [String] { get }
    /// What the file contains in addition to pixels, for `MetadataLedger`. It grows until the last band is read, so only
    /// the thread that reads may ask for it.
    var metadata: SourceMetadata { get }

    /// The reader of the file, whose values may be converted by another one around it.
    var stored: any PictureReader { get }

    /// The codec programs that take part in its pixels (`CodecLibraries`).
    var programs: [CodecProgram] { get }

    /// Whether another thread may request bands from it.
    var canBeReadAhead: Bool { get }

    /// Reads the rest, so that damage there is found too.
    func drain() throws(PictureError)
}

extension PictureReader {
    package var format: InputFormat { facts.format }
    package var storedSize: (width: Int, height: Int) { facts.storedSize }
    package var divisor: Int { facts.divisor }
    package var colour: PictureColour { facts.colour }
    package var orientation: Orientation { facts.orientation }
    package var exif: [UInt8]? { facts.exif }
    package var heldBytes: Int { facts.heldBytes }

    package func packets() throws(PictureError) -> SourcePackets { SourcePackets(exif: exif) }

    package var stored: any PictureReader { self }

    package var programs: [CodecProgram] { [] }

    package var canBeReadAhead: Bool { true }

    package func drain() throws(PictureError) {
        while try nextBand() != nil {}
    }
}

extension StatedColour {
    init(_ reader: any PictureReader) {
        self.init(colour: reader.colour, isGray: reader.layout.isGray)
    }
}
