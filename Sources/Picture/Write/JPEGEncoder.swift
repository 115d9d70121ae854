import CDarkroomShims

/// Owns the shim's JPEG writer, and converts its results to errors that name the file and the step. What it makes is in
/// memory until it is taken.
final class JPEGEncoder {
    private let writer: OpaquePointer
    private let name: String

    init(name: String) throws(PictureError) {
        guard let writer = darkroom_jpeg_writer_new() else {
            throw PictureError(
                .outOfMemory, "\(name): not enough memory to write a JPEG", isTransient: true)
        }
        self.writer = writer
        self.name = name
    }

    deinit { darkroom_jpeg_writer_free(writer) }

    func start(
        _ settings: inout darkroom_jpeg_settings, profile: PictureColour.Profile?, exif: [UInt8]?
    ) throws(PictureError) {
        let result =
            (profile?.bytes ?? []).withUnsafeBufferPointer { bytes in
                settings.profile = bytes.isEmpty ? nil : bytes.baseAddress
                settings.profile_length = bytes.count
                return (exif ?? []).withUnsafeBufferPointer { tiff in
                    settings.exif = tiff.isEmpty ? nil : tiff.baseAddress
                    settings.exif_length = tiff.count
                    return darkroom_jpeg_writer_start(writer, &settings)
                }
            }
        try check(result, step: "writing the header")
    }

    func add(_ band: Band, _ layout: PixelLayout) throws(PictureError) {
        let result = darkroom_jpeg_writer_rows(
            writer, band.start.assumingMemoryBound(to: UInt8.self), layout.bytesPerRow,
            UInt32(band.rows.count))
        try check(
            result, step: "writing rows \(band.rows.lowerBound + 1) to \(band.rows.upperBound)")
    }

    func finish() throws(PictureError) {
        try check(darkroom_jpeg_writer_finish(writer), step: "writing the end")
    }

    /// What has been made since the last `drain`. The next call of another function ends it.
    var output: UnsafeRawBufferPointer {
        var available = 0
        let start = darkroom_jpeg_writer_output(writer, &available)
        return UnsafeRawBufferPointer(start: start, count: available)
    }

    func drain() { darkroom_jpeg_writer_drain(writer) }

    private func check(_ result: darkroom_jpeg_result, step: String) throws(PictureError) {
        switch result {
        case DARKROOM_JPEG_OK: return
        case DARKROOM_JPEG_MISUSE:
            preconditionFailure("a stage gave other rows than its layout promises")
        default:
            let words = String(cString: darkroom_jpeg_writer_message(writer))
            let isMemory = result == DARKROOM_JPEG_MEMORY
            throw PictureError(
                isMemory ? .outOfMemory : .writeFailed, "\(name): \(step): \(words)",
                isTransient: isMemory)
        }
    }
}
