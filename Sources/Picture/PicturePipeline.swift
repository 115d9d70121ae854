import DarkroomCore

/// The pipeline of a picture: it is read, filtered step by step, and written.
///
/// This file is the only list of the steps in their order. `PictureSteps` and `PictureConversion` implement them. The end
/// pulls the rows, see `Stage`. A cancellation is checked before each band that is read, requested from a filter, or
/// written.
package struct PicturePipeline {
    /// Creates a filter's stage on top of the previous one.
    package typealias StageMaker = (Filter, any Stage, StageContext) throws(PictureError) ->
        any Stage

    /// Receives the maximum number of bytes of memory that a picture will need; throws to stop.
    package typealias Admission = (_ bytes: Int) throws(PictureError) -> Void

    /// Reads the picture `input` and writes its result.
    ///
    /// - Parameters:
    ///   - input: the picture. A file must be a regular one.
    ///   - admit: called after the header has been read, before anything else is read.
    package static func run(
        _ job: PictureConversion, _ input: PictureInput, admit: Admission? = nil
    ) throws(PictureError) -> PictureReport {
        job.steps.cores.enter()
        defer { job.steps.cores.leave() }
        return try develop(job, input, admit: admit)
    }

    /// The same for a picture that has a core.
    static func develop(
        _ job: PictureConversion, _ input: PictureInput, admit: Admission? = nil
    ) throws(PictureError) -> PictureReport {
        let begin = input.offset
        return try develop(
            job, admit: admit,
            reopen: { () throws(PictureError) in
                try input.rewind(to: begin)
                return try job.steps.open(input, name: job.name)
            }
        ) { () throws(PictureError) in try job.steps.open(input, name: job.name) }
    }

    /// The same for a picture whose reader `open` makes.
    static func run(
        _ job: PictureConversion, open: () throws(PictureError) -> any PictureReader
    ) throws(PictureError) -> PictureReport {
        job.steps.cores.enter()
        defer { job.steps.cores.leave() }
        return try develop(job, open: open)
    }

    /// - Parameter reopen: makes another reader of the same picture; nil for one that has no palette.
    private static func develop(
        _ job: PictureConversion, admit: Admission? = nil,
        reopen: (() throws(PictureError) -> any PictureReader)? = nil,
        open: () throws(PictureError) -> any PictureReader
    ) throws(PictureError) -> PictureReport {
        do throws(PictureError) {
            // Read.
            let (steps, result) = (job.steps, job.result)
            let reader = try open()

            // Wait for memory.
            if let admit, let peak = try steps.peak(of: PeakMemory.Source(reader), result) {
                try admit(peak)
            }

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
            var written = try job.write(filtered, of: reader, context, ahead)

            // A filter that needed only a part of the picture has not read the rest.
            try filtered.drain()
            while try source.nextBand() != nil {}
            if let reopen { written = try job.withoutSurplus(written, reopen: reopen) }
            return job.report(written, of: reader, remarks: context.remarks.all)
        } catch {
            throw job.named(error)
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
