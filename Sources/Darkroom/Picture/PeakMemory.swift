/// What a picture will take in memory, told before a pixel is decoded.
///
/// It is made of what the steps count themselves (see `PictureMemory`), which the stages tell when they are
/// put together over a source that has no pixels, and of bounds for all that they do not count. Not in it:
/// chunks and segments that hold no pixels, other than the colour profile. `PictureLimits.ancillaryBytes`
/// bounds each of these.
package struct PeakMemory {
    /// What the header says of a picture.
    package struct Source: Sendable, Equatable {
        package var kind: Kind
        /// That of the rows that the decoder hands out.
        package var layout: PixelLayout
        package var orientation = Orientation.topLeft
        /// What the reader holds of an interlaced or progressive picture, in bytes.
        package var heldBytes = 0
        /// Of the colour profile.
        package var profileBytes = 0

        package enum Kind: Sendable, Equatable {
            case png
            /// Decoded so many times smaller each way.
            case jpeg(divisor: Int)
        }

        package init(_ kind: Kind, _ layout: PixelLayout) {
            self.kind = kind
            self.layout = layout
        }

        /// What a reader has learnt from the header.
        package init(_ reader: any PictureReader) {
            let divisor = (reader as? JPEGReader)?.divisor
            self.init(divisor.map { .jpeg(divisor: $0) } ?? .png, reader.layout)
            orientation = reader.orientation
            heldBytes = reader.heldBytes
            profileBytes = reader.colour.profile?.bytes.count ?? 0
        }
    }

    private let limits: PictureLimits
    private let cores: Cores
    /// The steps' own count. No step is let go of before the last is made, as in the pipeline.
    private let memory: PictureMemory
    private var steps: [any Stage] = []
    private var layout: PixelLayout
    /// What is not counted.
    private var bytes = 0
    /// Whether `layout` is the largest there may be, as after `trim`.
    private var isAtMost = false
    /// Whether of what is counted nothing is known but that it keeps to the limit.
    private var isUnknown = false
    /// Whether the same is true of the picture's size.
    private var isAnySize = false

    /// An upper bound, in bytes, of what `PicturePipeline.run` with the same arguments takes.
    ///
    /// What `trim` leaves and how large an overlaid image is is not known before: trimming is taken to leave
    /// everything. Where that is no bound, because a `resize` follows, the bound is what the limits allow.
    ///
    /// - Parameters:
    ///   - other: the header of another image's output, for `overlay`; nil if it is not known.
    /// - Throws: what `run` would throw before it reads: `tooManyPixels`, `filterOutside`.
    package static func bound(
        of source: Source, autoOrient: Bool = true, filters: [Filter],
        options: OutputOptions = OutputOptions(), limits: PictureLimits = PictureLimits(),
        cores: Cores = .shared, other: (_ name: String) -> Source? = { _ in nil }
    ) throws(PictureError) -> Int {
        var peak = PeakMemory(source, limits, cores)
        try peak.addReader(source)
        let turns = autoOrient ? source.orientation.filters : []
        for filter in turns + filters { try peak.add(filter, other) }
        try peak.addWriter(options, profile: source.profileBytes)
        return peak.total
    }

    private init(_ source: Source, _ limits: PictureLimits, _ cores: Cores) {
        self.limits = limits
        self.cores = cores
        memory = PictureMemory(limit: limits.wholePictureBytes)
        layout = source.layout
    }

    /// Small things, the heap's own needs and the stacks of helpers.
    private static let overhead = 3 << 20

    private var total: Int {
        Self.overhead + bytes + (isUnknown ? limits.wholePictureBytes : memory.held)
    }

    // MARK: Reading

    private mutating func addReader(_ source: Source) throws(PictureError) {
        let layout = source.layout
        try limits.check(width: layout.width, height: layout.height, place: "reading the header")
        try memory.take(source.heldBytes, for: "reading an interlaced or progressive picture")
        bytes += Self.reader(source)
        if layout.bytes >= ReadAhead.leastBytes, layout.bytesPerRow <= ReadAhead.largestRow,
            cores.most > 0
        {
            // Five bands ahead, or 2 MiB, for rows still filtered may take a third more; one being read and one lent.
            bytes += max(5 * Self.band(source), 2 << 20) + 2 * Self.band(source)
        }
    }

    private static func band(_ source: Source) -> Int {
        let rows =
            source.kind == .png
            ? PNGReader.rowsPerBand(source.layout) : source.layout.rowsPerBand
        return rows * source.layout.bytesPerRow
    }

    /// What a reader takes but for what it holds of the whole picture.
    private static func reader(_ source: Source) -> Int {
        let layout = source.layout
        // As it is compressed, as it is read and as it is kept.
        let profile = 3 * source.profileBytes
        switch source.kind {
        case .png:
            // A band, and another decompressed and perhaps a third still packed; the row above, and libpng's
            // rows; what compressed data refer back to.
            return 3 * band(source) + 4 * layout.bytesPerRow + 1 << 20 + profile
        case .jpeg(let divisor):
            // libjpeg holds up to five groups of rows of each component for interpolation, of at most 32
            // rows each, and one of coefficients.
            return band(source) + 192 * layout.channels * layout.width * divisor + 1 << 20 + profile
        }
    }

    /// What a reader takes of which nothing is known.
    private static func anyReader(_ limits: PictureLimits) -> Int {
        let widest = PixelLayout(width: limits.side, height: 1, channels: 4, depth: 16)
        return reader(Source(.png, widest))
    }

    // MARK: Filters

    private mutating func add(
        _ filter: Filter, _ other: (_ name: String) -> Source?
    ) throws(PictureError) {
        let input = layout
        if case .resize = filter, isAtMost { widen() }
        if isAnySize {
            bytes += Self.step(filter, from: layout, to: layout)
            if case .overlay = filter { bytes += Self.anyReader(limits) }
            return
        }
        switch filter {
        case .trim:
            try memory.take(input.bytes, for: "trim")
            isAtMost = true
        case .overlay(let overlay):
            try add(overlay, other(overlay.from))
        default:
            let stage = try FilterStage.make(
                filter, upstream: BlankStage(layout),
                context: StageContext(limits: limits, memory: memory))
            steps.append(stage)
            layout = stage.layout
        }
        bytes += Self.step(filter, from: input, to: layout)
    }

    /// A resize of a picture whose size is not known may make rows as wide as the limits allow.
    private mutating func widen() {
        isAnySize = true
        isUnknown = true
        layout.width = limits.side
        layout.height = max(1, limits.pixels / limits.side)
        layout.channels = 4
    }

    /// The part that is seen, and the reader while it is read.
    private mutating func add(
        _ overlay: Filter.Overlay, _ other: Source?
    ) throws(PictureError) {
        let input = layout
        guard let other else {
            layout.channels = input.hasAlpha ? 4 : 3
            isUnknown = true
            bytes += Self.anyReader(limits)
            return
        }
        let isGray = other.layout.channels <= 2 && input.channels <= 2
        layout.channels = (isGray ? 1 : 3) + (input.hasAlpha ? 1 : 0)
        let corner = overlay.corner(of: other.layout, on: input)
        let columns = (corner.x..<corner.x + other.layout.width).clamped(to: 0..<input.width)
        let rows = (corner.y..<corner.y + other.layout.height).clamped(to: 0..<input.height)
        var seen = other.layout
        seen.channels = isGray ? 2 : 4
        // Of a picture that is trimmed first, another part may be seen.
        if !isAtMost { (seen.width, seen.height) = (max(columns.count, 1), max(rows.count, 1)) }
        try memory.take(seen.bytes + other.heldBytes, for: "overlay")
        bytes += Self.reader(other)
    }

    /// What a filter's step takes that it does not count.
    private static func step(
        _ filter: Filter, from input: PixelLayout, to output: PixelLayout
    ) -> Int {
        let samples = { (layout: PixelLayout) in layout.width * layout.channels }
        // Bands of input and output; of two steps where one is not enough.
        let bands = 2 * max(128 << 10, input.bytesPerRow) + 2 * max(128 << 10, output.bytesPerRow)
        // A few rows of floats, and the margins of those that are blurred.
        let rows = 16 * (samples(input) + samples(output)) + 64 << 10
        switch filter {
        case .rotate:
            return bands + rows + min(32 * output.bytesPerRow, 8 << 20)
        case .resize(let resize):
            // Weights of each pixel that counts, as they are made: three lobes to both sides, or as many as
            // the reduction needs.
            let sides = input.width + input.height + output.width + output.height
            let tables = resize.linear ? (output.depth == 8 ? 64 << 10 : 2 << 20) : 0
            return bands + rows + 128 * sides + tables
        default:
            let tables = output.depth == 8 ? 1 << 10 : 256 << 10
            return bands + rows + tables
        }
    }

    // MARK: Writing

    private mutating func addWriter(
        _ options: OutputOptions, profile: Int
    ) throws(PictureError) {
        bytes += 3 * profile
        switch options.format {
        case .png:
            bytes += StripEncoder.mostBytes(layout, options.compression.effort, cores: cores)
        case .jpeg:
            if isAnySize {
                layout.width = min(layout.width, JPEGWriter.largestSide)
                layout.height = min(layout.height, JPEGWriter.largestSide)
            }
            let held = try JPEGWriter.heldBytes(layout, name: "output", options: options)
            if !isUnknown { try memory.take(held, for: "writing a progressive picture") }
            // Rows as libjpeg has them; what is written comes out in the end if it is progressive, and
            // is no larger than the coefficients.
            bytes += 192 * 3 * layout.width + 1 << 20
            bytes += isAnySize && options.progressive ? limits.wholePictureBytes : held
        }
    }
}

/// A source that is never read.
private final class BlankStage: Stage {
    let layout: PixelLayout

    init(_ layout: PixelLayout) {
        self.layout = layout
    }

    func nextBand() throws(PictureError) -> Band? {
        preconditionFailure("what has no pixels was read")
    }
}
