import DarkroomCore

/// Filters pictures: from files of the formats that are read, or pixels, to PNG and JPEG files.
///
/// ```swift
/// let converter = PictureConverter(
///     filters: [.sepia(intensity: 0.8), .resize(width: 800)], output: .jpeg(quality: 88))
/// let report = try converter.convert("beach.png", to: "beach.jpg")
/// print(report.width, report.height, report.bytes)
/// ```
///
/// A picture is processed in bands of rows, so the memory does not grow with it, except for the files and filters named
/// in ``PictureLimits/wholePictureBytes``. Each call blocks its thread until the file is written. Idle cores help. Any
/// number of threads may call at the same time.
public struct PictureConverter: Sendable {
    /// In the order in which they are applied.
    public var filters: [PictureFilter]
    /// The format of results.
    public var output: PictureOutput
    /// Whether a picture is first turned upright, as recorded in its Exif.
    public var autoOrient: Bool
    /// The limits of pictures.
    public var limits: PictureLimits

    /// A converter. The parameters are its properties.
    public init(
        filters: [PictureFilter] = [], output: PictureOutput = .png(), autoOrient: Bool = true,
        limits: PictureLimits = PictureLimits()
    ) {
        self.filters = filters
        self.output = output
        self.autoOrient = autoOrient
        self.limits = limits
    }

    /// Reads a file, filters it and writes a file.
    ///
    /// The result is written under another name in its folder and renamed when it is complete: an existing file of that
    /// name is replaced on success, and not changed on failure. Nothing is synced. Source and result may be the same
    /// file. A process that is killed leaves nothing, except on a file system without `O_TMPFILE`, such as NFS: there a
    /// file `.darkroom-….part` remains.
    ///
    /// - Parameters:
    ///   - source: the path of a picture file, recognised by its first bytes.
    ///   - result: the path of the file to write, whatever its extension. Its folder must exist.
    ///   - isCancelled: called before each band, perhaps by two threads at once; true ends the call with
    ///     ``PictureError/Code/cancelled``. The default is the cancellation of the calling task.
    /// - Returns: What was written.
    /// - Throws: What is wrong with the file, a filter or the file system. Damage anywhere in a picture is an error,
    ///   and then there is no result.
    @discardableResult
    public func convert(
        _ source: String, to result: String,
        isCancelled: @escaping @Sendable () -> Bool = { Task.isCancelled }
    ) throws(PictureError) -> PictureReport {
        let steps = try PictureSteps(filters, output, autoOrient: autoOrient, limits, isCancelled)
        let input = try PicturePath.openForReading(source)
        let file = try ReplacedFile(path: result)
        let report = try PicturePipeline.run(
            PictureConversion(source, steps, to: PictureResult(file.file, name: result)),
            .file(input.file))
        try file.publish()
        return report
    }

    /// Filters pixels of the caller, and writes a file as ``convert(_:to:isCancelled:)`` does.
    ///
    /// - Parameters:
    ///   - layout: the layout of the pixels. Their values are treated as sRGB.
    ///   - result: the path of the file to write, whatever its extension. Its folder must exist.
    ///   - isCancelled: as for ``convert(_:to:isCancelled:)``.
    ///   - fill: writes the samples of some rows, one row after the other as `layout` says. They are zero before. It is
    ///     called on this thread, for all rows in their order from the top. Samples of 16 bits are `UInt16`, stored
    ///     through `samples.mutableBytes`.
    /// - Returns: What was written.
    /// - Throws: What is wrong with a filter or the file system, and the errors of `fill`.
    @discardableResult
    public func write(
        _ layout: PixelLayout, to result: String,
        isCancelled: @escaping @Sendable () -> Bool = { Task.isCancelled },
        fill: (_ samples: inout MutableSpan<UInt8>, _ rows: Range<Int>) throws(PictureError) -> Void
    ) throws(PictureError) -> PictureReport {
        let steps = try PictureSteps(filters, output, autoOrient: false, limits, isCancelled)
        let file = try ReplacedFile(path: result)
        let job = PictureConversion(result, steps, to: PictureResult(file.file, name: result))
        let report = try CallerRows.lend(
            layout, name: result, limits: limits, checkpoint: steps.checkpoint, fill: fill
        ) { rows throws(PictureError) in try PicturePipeline.run(job) { rows } }
        try file.publish()
        return report
    }
}
