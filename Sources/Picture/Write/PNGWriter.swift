import CDarkroomDeflate
import CDarkroomShims
package import SystemPackage

/// Writes a stage's bands as a PNG file: those it pulls, at the end of the pipeline, or those it is given.
///
/// libpng makes what is around the pixels, `StripEncoder` the pixels' chunks.
package final class PNGWriter {
    /// What has been written.
    package struct Output: Sendable, Equatable {
        package var bytes: Int
        /// Hexadecimal.
        package var sha256: String
        /// The names of the colour chunks that libpng accepted.
        package var chunks: Set<String>
    }

    package typealias Compression = PictureOutput.PNGCompression

    private let writer: OpaquePointer
    private let name: String
    private var output: OutputFile
    private let strips: StripEncoder
    private var chunks: Set<String> = []

    /// Writes all that comes before the pixels. To be closed in the end, see `close`.
    ///
    /// - Parameters:
    ///   - file: Where to write, from the current offset on. It is neither synchronised nor closed.
    ///   - ahead: What reads the picture's source ahead, if anything does.
    init(
        _ layout: PixelLayout, to file: FileDescriptor, name: String, colour: PNGColour,
        exif: [UInt8]?, compression: Compression, cores: Cores, ahead: ReadAhead?
    ) throws(PictureError) {
        guard let writer = darkroom_png_writer_new() else {
            throw PictureError(
                .outOfMemory, "\(name): no memory for writing a PNG", isTransient: true)
        }
        self.writer = writer
        self.name = name
        output = OutputFile(file, name: name)
        strips = StripEncoder(layout, compression.effort, cores: cores, ahead: ahead, name: name)
        chunks = try start(layout, colour: colour, exif: exif)
    }

    deinit { darkroom_png_writer_free(writer) }

    /// Writes all that `stage` gives.
    ///
    /// - Parameters:
    ///   - file: Where to write, from the current offset on. It is neither synchronised nor closed.
    ///   - name: What messages call the file.
    ///   - exif: A TIFF structure for an eXIf chunk.
    ///   - cores: Where cores are borrowed from for compressing. Which of them are idle does not
    ///     change the bytes written.
    ///   - checkpoint: Asked before each band; false ends writing with `PictureError.Code.cancelled`.
    package static func write(
        _ stage: any Stage, to file: FileDescriptor, name: String, colour: PNGColour = PNGColour(),
        exif: [UInt8]? = nil, compression: Compression = .balanced, cores: Cores = .shared,
        checkpoint: () -> Bool = { true }
    ) throws(PictureError) -> Output {
        try write(
            stage, to: file, name: name, colour: colour, exif: exif, compression: compression,
            cores: cores, ahead: nil, checkpoint: checkpoint)
    }

    /// The same, of a picture whose source `ahead` reads ahead.
    static func write(
        _ stage: any Stage, to file: FileDescriptor, name: String, colour: PNGColour,
        exif: [UInt8]?, compression: Compression, cores: Cores, ahead: ReadAhead?,
        checkpoint: () -> Bool
    ) throws(PictureError) -> Output {
        let writer = try PNGWriter(
            stage.layout, to: file, name: name, colour: colour, exif: exif,
            compression: compression, cores: cores, ahead: ahead)
        defer { writer.close() }
        while true {
            if !checkpoint() { throw PictureError(.cancelled, "\(name): cancelled while writing") }
            guard let band = try stage.nextBand() else { break }
            try writer.add(band)
        }
        return try writer.finish()
    }

    /// Adds a band's rows, which are copied.
    func add(_ band: Band) throws(PictureError) { try strips.add(band, output: put) }

    /// Writes all that is left, after the last row.
    func finish() throws(PictureError) -> Output {
        try strips.finish(output: put)
        try check(darkroom_png_writer_finish(writer), step: "writing the end")
        try flush()
        return Output(bytes: output.bytes, sha256: output.sha256, chunks: chunks)
    }

    /// Waits for those of the helpers that are at work for it.
    func close() { strips.close() }

    /// Writes all that comes before the pixels; returns the names of the colour chunks written.
    private func start(
        _ layout: PixelLayout, colour: PNGColour, exif: [UInt8]?
    ) throws(PictureError) -> Set<String> {
        var written: UInt32 = 0
        let result = colour.withShim {
            darkroom_png_writer_start(
                writer, UInt32(layout.width), UInt32(layout.height), Int32(layout.channels),
                Int32(layout.depth), $0, &written)
        }
        try check(result, step: "writing the header")
        if let exif {
            try check(darkroom_png_writer_exif(writer, exif, exif.count), step: "writing Exif")
        }
        try flush()
        return PNGColour.chunkNames(of: written)
    }

    /// Writes out what libpng has produced.
    private func flush() throws(PictureError) {
        var available = 0
        let start = darkroom_png_writer_output(writer, &available)
        try put(UnsafeRawBufferPointer(start: start, count: available))
        darkroom_png_writer_drain(writer)
    }

    private func put(_ bytes: UnsafeRawBufferPointer) throws(PictureError) {
        try output.write(bytes)
    }

    private func check(_ result: darkroom_png_result, step: String) throws(PictureError) {
        switch result {
        case DARKROOM_PNG_OK: return
        case DARKROOM_PNG_MISUSE:
            preconditionFailure("the PNG shim was used in the wrong order")
        default:
            let words = String(cString: darkroom_png_writer_message(writer))
            let isMemory = result == DARKROOM_PNG_MEMORY
            throw PictureError(
                isMemory ? .outOfMemory : .writeFailed, "\(name): \(step): \(words)",
                isTransient: isMemory)
        }
    }
}
