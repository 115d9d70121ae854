import SystemPackage

/// A picture's way: read, filtered step by step, written.
///
/// This file is the one list of the steps in their order. Rows are pulled from the end, see
/// `Stage`; whether the image is cancelled is asked before each band that is read and each that is
/// written.
package struct PicturePipeline {
    /// Makes a filter's stage on top of the one before it.
    package typealias StageMaker = (Filter, any Stage, StageContext) throws(PictureError) ->
        any Stage

    /// Reads the PNG in `input`, applies `filters` in order, writes a PNG to `output`.
    ///
    /// - Parameters:
    ///   - inputName: What messages call the source; its query and credentials already left out.
    ///   - output: Written from the current offset on; neither synchronised nor closed. What has been
    ///     written when an error is thrown is no picture.
    ///   - cores: One of them is this thread's; those that are idle help to compress.
    ///   - openImage: Opens the output of another image, for `overlay`.
    ///   - checkpoint: False to stop with `PictureError.Code.cancelled`.
    package static func run(
        input: FileDescriptor, inputName: String, filters: [Filter], output: FileDescriptor,
        outputName: String, limits: PictureLimits = PictureLimits(),
        compression: PNGWriter.Compression = .balanced, cores: Cores = .shared,
        openImage: @escaping StageContext.ImageOpener = StageContext.noImage,
        stage: StageMaker = FilterStage.make,
        checkpoint: () -> Bool = { true }
    ) throws(PictureError) -> PictureReport {
        cores.enter()
        defer { cores.leave() }
        do throws(PictureError) {
            return try withoutActuallyEscaping(checkpoint) { checkpoint throws(PictureError) in
                // Read.
                let reader = try PNGReader(
                    file: input, name: inputName, limits: limits, checkpoint: checkpoint)

                // Filter.
                let memory = PictureMemory(limit: limits.wholePictureBytes)
                try memory.take(reader.heldBytes, for: "reading an interlaced picture")
                let context = StageContext(
                    limits: limits, memory: memory, openImage: openImage, checkpoint: checkpoint)
                var last: any Stage = reader
                for filter in filters { last = try stage(filter, last, context) }

                // Write.
                let colour = reader.colour.carried(through: filters, to: last.layout)
                let written = try PNGWriter.write(
                    last, to: output, name: outputName, colour: colour, compression: compression,
                    cores: cores, checkpoint: checkpoint)

                // A filter that needed only a part of the picture has left the rest unread.
                try reader.drain()

                return PictureReport(
                    layout: last.layout, output: written, warnings: reader.warnings,
                    metadata: MetadataLedger.entries(
                        reader, sent: colour, written: written.chunks))
            }
        } catch {
            throw error.naming(inputName, or: outputName)
        }
    }
}

extension PictureError {
    /// The same with the picture's name in front, unless the message names one of these already. A
    /// filter knows no names.
    fileprivate func naming(_ input: String, or output: String) -> PictureError {
        if message.hasPrefix("\(input): ") || message.hasPrefix("\(output): ") { return self }
        var named = self
        named.message = "\(input): \(message)"
        return named
    }
}

/// What a picture's way has led to.
package struct PictureReport: Sendable, Equatable {
    /// In pixels.
    package var width: Int
    package var height: Int
    /// 1 gray, 2 gray and alpha, 3 RGB, 4 RGB and alpha.
    package var channels: Int
    /// Bits of a sample, 8 or 16.
    package var depth: Int
    /// Of the output.
    package var bytes: Int
    /// Of the output, hexadecimal.
    package var sha256: String
    /// What libpng remarked on the input and let pass.
    package var warnings: [String]
    /// What became of the input's chunks that are not plain pixels, by their names: `kept`,
    /// `converted` or `dropped`.
    package var metadata: [String: String]

    init(
        layout: PixelLayout, output: PNGWriter.Output, warnings: [String],
        metadata: [String: String]
    ) {
        width = layout.width
        height = layout.height
        channels = layout.channels
        depth = layout.depth
        bytes = output.bytes
        sha256 = output.sha256
        self.warnings = warnings
        self.metadata = metadata
    }
}
