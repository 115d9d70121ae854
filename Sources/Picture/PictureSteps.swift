import DarkroomCore
import SystemPackage

/// What is done with a picture between its file and its writer, and what that may take.
struct PictureSteps {
    var autoOrient = true
    let filters: [Filter]
    let limits: PictureLimits
    var cores = Cores.shared
    var openImage: StageContext.ImageOpener = StageContext.noImage
    var stage: PicturePipeline.StageMaker = FilterStage.make
    let checkpoint: @Sendable () -> Bool

    /// A picture's rows behind its last filter.
    struct Filtered {
        let stage: any Stage
        /// All but resizes that leave the picture's scale as it is.
        let effective: [Filter]
    }

    /// Reads a picture's header.
    func open(_ input: FileDescriptor, name: String) throws(PictureError) -> any PictureReader {
        try PictureFile.open(
            input, name: name, limits: limits,
            divisor: { width, height, orientation in
                ReducedDecoding.divisor(
                    width: width, height: height,
                    orientation: autoOrient ? orientation : .topLeft, filters: filters)
            }, checkpoint: checkpoint)
    }

    /// How many bytes of memory it will take at most. nil where the steps object to something: they do so with
    /// more words.
    func peak(
        of reader: any PictureReader, _ result: PictureResult
    ) throws(PictureError) -> Int? {
        var trouble: PictureError?
        let peak = try? PeakMemory.bound(
            of: PeakMemory.Source(reader), autoOrient: autoOrient, filters: filters,
            options: result.options, handsOver: result.handOver != nil, limits: limits,
            cores: cores
        ) { name in
            do throws(PictureError) {
                return try header(of: name)
            } catch {
                if error.fault != nil { trouble = error }
                return nil
            }
        }
        if let trouble { throw trouble }
        return peak
    }

    /// The header of an image to be laid over the picture. Where it cannot be read for what it is, that is told
    /// of where its pixels are.
    private func header(of name: String) throws(PictureError) -> PeakMemory.Source {
        let image = try openImage(name)
        return PeakMemory.Source(
            try PictureFile.open(
                image.descriptor.file, name: image.name, limits: limits, checkpoint: { true }))
    }

    /// What the filters share, with the memory that the reader holds counted.
    func context(for reader: any PictureReader) throws(PictureError) -> StageContext {
        let memory = PictureMemory(limit: limits.wholePictureBytes)
        try memory.take(reader.heldBytes, for: "reading an interlaced or progressive picture")
        return StageContext(
            limits: limits, memory: memory, openImage: openImage, checkpoint: checkpoint)
    }

    /// The filters on top of `source`, which lends what `reader` reads.
    func filtered(
        _ source: any Stage, of reader: any PictureReader, _ context: StageContext
    ) throws(PictureError) -> Filtered {
        var last = source
        var effective: [Filter] = []
        for filter in (autoOrient ? reader.orientation.filters : []) + filters {
            if !filter.keepsScale(of: last.layout) { effective.append(filter) }
            last = Interruptible(try stage(filter, last, context), checkpoint)
        }
        return Filtered(stage: last, effective: effective)
    }
}

extension PictureSteps {
    /// What callers of other packages ask for. Pictures to be laid over are named by their paths.
    ///
    /// - Throws: `invalidArguments` where something is out of its range.
    init(
        _ filters: [PictureFilter], _ autoOrient: Bool, _ limits: PictureLimits,
        _ isCancelled: @escaping @Sendable () -> Bool
    ) throws(PictureError) {
        try limits.checkThemselves()
        self.init(
            autoOrient: autoOrient,
            filters: try filters.map { filter throws(PictureError) in try filter.checked() },
            limits: limits,
            openImage: { path throws(PictureError) in
                OtherImage(try PicturePath.openForReading(path), name: path)
            },
            checkpoint: { !isCancelled() })
    }
}
