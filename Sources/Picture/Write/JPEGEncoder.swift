import CDarkroomShims

/// Owns the shim's JPEG writer, and converts its results to errors that name the file and the step. What it makes is in
/// memory until it is taken.
final class JPEGEncoder {
    private let writer: OpaquePointer
    private let name: String

    init(name: String) throws(PictureError) {
        guard let writer = darkroom_jpeg_writer_new() else {
            throw .outOfMemory(name, "not enough memory to write a JPEG")
        }
        self.writer = writer
        self.name = name
    }

    deinit { darkroom_jpeg_writer_free(writer) }

    /// What is written beside the pixels.
    struct Segments {
        var profile: PictureColour.Profile?
        /// A TIFF structure.
        var exif: [UInt8]?
        /// A packet.
        var xmp: [UInt8]?
        /// Datasets of IIM.
        var iptc: [UInt8]?
    }

    func start(
        _ settings: inout darkroom_jpeg_settings, _ segments: Segments
    ) throws(PictureError) {
        let result = Self.lend(segments.profile?.bytes) { bytes in
            (settings.profile, settings.profile_length) = bytes
            return Self.lend(segments.exif) { bytes in
                (settings.exif, settings.exif_length) = bytes
                return Self.lend(segments.xmp) { bytes in
                    (settings.xmp, settings.xmp_length) = bytes
                    return Self.lend(segments.iptc.map(PhotoshopResources.segment)) { bytes in
                        (settings.photoshop, settings.photoshop_length) = bytes
                        return darkroom_jpeg_writer_start(writer, &settings)
                    }
                }
            }
        }
        try check(result, step: "writing the header")
    }

    private static func lend(
        _ bytes: [UInt8]?,
        _ body: ((UnsafePointer<UInt8>?, Int)) -> darkroom_jpeg_result
    ) -> darkroom_jpeg_result {
        guard let bytes, !bytes.isEmpty else { return body((nil, 0)) }
        return bytes.withUnsafeBufferPointer { body(($0.baseAddress, $0.count)) }
    }

    func add(_ band: Band, _ layout: PixelLayout) throws(PictureError) {
        let result = darkroom_jpeg_writer_rows(
            writer, band.start.assumingMemoryBound(to: UInt8.self), layout.bytesPerRow,
            UInt32(band.rows.count))
        try check(
            result, step: "writing rows \(band.rows.lowerBound + 1) to \(band.rows.upperBound)")
    }

    /// After the last row of a search: makes a trial.
    ///
    /// - Returns: false if there is nothing more to try, as for a quality that is given.
    func tries() throws(PictureError) -> Bool {
        var isComplete: CInt = 0
        try check(darkroom_jpeg_writer_try(writer, &isComplete), step: "choosing the quality")
        return isComplete == 0
    }

    /// What a search has chosen.
    var choice: darkroom_jpeg_choice { darkroom_jpeg_writer_choice(writer) }

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
            let place = "\(name): \(step)"
            throw result == DARKROOM_JPEG_MEMORY
                ? .outOfMemory(place, words) : PictureError(.writeFailed, "\(place): \(words)")
        }
    }
}
