import DarkroomCore
package import SystemPackage

/// The pipeline of a picture: it is read, filtered step by step, and written.
///
/// This file is the only list of the steps in their order. `PictureSteps` and `PictureResult` implement them. The end
/// pulls the rows, see `Stage`. A cancellation is checked before each band that is read, requested from a filter, or
/// written.
package struct PicturePipeline {
    /// Creates a filter's stage on top of the previous one.
    package typealias StageMaker = (Filter, any Stage, StageContext) throws(PictureError) ->
        any Stage

    /// Receives the maximum number of bytes of memory that a picture will need; throws to stop.
    package typealias Admission = (_ bytes: Int) throws(PictureError) -> Void

    /// Reads the picture `input`, applies `filters` in order, writes the result to `output`.
    ///
    /// - Parameters:
    ///   - input: the picture. A file must be a regular one.
    ///   - inputName: the name of the source in messages, without its query and credentials.
    ///   - autoOrient: whether the picture is first turned upright, as recorded in its Exif.
    ///   - output: written from the current offset on. It is neither synced nor closed. After an error, its content is
    ///     not a picture.
    ///   - handOver: the file for the filtered pixels, for other images.
    ///   - sourcePreview: receives a small copy of the source, upright.
    ///   - preview: receives a small copy of the result.
    ///   - cores: one of them is this thread's; idle ones help to compress.
    ///   - openImage: opens the pixels of another image, for `overlay`.
    ///   - admit: called after the header has been read, before anything else is read.
    ///   - checkpoint: returns false to stop with `PictureError.Code.cancelled`. Two threads may call it at once.
    package static func run(
        input: PictureInput, inputName: String, autoOrient: Bool = true, filters: [Filter],
        output: FileDescriptor, outputName: String, options: OutputOptions = OutputOptions(),
        handOver: HandOverFile? = nil, sourcePreview: PicturePreview? = nil,
        preview: PicturePreview? = nil,
        limits: PictureLimits = PictureLimits(), cores: Cores = .shared,
        openImage: @escaping StageContext.ImageOpener = StageContext.noImage,
        stage: @escaping StageMaker = FilterStage.make,
        admit: Admission? = nil,
        checkpoint: @escaping @Sendable () -> Bool = { true }
    ) throws(PictureError) -> PictureReport {
        let steps = PictureSteps(
            autoOrient: autoOrient, filters: filters, limits: limits, cores: cores,
            openImage: openImage, stage: stage, sourcePreview: sourcePreview,
            checkpoint: checkpoint)
        let result = PictureResult(
            file: output, name: outputName, options: options, handOver: handOver,
            preview: preview)
        return try run(inputName, steps, result, admit: admit, input)
    }

    /// The same for a picture that has a name in messages.
    static func run(
        _ name: String, _ steps: PictureSteps, _ result: PictureResult, admit: Admission? = nil,
        _ input: PictureInput
    ) throws(PictureError) -> PictureReport {
        steps.cores.enter()
        defer { steps.cores.leave() }
        return try develop(name, steps, result, admit: admit, input)
    }

    /// The same for a picture that has a core.
    static func develop(
        _ name: String, _ steps: PictureSteps, _ result: PictureResult, admit: Admission? = nil,
        _ input: PictureInput
    ) throws(PictureError) -> PictureReport {
        let begin = input.offset
        return try develop(
            name, steps, result, admit: admit,
            reopen: { () throws(PictureError) in
                try input.rewind(to: begin)
                return try steps.open(input, name: name)
            }
        ) { () throws(PictureError) in try steps.open(input, name: name) }
    }

    /// The same for a picture whose reader `open` makes. `name` is its name in messages.
    static func run(
        _ name: String, _ steps: PictureSteps, _ result: PictureResult, admit: Admission? = nil,
        open: () throws(PictureError) -> any PictureReader
    ) throws(PictureError) -> PictureReport {
        steps.cores.enter()
        defer { steps.cores.leave() }
        return try develop(name, steps, result, admit: admit, open: open)
    }

    /// - Parameter reopen: makes another reader of the same picture; nil for one that has no palette.
    private static func develop(
        _ name: String, _ steps: PictureSteps, _ result: PictureResult, admit: Admission? = nil,
        reopen: (() throws(PictureError) -> any PictureReader)? = nil,
        open: () throws(PictureError) -> any PictureReader
    ) throws(PictureError) -> PictureReport {
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
            let filtered: PictureSteps.Filtered
            if let indices = try steps.filteredPalette(source, of: reader, result, context) {
                filtered = indices
            } else {
                filtered = try steps.filtered(source, of: reader, context)
            }
            ahead?.begin()

            // Write.
            var written = try result.write(filtered, of: reader, steps, context, ahead)

            // A filter that needed only a part of the picture has not read the rest.
            try filtered.drain()
            while try source.nextBand() != nil {}
            if let reopen {
                written = try result.withoutSurplus(
                    written, filtered, steps, context, reopen: reopen)
            }
            return result.report(
                written, filtered, of: reader, wasTurned: steps.autoOrient,
                remarks: context.remarks.all)
        } catch {
            throw error.naming(name, or: [result.name, result.handOver?.name].compactMap { $0 })
        }
    }
}

extension PictureError {
    /// The same error with the picture's name at the beginning, unless the message already contains one of these names.
    /// Filters do not know names.
    package func naming(_ input: String, or outputs: [String]) -> PictureError {
        let text = ByteString(message)
        if ([input] + outputs).contains(where: { text.hasPrefix("\($0): ") }) { return self }
        var named = self
        named.message = "\(input): \(message)"
        return named
    }
}
