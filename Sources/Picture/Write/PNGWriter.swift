import CDarkroomDeflate
import CDarkroomShims

/// Writes a stage's bands as a PNG file. It pulls the bands at the end of the pipeline, or they are given to it.
///
/// libpng writes everything around the pixels, `StripEncoder` the chunks of the pixels.
package final class PNGWriter {
    package typealias Compression = PictureOutput.PNGCompression

    private let writer: OpaquePointer
    private let name: String
    private var output: OutputFile
    private let strips: StripEncoder
    private let palette: FilteredPalette?
    /// Indices of fewer than 8 bits.
    private var packed: FilterBuffer<UInt8>?
    private var items: Set<PictureColour.Item> = []

    /// Writes everything before the pixels. The writer must be closed at the end, see `close`.
    init(_ input: PictureEncoder.Input) throws(PictureError) {
        let (layout, name) = (input.stage.layout, input.name)
        guard let writer = darkroom_png_writer_new() else {
            throw .outOfMemory(name, "not enough memory to write a PNG")
        }
        self.writer = writer
        self.name = name
        output = OutputFile(input.file, name: name)
        palette = input.palette
        strips = StripEncoder(
            palette?.packedLayout ?? layout, input.options.compression.effort, cores: input.cores,
            ahead: input.ahead, name: name)
        items = try start(layout, input)
    }

    deinit { darkroom_png_writer_free(writer) }

    /// Writes all rows of a picture.
    package static func write(_ input: PictureEncoder.Input) throws(PictureError) -> WrittenPicture
    {
        let writer = try PNGWriter(input)
        defer { writer.close() }
        while let band = try input.nextBand() { try writer.add(band) }
        return try writer.finish()
    }

    /// Adds a band's rows, which are copied.
    func add(_ band: Band) throws(PictureError) {
        if let copy = palette?.copy { return try copy.write(isEnd: false, output: put) }
        guard let palette, palette.bits < 8 else { return try strips.add(band, output: put) }
        let (width, bytes) = (palette.layout.width, palette.packedLayout.bytesPerRow)
        let memory = try FilterBuffer.atLeast(band.rows.count * bytes, packed)
        packed = memory
        let indices = band.start.assumingMemoryBound(to: UInt8.self)
        for row in 0..<band.rows.count {
            darkroom_png_pack_indices(
                indices + row * width, width, Int32(palette.bits), memory.start + row * bytes)
        }
        try strips.add(
            Band(start: UnsafeMutableRawPointer(memory.start), rows: band.rows), output: put)
    }

    /// Writes the rest, after the last row.
    func finish() throws(PictureError) -> WrittenPicture {
        if let copy = palette?.copy {
            try copy.write(isEnd: true, output: put)
        } else {
            try strips.finish(output: put)
        }
        try check(darkroom_png_writer_finish(writer), step: "writing the end")
        try flush()
        try output.flush()
        return WrittenPicture(bytes: output.bytes, sha256: output.sha256, items: items)
    }

    /// Waits for the helpers that work for it.
    func close() { strips.close() }

    /// Writes everything before the pixels.
    ///
    /// - Returns: the parts of the colour information that libpng accepted.
    private func start(
        _ layout: PixelLayout, _ input: PictureEncoder.Input
    ) throws(PictureError) -> Set<PictureColour.Item> {
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
        let result = input.colour.withShim {
            darkroom_png_writer_start(
                writer, UInt32(layout.width), UInt32(layout.height), Int32(layout.channels),
                Int32(layout.depth), $0, &written)
        }
        try check(result, step: "writing the header")
        if let exif = input.exif {
            try check(darkroom_png_writer_exif(writer, exif, exif.count), step: "writing Exif")
        }
        if let xmp = input.xmp {
            try check(darkroom_png_writer_xmp(writer, xmp, xmp.count), step: "writing XMP")
        }
        try flush()
        return PictureColour.items(of: written)
    }

    /// Writes the output of libpng to the file.
    private func flush() throws(PictureError) {
        var available = 0
        let start = darkroom_png_writer_output(writer, &available)
        try put(UnsafeRawBufferPointer(start: start, count: available))
        darkroom_png_writer_drain(writer)
    }

    private func put(_ bytes: UnsafeRawBufferPointer) throws(PictureError) { try output.add(bytes) }

    private func check(_ result: darkroom_png_result, step: String) throws(PictureError) {
        switch result {
        case DARKROOM_PNG_OK: return
        case DARKROOM_PNG_MISUSE:
            preconditionFailure("the PNG shim was used in the wrong order")
        default:
            let words = String(cString: darkroom_png_writer_message(writer))
            let place = "\(name): \(step)"
            throw result == DARKROOM_PNG_MEMORY
                ? .outOfMemory(place, words) : PictureError(.writeFailed, "\(place): \(words)")
        }
    }
}

extension PictureEncoder.Expected {
    /// The memory for the compression of rows in strips.
    var strips: Int {
        var (layout, most) = (layout, 0)
        while true {
            most = max(
                most, StripEncoder.mostBytes(layout, options.compression.effort, cores: cores))
            // A strip of a narrower picture has more rows, each with margins.
            guard mostPixels != nil, layout.width > 1 else { return most }
            layout.width /= 2
        }
    }
}
