import CShims
import SystemPackage

/// The end of the pipeline: pulls a stage's bands and writes them as a PNG file.
///
/// libpng fills a buffer, and this type writes the buffer out after each band, so that every write
/// is checked, and hashes and counts the bytes on their way.
package final class PNGWriter {
    /// What has been written.
    package struct Output: Sendable, Equatable {
        package var bytes: Int
        /// Hexadecimal.
        package var sha256: String
        /// The names of the colour chunks that libpng accepted.
        package var chunks: Set<String>
    }

    /// How the pixels are compressed.
    package enum Compression: Sendable, CaseIterable {
        /// As a photograph, unless most pixels of the first band equal their left neighbours.
        case automatic
        /// Row filters, Huffman codes and runs. On photographs 4 to 8 times as fast as libpng's
        /// defaults, for 8 % smaller to 2 % larger files.
        case photograph
        /// libpng's defaults, with a search for matches. Drawings would be twice as large without
        /// it.
        case graphic
    }

    private let writer: OpaquePointer
    private let file: FileDescriptor
    private let name: String
    private var digest = SHA256Digest()
    private var count = 0

    private init(file: FileDescriptor, name: String) throws(PictureError) {
        guard let writer = darkroom_png_writer_new() else {
            throw PictureError(
                .outOfMemory, "\(name): no memory for writing a PNG", isTransient: true)
        }
        self.writer = writer
        self.file = file
        self.name = name
    }

    deinit { darkroom_png_writer_free(writer) }

    /// Writes all that `stage` gives.
    ///
    /// - Parameters:
    ///   - file: Where to write, from the current offset on. It is neither synchronised nor closed.
    ///   - name: What messages call the file.
    ///   - checkpoint: Asked before each band; false ends writing with `PictureError.Code.cancelled`.
    package static func write(
        _ stage: any Stage, to file: FileDescriptor, name: String, colour: PNGColour = PNGColour(),
        compression: Compression = .automatic, checkpoint: () -> Bool = { true }
    ) throws(PictureError) -> Output {
        let writer = try PNGWriter(file: file, name: name)
        let layout = stage.layout
        var chunks: Set<String>?
        while true {
            if !checkpoint() { throw PictureError(.cancelled, "\(name): cancelled while writing") }
            guard let band = try stage.nextBand() else { break }
            if chunks == nil {
                chunks = try writer.start(
                    layout, choose(compression, for: band, layout), colour: colour)
            }
            try writer.write(band, layout)
        }
        try writer.check(darkroom_png_writer_finish(writer.writer), step: "writing the end")
        try writer.flush()
        return Output(bytes: writer.count, sha256: writer.digest.hex(), chunks: chunks ?? [])
    }

    private static func choose(
        _ compression: Compression, for band: Band, _ layout: PixelLayout
    ) -> darkroom_png_compression {
        switch compression {
        case .photograph: return DARKROOM_PNG_PHOTOGRAPH
        case .graphic: return DARKROOM_PNG_GRAPHIC
        case .automatic:
            let flatness = darkroom_png_flatness(
                band.start.assumingMemoryBound(to: UInt8.self), layout.bytesPerRow,
                layout.bytesPerPixel, UInt32(band.rows.count))
            return flatness > 500 ? DARKROOM_PNG_GRAPHIC : DARKROOM_PNG_PHOTOGRAPH
        }
    }

    /// Writes all that comes before the pixels; returns the names of the colour chunks written.
    private func start(
        _ layout: PixelLayout, _ compression: darkroom_png_compression, colour: PNGColour
    ) throws(PictureError) -> Set<String> {
        var written: UInt32 = 0
        let result = colour.withShim {
            darkroom_png_writer_start(
                writer, UInt32(layout.width), UInt32(layout.height), Int32(layout.channels),
                Int32(layout.depth), compression, $0, &written)
        }
        try check(result, step: "writing the header")
        return PNGColour.chunkNames(of: written)
    }

    private func write(_ band: Band, _ layout: PixelLayout) throws(PictureError) {
        let result = darkroom_png_writer_rows(
            writer, band.start.assumingMemoryBound(to: UInt8.self), layout.bytesPerRow,
            UInt32(band.rows.count))
        try check(
            result, step: "writing rows \(band.rows.lowerBound + 1) to \(band.rows.upperBound)")
        try flush()
    }

    /// Writes out and hashes what libpng has produced.
    private func flush() throws(PictureError) {
        var available = 0
        let start = darkroom_png_writer_output(writer, &available)
        let bytes = UnsafeRawBufferPointer(start: start, count: available)
        digest.update(bytes)
        do {
            count += try file.writeAll(bytes)
        } catch {
            throw Self.writeError(error, name: name)
        }
        darkroom_png_writer_drain(writer)
    }

    private static func writeError(_ error: any Error, name: String) -> PictureError {
        let cause = error as? Errno
        let isTransient = [.noSpace, .diskQuotaExceeded, .noMemory].contains { $0 == cause }
        return PictureError(
            .writeFailed, "\(name): writing the file: \(cause.map { "\($0)" } ?? "\(error)")",
            isTransient: isTransient)
    }

    private func check(_ result: darkroom_png_result, step: String) throws(PictureError) {
        switch result {
        case DARKROOM_PNG_OK: return
        case DARKROOM_PNG_MISUSE:
            preconditionFailure("a stage gave other rows than its layout promises")
        default:
            let words = String(cString: darkroom_png_writer_message(writer))
            let isMemory = result == DARKROOM_PNG_MEMORY
            throw PictureError(
                isMemory ? .outOfMemory : .writeFailed, "\(name): \(step): \(words)",
                isTransient: isMemory)
        }
    }
}
