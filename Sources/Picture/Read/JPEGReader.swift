import CDarkroomShims

/// The first stage: the rows of a JPEG file, which are decoded when they are requested.
///
/// libjpeg reads the header. Darkroom's own code (`Sources/CJpeg`) decodes the data of usual pictures, sequential and
/// progressive ones, twice as fast as libjpeg-turbo and to the same pixels. libjpeg decodes all others, and takes over if
/// the data of a usual one are in doubt. So all errors and remarks are libjpeg's, at the row where it would report them
/// if it had decoded alone.
///
/// Gray stays gray, and colour becomes RGB; CMYK and YCCK by the file's profile, or as `CMYKModel` says. A progressive
/// picture, or one with separate scans for its components, is read completely before its first band is lent. It is held
/// as coefficients of two bytes, which count for `PictureLimits.wholePictureBytes`. Other pictures never need more than
/// a band.
///
/// All damage that libjpeg notices is an error, even if libjpeg would continue with a warning, unless
/// `PictureLimits.damaged` says otherwise. The table of remarks (`Sources/CShims/remarks.c`) says what is harmless. JPEG
/// has no checksums, so wrong bits with valid codes are not noticed. The call of `nextBand` that returns nil warns of
/// what is irregular.
package final class JPEGReader: PictureReader {
    /// The layout of the decoded picture, which `divisor` reduces.
    package let layout: PixelLayout
    package let facts: PictureFacts
    /// Whether it has several scans.
    package let isProgressive: Bool

    package typealias Decoder = PictureDecoder.Code

    /// The sizes at which it is read at once, see `JPEGViews`; empty if it is read at one.
    let views: [(layout: PixelLayout, rowsPerStep: Int)]

    private let finder: PacketFinder
    fileprivate let file: JPEGFile
    fileprivate let input: PictureDecoder.Input
    private let buffer: FilterBuffer<UInt8>
    /// nil if the picture is not CMYK.
    private let cmyk: CMYKSource?
    /// Remarks that are not from libjpeg.
    private var remarks: [String] = []
    private var nextRow = 0
    private var isFinished = false

    /// Reads everything before the pixels.
    ///
    /// - Parameters:
    ///   - input: a file need not be seekable, but then libjpeg decodes it.
    ///   - decoder: `reference` is for tests and benchmarks.
    ///   - views: the factors of several sizes, the smallest factor first; empty for one size. If only libjpeg reads the
    ///     picture, it is read at one.
    package init(
        _ input: PictureDecoder.Input, decoder: Decoder = .automatic, views: [Int] = []
    ) throws(PictureError) {
        let (name, limits) = (input.name, input.limits)
        finder = PacketFinder(input.picture)
        let file = try JPEGFile(input)
        let raw = try file.open()
        let (width, height) = (Int(raw.width), Int(raw.height))
        try limits.check(width: width, height: height, place: "\(name): reading the header")
        isProgressive = raw.is_whole != 0
        try limits.check(
            held: file.heldBytes, width: width, height: height,
            place: "\(name): reading a progressive picture")
        let exif = Exif.firstUsable(try file.calls.exifs())
        let (orientation, remark) = ExifOrientation.read(exif)
        if let remark { remarks.append(remark) }
        let isCMYK = raw.is_cmyk != 0
        var colour = PictureColour()
        if raw.has_density != 0 { colour.density = PictureColour.Density(raw.density) }
        let profile = try file.calls.profile()
        if isCMYK {
            colour = colour.stating(ofCMYK: input.profile)
        } else if let profile, let remark = colour.take(profile: profile, isGray: raw.channels == 1)
        {
            remarks.append(remark)
        }
        colour.noteColourSpace(ofExif: exif)
        cmyk = isCMYK ? CMYKSource(profile: profile, input) : nil
        let divisor = input.divisor(width, height, orientation)
        let channels = isCMYK ? 3 : Int(raw.channels)
        let found = try views.isEmpty ? nil : file.start(views: views)
        self.views = (found ?? []).map { view in
            let layout = PixelLayout(
                width: view.width, height: view.height, channels: channels, depth: 8)
            return (layout, view.rowsPerStep)
        }
        if let first = self.views.first {
            layout = first.layout
        } else {
            let size = try file.start(decoder, divisor: divisor)
            layout = PixelLayout(
                width: size.width, height: size.height, channels: channels, depth: 8)
        }
        // A row of CMYK has a sample more for each pixel.
        let bytesPerRow = layout.bytesPerRow + (isCMYK ? layout.width : 0)
        buffer = try FilterBuffer(count: bytesPerRow * layout.rowsPerBand)
        var facts = PictureFacts(.jpeg, layout, Self.needs(layout, divisor: divisor))
        facts.storedSize = (width, height)
        (facts.divisor, facts.canReduce) = (divisor, true)
        (facts.colour, facts.orientation, facts.exif) = (colour, orientation, exif)
        (facts.isCMYK, facts.heldBytes) = (isCMYK, file.heldBytes)
        self.facts = facts
        self.file = file
        self.input = input
    }

    package var programs: [CodecProgram] { cmyk?.programs ?? [] }

    package var warnings: [String] { file.calls.warnings + remarks + (cmyk?.remarks ?? []) }

    /// Whether libjpeg decodes the pixels, from the beginning or since it has taken over.
    package var usesLibrary: Bool { file.calls.isReference }

    /// The names of the segments so far that contain no pixels, in order of appearance, each once.
    package var segments: [String] { file.calls.segments }

    /// libjpeg holds up to five groups of rows of each component for interpolation, with at most 32 rows each, and one
    /// group of coefficients. Darkroom's own code holds three groups, and ends before libjpeg takes over.
    static func needs(_ layout: PixelLayout, divisor: Int) -> ReaderNeeds {
        ReaderNeeds(
            rowsPerBand: layout.rowsPerBand,
            bytes: layout.rowsPerBand * layout.bytesPerRow
                + 192 * layout.channels * layout.width * divisor + 1 << 20)
    }

    /// libjpeg's `JPEG_MAX_DIMENSION`, in pixels.
    package static let largestSide = 65_500

    package var metadata: SourceMetadata {
        var metadata = SourceMetadata(format: .jpeg)
        for segment in segments {
            switch segment {
            case "JFIF":
                // It contains nothing else, and is in nearly every file.
                if colour.density != nil { metadata.meanings[segment] = .colour(.density) }
            case "ICC": metadata.meanings[segment] = cmyk == nil ? .colour(.profile) : .pixels
            case "Exif": metadata.meanings[segment] = .packet(.exif)
            case "XMP": metadata.meanings[segment] = .packet(.xmp)
            case "APP13": metadata.meanings[segment] = .packet(.iptc)
            case "Adobe": metadata.meanings[segment] = .pixels
            default: metadata.meanings[segment] = .other
            }
        }
        return metadata
    }

    package func packets() throws(PictureError) -> SourcePackets { try finder.inJPEG(exif: exif) }

    package func nextBand() throws(PictureError) -> Band? {
        if nextRow == layout.height {
            if !isFinished { try file.finish() }
            isFinished = true
            return nil
        }
        try input.checkIn()
        guard try file.absorb(input.checkIn) else {
            preconditionFailure("a picture that is read at one size is never in doubt")
        }
        let rows = nextRow..<min(layout.height, nextRow + layout.rowsPerBand)
        nextRow = rows.upperBound
        let start = UnsafeMutableRawPointer(buffer.start)
        guard let cmyk else {
            try file.read(rows, of: layout, layout.bytesPerRow, to: start)
            return Band(start: start, rows: rows)
        }
        let converter = try cmyk.converter(to: layout)
        try file.read(rows, of: layout, converter.bytesPerRow, to: start)
        converter.convert(start, rows: rows.count)
        return Band(start: start, rows: rows)
    }
}

/// A JPEG at several sizes at once. Its data are decompressed once; each size has the rows that it has alone.
final class JPEGViews: TeeSource {
    let layouts: [PixelLayout]
    let rowsPerStep: [Int]
    /// Whether the data are in doubt, so that each size must be read by itself. That finds the error, if there is one.
    private(set) var isDoubtful = false
    private let reader: JPEGReader
    private var given: [Int]
    private var isFinished = false

    /// nil if the picture is read at one size.
    init?(_ reader: JPEGReader) {
        guard !reader.views.isEmpty else { return nil }
        self.reader = reader
        layouts = reader.views.map(\.layout)
        rowsPerStep = reader.views.map(\.rowsPerStep)
        given = layouts.map { _ in 0 }
    }

    private func doubt() -> PictureError {
        isDoubtful = true
        return PictureError(.jpegData, "\(reader.input.name): the data are in doubt")
    }

    func next(into memory: [UnsafeMutableRawPointer]) throws(PictureError) -> [Range<Int>]? {
        if isFinished { return nil }
        try reader.input.checkIn()
        guard try reader.file.absorb(reader.input.checkIn) else { throw doubt() }
        guard let counts = try reader.file.step(into: memory) else { throw doubt() }
        guard counts.contains(where: { $0 > 0 }) else {
            try reader.file.finish()
            isFinished = true
            return nil
        }
        let former = given
        given = zip(former, counts).map { $0 + $1 }
        return zip(former, given).map { $0..<$1 }
    }
}
