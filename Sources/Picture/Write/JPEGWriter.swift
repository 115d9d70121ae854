import CDarkroomShims
package import SystemPackage

/// The end of the pipeline: pulls a stage's bands and writes them as a JPEG file.
///
/// 16 bits are rounded to 8. Transparent pixels are laid over white. Below quality 90, colour is stored at half the
/// resolution in each direction (4:2:0), from 90 on at full resolution (4:4:4). Rows are written when they arrive. A
/// progressive picture is held as coefficients of two bytes until its end.
package final class JPEGWriter {
    /// The maximum side, in pixels, that libjpeg writes.
    package static let largestSide = JPEGReader.largestSide

    private let writer: OpaquePointer
    private let name: String
    private var output: OutputFile

    private init(file: FileDescriptor, name: String, isHashed: Bool) throws(PictureError) {
        guard let writer = darkroom_jpeg_writer_new() else {
            throw PictureError(
                .outOfMemory, "\(name): not enough memory to write a JPEG", isTransient: true)
        }
        self.writer = writer
        self.name = name
        output = OutputFile(file, name: name, isHashed: isHashed)
    }

    deinit { darkroom_jpeg_writer_free(writer) }

    /// Writes all rows of `stage`.
    ///
    /// - Parameters:
    ///   - file: written from the current offset on. It is neither synced nor closed.
    ///   - name: the name of the file in messages.
    ///   - colour: of this, the profile and the density can be written.
    ///   - exif: a TIFF structure for an Exif segment.
    ///   - memory: the budget for the coefficients of a progressive picture.
    ///   - checkpoint: called before each band; false ends writing with `PictureError.Code.cancelled`.
    /// - Throws: `tooManyPixels` if a side is longer than JPEG allows, or if a progressive picture is larger than may
    ///   be held at once, before anything is pulled or written.
    package static func write(
        _ stage: any Stage, to file: FileDescriptor, name: String, colour: PNGColour = PNGColour(),
        exif: [UInt8]? = nil, options: OutputOptions = OutputOptions(format: .jpeg),
        memory: PictureMemory = PictureMemory(limit: PictureLimits().wholePictureBytes),
        checkpoint: () -> Bool = { true }
    ) throws(PictureError) -> WrittenPicture {
        var settings = try Self.settings(stage.layout, name: name, options: options)
        let held = try heldBytes(stage.layout, name: name, options: options)
        try memory.take(held, for: "\(name): writing a progressive picture")
        defer { memory.giveBack(held) }
        let items = settings.add(density: colour.density)
        let writer = try JPEGWriter(file: file, name: name, isHashed: true)
        try writer.start(&settings, profile: colour.profile, exif: exif)
        try writer.writeAll(stage, checkpoint)
        return WrittenPicture(
            bytes: writer.output.bytes, sha256: writer.output.sha256,
            items: items.union(colour.profile == nil ? [] : [.profile]))
    }

    /// Writes a small picture whose SHA-256 nobody asks for.
    ///
    /// - Parameter hasFullChroma: whether colour is stored at full resolution, whatever the quality is.
    static func writeSmall(
        _ stage: any Stage, to file: FileDescriptor, name: String, profile: PNGColour.Profile?,
        exif: [UInt8], quality: Int, hasFullChroma: Bool
    ) throws(PictureError) {
        var settings = try Self.settings(
            stage.layout, name: name, options: OutputOptions(format: .jpeg, quality: quality))
        settings.full_chroma = hasFullChroma ? 1 : 0
        _ = settings.add(density: nil)
        let writer = try JPEGWriter(file: file, name: name, isHashed: false)
        try writer.start(&settings, profile: profile, exif: exif)
        try writer.writeAll(stage) { true }
    }

    private func writeAll(_ stage: any Stage, _ checkpoint: () -> Bool) throws(PictureError) {
        let layout = stage.layout
        while true {
            if !checkpoint() { throw PictureError(.cancelled, "\(name): cancelled while writing") }
            guard let band = try stage.nextBand() else { break }
            try write(band, layout)
        }
        try check(darkroom_jpeg_writer_finish(writer), step: "writing the end")
        try flush()
    }

    /// The bytes of the coefficients that are held while a progressive picture is written.
    static func heldBytes(
        _ layout: PixelLayout, name: String, options: OutputOptions
    ) throws(PictureError) -> Int {
        var settings = try Self.settings(layout, name: name, options: options)
        return options.progressive ? Int(clamping: darkroom_jpeg_whole_bytes(&settings)) : 0
    }

    private static func settings(
        _ layout: PixelLayout, name: String, options: OutputOptions
    ) throws(PictureError) -> darkroom_jpeg_settings {
        if max(layout.width, layout.height) > largestSide {
            throw PictureError(
                .tooManyPixels,
                "\(name): writing the header: \(layout.width) × \(layout.height) pixels; a side of a"
                    + " JPEG may have at most \(largestSide)")
        }
        var settings = darkroom_jpeg_settings()
        settings.width = UInt32(layout.width)
        settings.height = UInt32(layout.height)
        settings.channels = UInt8(layout.channels)
        settings.depth = UInt8(layout.depth)
        settings.quality = UInt8(options.quality)
        settings.full_chroma = options.quality >= 90 ? 1 : 0
        settings.progressive = options.progressive ? 1 : 0
        return settings
    }

    private func start(
        _ settings: inout darkroom_jpeg_settings, profile: PNGColour.Profile?, exif: [UInt8]?
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

    private func write(_ band: Band, _ layout: PixelLayout) throws(PictureError) {
        let result = darkroom_jpeg_writer_rows(
            writer, band.start.assumingMemoryBound(to: UInt8.self), layout.bytesPerRow,
            UInt32(band.rows.count))
        try check(
            result, step: "writing rows \(band.rows.lowerBound + 1) to \(band.rows.upperBound)")
        // A write of a few kilobytes costs as much as their content.
        try flush(ifAtLeast: OutputFile.piece)
    }

    /// Writes the output of libjpeg to the file.
    private func flush(ifAtLeast least: Int = 1) throws(PictureError) {
        var available = 0
        let start = darkroom_jpeg_writer_output(writer, &available)
        guard available >= least else { return }
        try output.write(UnsafeRawBufferPointer(start: start, count: available))
        darkroom_jpeg_writer_drain(writer)
    }

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

extension darkroom_jpeg_settings {
    /// Sets the density if JFIF can express it.
    ///
    /// - Returns: the items that were set.
    fileprivate mutating func add(density: PNGColour.Density?) -> Set<PNGColour.Item> {
        guard let jfif = density?.jfif else {
            // JFIF's form of an unknown density: square pixels without a size.
            self.density = darkroom_jpeg_density(unit: 0, x: 1, y: 1)
            return []
        }
        self.density = jfif
        return [.density]
    }
}
