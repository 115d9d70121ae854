/// The memory that a picture will need, calculated before a pixel is decoded.
///
/// It is the sum of what the steps count themselves (see `PictureMemory`) and of upper bounds for everything else. The
/// stages report their count when they are combined over a source without pixels. Not included are chunks and segments
/// without pixels, other than the colour profile. `PictureLimits.ancillaryBytes` limits each of these.
package struct PeakMemory {
    /// The facts in a picture's header.
    package struct Source: Sendable, Equatable {
        /// What its reader needs.
        package var needs: ReaderNeeds
        /// The layout of the rows that the decoder returns.
        package var layout: PixelLayout
        /// The size in the file.
        var storedSize: ResizePlan.Size
        /// The factor by which each side is reduced when it is decoded.
        var divisor = 1
        package var orientation = Orientation.topLeft
        /// The memory of the reader for an interlaced or progressive picture, in bytes.
        package var heldBytes = 0
        /// The size of the colour profile.
        package var profileBytes = 0

        package init(_ needs: ReaderNeeds, _ layout: PixelLayout) {
            self.needs = needs
            self.layout = layout
            storedSize = ResizePlan.Size(width: layout.width, height: layout.height)
        }

        /// The facts that a reader has found in the header.
        package init(_ reader: any PictureReader) {
            self.init(reader.facts.needs, reader.layout)
            let size = reader.storedSize
            storedSize = ResizePlan.Size(width: size.width, height: size.height)
            divisor = reader.divisor
            orientation = reader.orientation
            heldBytes = reader.heldBytes
            profileBytes = reader.colour.profile?.bytes.count ?? 0
        }

        /// How it was reduced, for the filters after it has been turned upright.
        func reduced(_ autoOrient: Bool) -> ReducedSource {
            ReducedSource(
                width: storedSize.width, height: storedSize.height, divisor: divisor,
                orientation: autoOrient ? orientation : .topLeft)
        }
    }

    let limits: PictureLimits
    /// The name of the result's file in messages.
    let outputName: String
    private let cores: Cores
    /// The steps' own count. All steps exist until the last one has been created, as in the pipeline.
    let memory: PictureMemory
    private var steps: [any Stage] = []
    var layout: PixelLayout
    /// After `trim`, only bounds of the picture's size are known: `layout` has the maximum of each side, and this is
    /// the maximum number of pixels; nil if the size is known.
    var mostPixels: Int?
    /// The memory that the steps do not count, in bytes.
    var bytes = 0
    /// Whether the counted memory is not known, except that it is within the limit.
    var isUnknown = false
    /// Whether there is a step that reads the picture when it is created.
    private var hasRead = false

    /// What is known in advance about a run of the pipeline.
    package struct Outcome: Sendable, Equatable {
        /// The upper bound of the memory, in bytes.
        package var bytes: Int
        /// The layout of the pixels after the last filter; nil if a filter will fail.
        package var layout: PixelLayout?
        /// Whether this is the size. If not, it is the maximum of each side, because of `trim`.
        package var isExact: Bool
        /// Why a step will fail after one that reads the picture.
        package var failure: PictureError?
    }

    /// What is known in advance about `PicturePipeline.run` with the same steps.
    ///
    /// The size after `trim` is not known in advance. For the steps after it, the bound is the maximum for all possible
    /// parts of the picture. If the run will fail after a step that reads the picture, the bound is that of the steps
    /// before the failure.
    ///
    /// - Parameters:
    ///   - outputName: the name of the result's file in messages.
    ///   - handsOver: whether the filtered pixels are also handed over.
    ///   - other: the header of another image's pixels, for `overlay`; nil if it is not known.
    /// - Throws: the errors of `run` that precede the reading: `tooManyPixels`, `filterOutside`.
    package static func outcome(
        of source: Source, _ steps: PictureSteps, outputName: String = "output",
        handsOver: Bool = false, other: (_ name: String) -> Source? = { _ in nil }
    ) throws(PictureError) -> Outcome {
        var peak = PeakMemory(source, steps, outputName)
        var (layout, isExact): (PixelLayout?, Bool) = (nil, true)
        var failure: PictureError?
        do throws(PictureError) {
            try peak.addFilters(source, steps, other)
            (layout, isExact) = (peak.layout, peak.mostPixels == nil)
            try peak.addWriter(steps.options, handsOver: handsOver, profile: source.profileBytes)
        } catch {
            guard peak.hasRead else { throw error }
            failure = error
        }
        return Outcome(bytes: peak.total, layout: layout, isExact: isExact, failure: failure)
    }

    /// The part of the bound for everything before the writer and before the filters that follow these, and the layout,
    /// or the maximum of each side, after them; nil if one of them will fail.
    static func beginning(
        of source: Source, _ steps: PictureSteps
    ) -> (bytes: Int, layout: PixelLayout)? {
        var peak = PeakMemory(source, steps, "output")
        guard (try? peak.addFilters(source, steps) { _ in nil }) != nil else { return nil }
        return (peak.total, peak.layout)
    }

    private init(_ source: Source, _ steps: PictureSteps, _ outputName: String) {
        limits = steps.limits
        self.outputName = outputName
        cores = steps.cores
        memory = PictureMemory(limit: limits.wholePictureBytes)
        layout = source.layout
    }

    /// Small allocations, the overhead of the heap, and the stacks of helpers.
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
            // Five bands ahead, or 2 MiB, because rows before filtering may need a third more; and one band being read
            // and one lent.
            bytes += max(5 * Self.band(source), 2 << 20) + 2 * Self.band(source)
        }
    }

    private static func band(_ source: Source) -> Int {
        source.needs.rowsPerBand * source.layout.bytesPerRow
    }

    /// What a reader needs, except for its memory for the whole picture.
    private static func reader(_ source: Source) -> Int {
        // The profile in three forms: compressed, as it is read and as it is kept.
        source.needs.bytes + 3 * source.profileBytes
    }

    /// What a reader needs if nothing is known about it.
    private static func anyReader(_ limits: PictureLimits) -> Int {
        PictureDecoder.all.map { $0.mostNeeds(limits).bytes }.max() ?? 0
    }

    // MARK: Filters

    /// The reader, and all filters.
    private mutating func addFilters(
        _ source: Source, _ steps: PictureSteps, _ other: (_ name: String) -> Source?
    ) throws(PictureError) {
        try addReader(source)
        let turns = steps.autoOrient ? source.orientation.filters : []
        for filter in turns + source.reduced(steps.autoOrient).passed(to: steps.filters) {
            try add(filter, other)
        }
    }

    private mutating func add(
        _ filter: Filter, _ other: (_ name: String) -> Source?
    ) throws(PictureError) {
        let input = layout
        switch filter {
        case .trim:
            let pixels = mostPixels ?? input.width * input.height
            try hold(pixels * input.bytesPerPixel, for: "trim")
            mostPixels = pixels
            hasRead = true
        case .overlay(let overlay):
            try add(overlay, other(overlay.from))
            hasRead = true
        default:
            if let mostPixels {
                try add(filter, atMost: mostPixels)
            } else {
                try make(filter)
            }
        }
        bytes += Self.step(filter, from: input, to: layout)
    }

    /// Creates a filter's stage over no pixels, which counts the memory that it needs.
    mutating func make(_ filter: Filter) throws(PictureError) {
        layout = try make(filter, on: layout)
    }

    private mutating func make(
        _ filter: Filter, on input: PixelLayout
    ) throws(PictureError) -> PixelLayout {
        let stage = try FilterStage.make(
            filter, upstream: BlankStage(input),
            context: StageContext(limits: limits, memory: memory))
        steps.append(stage)
        return stage.layout
    }

    /// Counts the memory of a step. If a picture of the maximum size would need more than is allowed, a smaller one may
    /// need everything that is allowed.
    mutating func hold(_ bytes: Int, for operation: String) throws(PictureError) {
        do throws(PictureError) {
            try memory.take(bytes, for: operation)
        } catch {
            guard mostPixels != nil else { throw error }
            isUnknown = true
        }
    }

    /// The visible part, and the reader while it is read.
    private mutating func add(_ overlay: Filter.Overlay, _ source: Source?) throws(PictureError) {
        let input = layout
        guard let source else {
            layout.channels = input.hasAlpha ? 4 : 3
            isUnknown = true
            bytes += Self.anyReader(limits)
            return
        }
        bytes += Self.reader(source)
        let other = try scaled(source.layout, for: overlay)
        let isGray = other.isGray && input.isGray
        layout.channels = (isGray ? 1 : 3) + (input.hasAlpha ? 1 : 0)
        let (columns, rows) = overlay.covered(by: other, of: input)
        let isKnown = mostPixels == nil
        // If not, which part is visible depends on the remaining part of the picture.
        let seen = PixelLayout(
            width: isKnown ? max(columns.count, 1) : min(other.width, input.width),
            height: isKnown ? max(rows.count, 1) : min(other.height, input.height),
            channels: isGray ? 2 : 4, depth: other.depth)
        try hold(seen.bytes + source.heldBytes, for: "overlay")
    }

    /// The size in which another image is laid over the picture, or the maximum of each side if the picture's size is
    /// not known. Counts the memory for scaling it.
    private mutating func scaled(
        _ other: PixelLayout, for overlay: Filter.Overlay
    ) throws(PictureError) -> PixelLayout {
        guard let resize = overlay.resize(forWidth: layout.width) else { return other }
        guard mostPixels != nil else {
            let scaled = try make(.resize(resize), on: other)
            bytes += Self.step(.resize(resize), from: other, to: scaled)
            return scaled
        }
        let plan = ResizePlan(resize, width: other.width, height: other.height)
        let most = other.with(width: plan.scaled.width, height: plan.scaled.height)
        // The floats of one stage, or the rows of the other. The kernel covers six rows, or six for each row of the
        // result if the image is reduced; then its rows are shorter in the same proportion.
        let rows = min(other.bytes, OpaqueResampleStage.windowBytes)
        let floats = 8 * max(most.width, other.width) * other.channels * MemoryLayout<Float>.stride
        try hold(max(rows, floats), for: "overlay")
        bytes += Self.step(.resize(resize), from: other, to: most)
        return most
    }

    /// The memory of a filter's step that it does not count.
    private static func step(
        _ filter: Filter, from input: PixelLayout, to output: PixelLayout
    ) -> Int {
        let samples = { (layout: PixelLayout) in layout.width * layout.channels }
        // Bands of input and output, for two steps if one is not enough.
        let bands = 2 * max(128 << 10, input.bytesPerRow) + 2 * max(128 << 10, output.bytesPerRow)
        // A few rows of floats, and the margins of blurred rows.
        let rows = 16 * (samples(input) + samples(output)) + 64 << 10
        switch filter {
        case .rotate:
            return bands + rows + min(32 * output.bytesPerRow, 8 << 20)
        case .resize(let resize):
            // The weights of each pixel while they are calculated: three lobes on both sides, or as many as the
            // reduction needs.
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
        _ options: OutputOptions, handsOver: Bool, profile: Int
    ) throws(PictureError) {
        func picture(_ options: OutputOptions) -> PictureEncoder.Expected {
            PictureEncoder.Expected(
                layout: layout, mostPixels: mostPixels, name: outputName, options: options,
                cores: cores)
        }
        if let refusal = options.refusal { throw refusal }
        bytes += 3 * profile
        if !options.metadata.items.isEmpty { bytes += ResultMetadata.mostMemory }
        if handsOver { bytes += 3 * profile + picture(HandOverFile.options).strips }
        let needs = try options.format.encoder.needs(picture(options))
        try hold(needs.heldBytes, for: needs.purpose)
        let file = needs.holdsFile ? min(needs.heldBytes, limits.wholePictureBytes) : 0
        bytes += needs.bytes + file
    }
}

/// A source that is never read.
final class BlankStage: Stage {
    let layout: PixelLayout

    init(_ layout: PixelLayout) { self.layout = layout }

    func nextBand() throws(PictureError) -> Band? {
        preconditionFailure("a stage without pixels was read")
    }
}
