import DarkroomCore
import SystemPackage

/// A picture's way: read, filtered step by step, written.
///
/// This file is the one list of the steps in their order. Rows are pulled from the end, see
/// `Stage`; whether the image is cancelled is asked before each band that is read, that a filter is asked for
/// or that is written.
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
        stage: StageMaker = FilterStage.make,
        admit: Admission? = nil,
        checkpoint: @escaping @Sendable () -> Bool = { true }
    ) throws(PictureError) -> PictureReport {
        cores.enter()
        defer { cores.leave() }
        do throws(PictureError) {
            // Read.
            let reader = try PictureFile.open(
                input, name: inputName, limits: limits,
                divisor: { width, height, orientation in
                    ReducedDecoding.divisor(
                        width: width, height: height,
                        orientation: autoOrient ? orientation : .topLeft, filters: filters)
                }, checkpoint: checkpoint)

            // Wait for memory.
            if let admit {
                let header = PeakMemory.Source(reader)
                var trouble: PictureError?
                // What it objects to, the steps below object to with more words.
                let peak = try? PeakMemory.bound(
                    of: header, autoOrient: autoOrient, filters: filters, options: options,
                    handsOver: handOver != nil, limits: limits, cores: cores
                ) { name in
                    do throws(PictureError) {
                        return try Self.header(of: name, limits: limits, openImage)
                    } catch {
                        if error.fault != nil { trouble = error }
                        return nil
                    }
                }
                if let trouble { throw trouble }
                if let peak { try admit(peak) }
            }

            // Turn upright, and filter.
            let filters = (autoOrient ? reader.orientation.filters : []) + filters
            let memory = PictureMemory(limit: limits.wholePictureBytes)
            try memory.take(
                reader.heldBytes, for: "reading an interlaced or progressive picture")
            let context = StageContext(
                limits: limits, memory: memory, openImage: openImage, checkpoint: checkpoint)
            let ahead = ReadAhead(reader, cores)
            defer { ahead?.close() }
            let source: any Stage = ahead ?? reader
            var last = source
            var effective: [Filter] = []
            for filter in filters {
                if !filter.keepsScale(of: last.layout) { effective.append(filter) }
                last = Interruptible(try stage(filter, last, context), checkpoint)
            }
            ahead?.begin()

            // Write.
            let colour = reader.colour.carried(through: effective, to: last.layout)
            let exif =
                options.keepsExif ? Exif.carried(reader.exif, isUpright: autoOrient) : nil
            let copied = try handOver.map { handOver throws(PictureError) in
                try HandOverStage(
                    last, to: handOver, colour: colour, exif: exif, cores: cores, ahead: ahead)
            }
            defer { copied?.close() }
            let written = try PictureEncoder.encoder(of: options.format).write(
                PictureEncoder.Output(
                    stage: copied ?? last, file: output, name: outputName, colour: colour,
                    exif: exif, options: options, memory: memory, cores: cores, ahead: ahead,
                    checkpoint: checkpoint))

            // A filter that needed only a part of the picture has left the rest unread.
            while try source.nextBand() != nil {}

            var metadata = MetadataLedger.entries(
                of: reader.metadata, to: options.format, original: reader.colour, sent: colour,
                written: written.items,
                exif: exif == nil ? "dropped" : exif == reader.exif ? "kept" : "converted")
            if reader.orientation != .topLeft {
                metadata["orientation"] =
                    autoOrient ? "converted" : exif == nil ? "dropped" : "kept"
            }
            if last.layout.hasAlpha, !options.format.hasAlpha { metadata["alpha"] = "converted" }
            if last.layout.depth > options.format.mostDepth { metadata["depth"] = "converted" }
            return PictureReport(
                format: options.format, layout: last.layout, bytes: written.bytes,
                sha256: written.sha256, warnings: reader.warnings + context.remarks.all,
                metadata: metadata)
        } catch {
            throw error.naming(inputName, or: [outputName, handOver?.name].compactMap { $0 })
        }
    }

    /// The header of an image to be laid over the picture. Where it cannot be read for what it is, that is told
    /// of where its pixels are.
    private static func header(
        of name: String, limits: PictureLimits, _ openImage: StageContext.ImageOpener
    ) throws(PictureError) -> PeakMemory.Source {
        let image = try openImage(name)
        return PeakMemory.Source(
            try PictureFile.open(
                image.descriptor.file, name: image.name, limits: limits, checkpoint: { true }))
    }
}

extension PictureError {
    /// The same with the picture's name in front, unless the message names one of these already. A
    /// filter knows no names.
    fileprivate func naming(_ input: String, or outputs: [String]) -> PictureError {
        let text = ByteString(message)
        if ([input] + outputs).contains(where: { text.hasPrefix("\($0): ") }) { return self }
        var named = self
        named.message = "\(input): \(message)"
        return named
    }
}
