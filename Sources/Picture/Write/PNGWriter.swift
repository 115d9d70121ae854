import CDarkroomDeflate
import CDarkroomShims
package import SystemPackage

/// Writes a stage's bands as a PNG file. It pulls the bands at the end of the pipeline, or they are given to it.
///
/// libpng writes everything around the pixels, `StripEncoder` the chunks of the pixels.
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
    private let palette: FilteredPalette?
    /// Indices of fewer than 8 bits.
    private var packed: FilterBuffer<UInt8>?
    private var chunks: Set<String> = []

    /// Writes everything before the pixels. The writer must be closed at the end, see `close`.
    ///
    /// - Parameters:
    ///   - file: written from the current offset on. It is neither synced nor closed.
    ///   - ahead: the stage that reads the picture's source ahead, if there is one.
    init(
        _ layout: PixelLayout, to file: FileDescriptor, name: String, colour: PNGColour,
        exif: [UInt8]?, palette: FilteredPalette? = nil, compression: Compression, cores: Cores,
        ahead: ReadAhead?
    ) throws(PictureError) {
        guard let writer = darkroom_png_writer_new() else {
            throw PictureError(
                .outOfMemory, "\(name): not enough memory to write a PNG", isTransient: true)
        }
        self.writer = writer
        self.name = name
        output = OutputFile(file, name: name)
        self.palette = palette
        strips = StripEncoder(
            palette?.packedLayout ?? layout, compression.effort, cores: cores, ahead: ahead,
            name: name
        )
        chunks = try start(layout, colour: colour, exif: exif)
    }

    deinit { darkroom_png_writer_free(writer) }

    /// Writes all rows of `stage`.
    ///
    /// - Parameters:
    ///   - file: written from the current offset on. It is neither synced nor closed.
    ///   - name: the name of the file in messages.
    ///   - exif: a TIFF structure for an eXIf chunk.
    ///   - cores: the cores that can be borrowed for the compression. Which of them are idle does not change the
    ///     written bytes.
    ///   - checkpoint: called before each band; false ends writing with `PictureError.Code.cancelled`.
    package static func write(
        _ stage: any Stage, to file: FileDescriptor, name: String, colour: PNGColour = PNGColour(),
        exif: [UInt8]? = nil, compression: Compression = .balanced, cores: Cores = .shared,
        checkpoint: () -> Bool = { true }
    ) throws(PictureError) -> Output {
        try write(
            stage, to: file, name: name, colour: colour, exif: exif, compression: compression,
            cores: cores, ahead: nil, checkpoint: checkpoint)
    }

    /// The same for a picture whose source `ahead` reads ahead.
    static func write(
        _ stage: any Stage, to file: FileDescriptor, name: String, colour: PNGColour,
        exif: [UInt8]?, palette: FilteredPalette? = nil, compression: Compression, cores: Cores,
        ahead: ReadAhead?, checkpoint: () -> Bool
    ) throws(PictureError) -> Output {
        let writer = try PNGWriter(
            stage.layout, to: file, name: name, colour: colour, exif: exif, palette: palette,
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
    func add(_ band: Band) throws(PictureError) {
        if let copy = palette?.copy { return try copy.write(isEnd: false, output: put) }
        guard let palette, palette.bits < 8 else { return try strips.add(band, output: put) }
        let (width, bytes) = (palette.layout.width, palette.packedLayout.bytesPerRow)
        let memory: FilterBuffer<UInt8>
        if let packed, packed.count >= band.rows.count * bytes {
            memory = packed
        } else {
            memory = try FilterBuffer(count: band.rows.count * bytes)
            packed = memory
        }
        let indices = band.start.assumingMemoryBound(to: UInt8.self)
        for row in 0..<band.rows.count {
            darkroom_png_pack_indices(
                indices + row * width, width, Int32(palette.bits), memory.start + row * bytes)
        }
        try strips.add(
            Band(start: UnsafeMutableRawPointer(memory.start), rows: band.rows), output: put)
    }

    /// Writes the rest, after the last row.
    func finish() throws(PictureError) -> Output {
        if let copy = palette?.copy {
            try copy.write(isEnd: true, output: put)
        } else {
            try strips.finish(output: put)
        }
        try check(darkroom_png_writer_finish(writer), step: "writing the end")
        try flush()
        try output.flush()
        return Output(bytes: output.bytes, sha256: output.sha256, chunks: chunks)
    }

    /// Waits for the helpers that work for it.
    func close() { strips.close() }

    /// Writes everything before the pixels.
    ///
    /// - Returns: the names of the written colour chunks.
    private func start(
        _ layout: PixelLayout, colour: PNGColour, exif: [UInt8]?
    ) throws(PictureError) -> Set<String> {
        var written: UInt32 = 0
        if let palette {
            let result = palette.colours.withUnsafeBytes {
                darkroom_png_writer_palette(
                    writer,
                    $0.assumingMemoryBound(to: (UInt8, UInt8, UInt8, UInt8).self).baseAddress,
                    UInt32(palette.count), Int32(palette.bits), palette.layout.hasAlpha)
            }
            try check(result, step: "preparing the palette")
        }
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

    /// Writes the output of libpng to the file.
    private func flush() throws(PictureError) {
        var available = 0
        let start = darkroom_png_writer_output(writer, &available)
        try put(UnsafeRawBufferPointer(start: start, count: available))
        darkroom_png_writer_drain(writer)
    }

    private func put(_ bytes: UnsafeRawBufferPointer) throws(PictureError) {
        try output.add(bytes)
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
