import DarkroomCore
import SystemPackage

/// Writes results of one format, and knows the memory that this needs. `encoder(of:)` is the only table of them.
struct PictureEncoder: Sendable {
    /// A picture to be written.
    struct Output {
        let stage: any Stage
        /// Written from the current offset on.
        let file: FileDescriptor
        /// The name of the file in messages.
        let name: String
        let colour: PNGColour
        let exif: [UInt8]?
        let options: OutputOptions
        /// If the rows are indices: their colours.
        let palette: FilteredPalette?
        let memory: PictureMemory
        let cores: Cores
        let ahead: ReadAhead?
        let checkpoint: () -> Bool
    }

    let write: @Sendable (Output) throws(PictureError) -> WrittenPicture
    /// Adds the memory for writing to a budget.
    let add: @Sendable (OutputOptions, inout PeakMemory) throws(PictureError) -> Void

    static func encoder(of format: OutputFormat) -> PictureEncoder {
        switch format {
        case .png: png
        case .jpeg: jpeg
        }
    }

    private static let png = PictureEncoder { output throws(PictureError) in
        let written = try PNGWriter.write(
            output.stage, to: output.file, name: output.name, colour: output.colour,
            exif: output.exif, palette: output.palette, compression: output.options.compression,
            cores: output.cores, ahead: output.ahead, checkpoint: output.checkpoint)
        return WrittenPicture(
            bytes: written.bytes, sha256: written.sha256,
            items: Set(written.chunks.compactMap(PNGColour.Item.init)))
    } add: { options, peak throws(PictureError) in
        peak.bytes += peak.strips(options.compression)
    }

    private static let jpeg = PictureEncoder { output throws(PictureError) in
        try JPEGWriter.write(
            output.stage, to: output.file, name: output.name, colour: output.colour,
            exif: output.exif, options: output.options, memory: output.memory,
            checkpoint: output.checkpoint)
    } add: { options, peak throws(PictureError) in
        if peak.mostPixels != nil {
            peak.layout.width = min(peak.layout.width, JPEGWriter.largestSide)
            peak.layout.height = min(peak.layout.height, JPEGWriter.largestSide)
        }
        let held = min(
            try JPEGWriter.heldBytes(peak.layout, name: peak.outputName, options: options),
            peak.mostCoefficientBytes)
        try peak.hold(held, for: "\(peak.outputName): writing a progressive picture")
        // The rows of libjpeg. A progressive picture is written at the end, and is not larger than its coefficients.
        peak.bytes += 192 * 3 * peak.layout.width + 1 << 20
        peak.bytes += min(held, peak.limits.wholePictureBytes)
    }
}
