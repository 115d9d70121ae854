import DarkroomCore
import SystemPackage

/// What is done with a picture between its file and that of its result, and the limits of this.
package struct PictureSteps {
    /// In the order in which they are applied.
    package var filters: [Filter] = []
    /// Whether the picture is first turned upright, as recorded in its Exif.
    package var autoOrient = true
    /// The page of a source with several pages, from 1; nil for the first one.
    package var page: Int?
    /// How the result is written.
    package var options = OutputOptions()
    package var limits = PictureLimits()
    /// One of them is the thread's; idle ones help.
    package var cores = Cores.shared
    /// Opens the pixels of another image, for `overlay`.
    package var openImage: StageContext.ImageOpener = StageContext.noImage
    var stage: PicturePipeline.StageMaker = FilterStage.make
    /// Receives a small copy of the source, upright.
    package var sourcePreview: PicturePreview?
    /// Returns false to stop with `PictureError.Code.cancelled`. Several threads may call it at once.
    package var checkpoint: @Sendable () -> Bool = { true }

    /// The rows of a picture after its last filter.
    struct Filtered {
        var stage: any Stage
        /// All filters except resizes that do not change the picture's scale.
        var effective: [Filter]
        /// If the rows are indices: their colours.
        var palette: FilteredPalette?
        /// What looks at the rows of the source for its small copy. The filters may not pull all of them.
        var previewedRows: (any Stage)?

        /// Pulls the rows that the filters did not need.
        func drain() throws(PictureError) {
            while try previewedRows?.nextBand() != nil {}
        }

        /// The layout of the pixels.
        var layout: PixelLayout { palette?.layout ?? stage.layout }
    }

    /// Reads a picture's header. Its values become those of the result's colour space.
    func open(_ input: PictureInput, name: String) throws(PictureError) -> any PictureReader {
        let input = decoderInput(input, name: name)
        return try ConvertedReader.around(
            try PictureDecoder.reader(of: input), options.profile, input)
    }

    func decoderInput(_ input: PictureInput, name: String) -> PictureDecoder.Input {
        PictureDecoder.Input(
            input, name: name, limits: limits, page: page, divisor: divisor,
            profile: options.profile, checkpoint: checkpoint)
    }

    /// The maximum number of bytes of memory; nil if a step will fail. The step then reports the error with more
    /// details.
    func peak(of source: PeakMemory.Source, _ result: PictureResult) throws(PictureError) -> Int? {
        var trouble: PictureError?
        let outcome = try? PeakMemory.outcome(of: source, self, handsOver: result.handOver != nil) {
            name in
            do throws(PictureError) {
                return try header(of: name)
            } catch {
                if error.storageFailure != nil { trouble = error }
                return nil
            }
        }
        if let trouble { throw trouble }
        return outcome?.bytes
    }

    /// The header of an overlay. If it cannot be read because of its content, the step that reads its pixels reports
    /// this.
    private func header(of name: String) throws(PictureError) -> PeakMemory.Source {
        let image = try openImage(name)
        return PeakMemory.Source(
            try PictureDecoder.reader(
                of: PictureDecoder.Input(
                    .file(image.descriptor.file), name: image.name, limits: limits)))
    }

    /// The data that the filters share, which counts the reader's memory.
    func context(for reader: any PictureReader) throws(PictureError) -> StageContext {
        let memory = PictureMemory(limit: limits.wholePictureBytes)
        try memory.take(reader.heldBytes, for: "reading an interlaced or progressive picture")
        let context = StageContext(
            limits: limits, memory: memory, openImage: openImage, checkpoint: checkpoint)
        context.stated = StatedColour(reader)
        return context
    }

    /// The filters on top of `source`, which lends the rows of `reader`.
    func filtered(
        _ source: any Stage, of reader: any PictureReader, _ context: StageContext
    ) throws(PictureError) -> Filtered {
        try chain(
            autoOrient ? reader.orientation.filters : [],
            then: reduction(of: reader, divisor: reader.divisor).passed(to: filters), on: source,
            of: reader, context)
    }

    /// The filters that turn the picture of `reader` upright on top of a stage, then others.
    func chain(
        _ turns: [Filter], then filters: [Filter], on source: any Stage,
        of reader: any PictureReader, _ context: StageContext
    ) throws(PictureError) -> Filtered {
        guard let sourcePreview else { return try chain(turns + filters, on: source, context) }
        let upright = try chain(turns, on: source, context)
        let previewedRows = try sourcePreview.stage(on: upright.stage)
        sourcePreview.colour = reader.colour
        let size = reader.storedSize
        let isTransposed = autoOrient && reader.orientation.isTransposed
        sourcePreview.storedSize = isTransposed ? (size.height, size.width) : size
        var filtered = try chain(filters, on: previewedRows, context)
        filtered.effective = upright.effective + filtered.effective
        filtered.previewedRows = previewedRows
        return filtered
    }

    /// Filters on top of a stage.
    func chain(
        _ filters: [Filter], on source: any Stage, _ context: StageContext
    ) throws(PictureError) -> Filtered {
        var last = source
        var effective: [Filter] = []
        for filter in filters {
            if !filter.keepsScale(of: last.layout) { effective.append(filter) }
            last = Interruptible(try stage(filter, last, context), checkpoint)
        }
        return Filtered(stage: last, effective: effective)
    }
}

extension PictureSteps {
    package init(
        _ filters: [Filter], autoOrient: Bool = true, _ options: OutputOptions = OutputOptions(),
        _ limits: PictureLimits = PictureLimits()
    ) {
        self.init(filters: filters, autoOrient: autoOrient, options: options, limits: limits)
    }

    /// The steps for callers from other packages. Overlays are named by their paths.
    ///
    /// - Throws: `invalidArguments` if a value is outside its range.
    init(
        _ filters: [PictureFilter], _ output: PictureOutput = .png(), autoOrient: Bool,
        _ limits: PictureLimits, _ isCancelled: @escaping @Sendable () -> Bool
    ) throws(PictureError) {
        try limits.checkThemselves()
        self.init(
            filters: try filters.map { filter throws(PictureError) in try filter.checked() },
            autoOrient: autoOrient, options: try output.checked(), limits: limits,
            openImage: { path throws(PictureError) in
                OtherImage(try PicturePath.openForReading(path), name: path)
            },
            checkpoint: { !isCancelled() })
    }
}
