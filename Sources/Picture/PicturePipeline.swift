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

    /// Receives the maximum number of bytes of memory that a picture will need; false if it may not have them now.
    package typealias Admission = (_ bytes: Int) -> Bool

    /// What has become of a picture that asked for memory.
    package enum Attempt<Made> {
        case made(Made)
        /// This memory was not admitted. The files have no result.
        case needs(bytes: Int)

        package func map<Other>(_ transform: (Made) -> Other) -> Attempt<Other> {
            switch self {
            case .made(let made): .made(transform(made))
            case .needs(let bytes): .needs(bytes: bytes)
            }
        }
    }

    /// Reads the picture `input` and writes its result.
    ///
    /// - Parameter input: the picture. A file must be a regular one.
    package static func run(
        _ job: PictureConversion, _ input: PictureInput
    ) throws(PictureError) -> PictureReport {
        try withCore(job) { () throws(PictureError) in
            let begin = input.offset
            let reader = try job.steps.open(input, name: job.name)
            return try develop(job, reader, of: input, from: begin)
        }
    }

    /// The same for a picture that must be admitted.
    ///
    /// - Parameter admit: called after the header has been read, before anything else is read.
    package static func run(
        _ job: PictureConversion, _ input: PictureInput, admit: Admission
    ) throws(PictureError) -> Attempt<PictureReport> {
        try withCore(job) { () throws(PictureError) in try attempt(job, input, admit: admit) }
    }

    /// The same for a picture that has a core.
    static func attempt(
        _ job: PictureConversion, _ input: PictureInput, admit: Admission
    ) throws(PictureError) -> Attempt<PictureReport> {
        try named(job) { () throws(PictureError) in
            // Read.
            let begin = input.offset
            let reader = try job.steps.open(input, name: job.name)

            // Ask for memory.
            if let peak = try job.steps.peak(of: PeakMemory.Source(reader), job.result),
                !admit(peak)
            {
                return .needs(bytes: peak)
            }
            return .made(try develop(job, reader, of: input, from: begin))
        }
    }

    /// The same for a picture whose reader `open` makes.
    static func run(
        _ job: PictureConversion, open: () throws(PictureError) -> any PictureReader
    ) throws(PictureError) -> PictureReport {
        try withCore(job) { () throws(PictureError) in try develop(job, try open()) }
    }

    private static func withCore<Value>(
        _ job: PictureConversion, _ body: () throws(PictureError) -> Value
    ) throws(PictureError) -> Value {
        job.steps.cores.enter()
        defer { job.steps.cores.leave() }
        return try named(job, body)
    }

    private static func named<Value>(
        _ job: PictureConversion, _ body: () throws(PictureError) -> Value
    ) throws(PictureError) -> Value {
        do throws(PictureError) {
            return try body()
        } catch {
            throw job.named(error)
        }
    }

    private static func develop(
        _ job: PictureConversion, _ reader: any PictureReader, of input: PictureInput,
        from begin: Int
    ) throws(PictureError) -> PictureReport {
        try develop(job, reader) { () throws(PictureError) in
            try input.rewind(to: begin)
            return try job.steps.open(input, name: job.name)
        }
    }

    /// - Parameter reopen: makes another reader of the same picture; nil for one that has no palette.
    private static func develop(
        _ job: PictureConversion, _ reader: any PictureReader,
        reopen: (() throws(PictureError) -> any PictureReader)? = nil
    ) throws(PictureError) -> PictureReport {
        let (steps, result) = (job.steps, job.result)

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
        return job.report(written, of: reader, [context])
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
