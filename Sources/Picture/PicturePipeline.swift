import DarkroomCore
package import SystemPackage

/// A picture's way: read, filtered step by step, written.
///
/// This file is the one list of the steps in their order; `PictureSteps` and `PictureResult` do each of them. Rows are
/// pulled from the end, see `Stage`; whether the image is cancelled is asked before each band that is read, that a
/// filter is asked for or that is written.
package struct PicturePipeline {
    /// Makes a filter's stage on top of the one before it.
    package typealias StageMaker = (Filter, any Stage, StageContext) throws(PictureError) ->
        any Stage

    /// Told how many bytes of memory a picture will take at most; throws to stop.
    package typealias Admission = (_ bytes: Int) throws(PictureError) -> Void

    /// Reads the picture in `input`, applies `filters` in order, writes the result to `output`.
    ///
    /// - Parameters:
    ///   - input: A regular file at the picture's beginning.
    ///   - inputName: What messages call the source; its query and credentials already left out.
    ///   - autoOrient: Whether to turn the picture upright first, as its camera has noted.
    ///   - output: Written from the current offset on; neither synchronised nor closed. What has been
    ///     written when an error is thrown is no picture.
    ///   - handOver: Where the filtered pixels are written besides, for other images.
    ///   - cores: One of them is this thread's; those that are idle help to compress.
    ///   - openImage: Opens the pixels of another image, for `overlay`.
    ///   - admit: Called when the header has been read and nothing else.
    ///   - checkpoint: False to stop with `PictureError.Code.cancelled`. May be asked by two threads at
    ///     once.
    package static func run(
        input: FileDescriptor, inputName: String, autoOrient: Bool = true, filters: [Filter],
        output: FileDescriptor, outputName: String, options: OutputOptions = OutputOptions(),
        handOver: HandOver? = nil, limits: PictureLimits = PictureLimits(), cores: Cores = .shared,
        openImage: @escaping StageContext.ImageOpener = StageContext.noImage,
        stage: @escaping StageMaker = FilterStage.make,
        admit: Admission? = nil,
        checkpoint: @escaping @Sendable () -> Bool = { true }
    ) throws(PictureError) -> PictureReport {
        let steps = PictureSteps(
            autoOrient: autoOrient, filters: filters, limits: limits, cores: cores,
            openImage: openImage, stage: stage, checkpoint: checkpoint)
        let result = PictureResult(
            file: output, name: outputName, options: options, handOver: handOver)
        return try run(inputName, steps, result, admit: admit) { () throws(PictureError) in
            try steps.open(input, name: inputName)
        }
    }

    /// The same of a picture whose reader `open` makes, and that messages call `name`.
    static func run(
        _ name: String, _ steps: PictureSteps, _ result: PictureResult, admit: Admission? = nil,
        open: () throws(PictureError) -> any PictureReader
    ) throws(PictureError) -> PictureReport {
        steps.cores.enter()
        defer { steps.cores.leave() }
        do throws(PictureError) {
            // Read.
            let reader = try open()

            // Wait for memory.
            if let admit, let peak = try steps.peak(of: reader, result) { try admit(peak) }

            // Turn upright, and filter.
            let context = try steps.context(for: reader)
            let ahead = reader.canBeReadAhead ? ReadAhead(reader, steps.cores) : nil
            defer { ahead?.close() }
            let source: any Stage = ahead ?? reader
            let filtered = try steps.filtered(source, of: reader, context)
            ahead?.begin()

            // Write.
            let written = try result.write(filtered, of: reader, steps, context, ahead)

            // A filter that needed only a part of the picture has left the rest unread.
            while try source.nextBand() != nil {}
            return result.report(
                written, filtered, of: reader, wasTurned: steps.autoOrient,
                remarks: context.remarks.all)
        } catch {
            throw error.naming(name, or: [result.name, result.handOver?.name].compactMap { $0 })
        }
    }
}

extension PictureError {
    /// The same with the picture's name in front, unless the message names one of these already. A
    /// filter knows no names.
    func naming(_ input: String, or outputs: [String]) -> PictureError {
        let text = ByteString(message)
        if ([input] + outputs).contains(where: { text.hasPrefix("\($0): ") }) { return self }
        var named = self
        named.message = "\(input): \(message)"
        return named
    }
}
