import CDarkroomShims

/// The end of the pipeline: pulls a stage's bands and writes them as a JPEG file.
///
/// 16 bits are rounded to 8. Transparent pixels are laid over white. Below quality 90, colour is stored at half the
/// resolution in each direction (4:2:0), from 90 on at full resolution (4:4:4). Rows are written when they arrive. A
/// progressive picture is held as coefficients of two bytes until its end, and so is one whose quality is chosen: then the
/// coefficients are those before they are quantised, with the colour at both resolutions if the highest quality is 90 or
/// more. A trial quantises and counts. The file is the same as with the chosen quality given.
package enum JPEGWriter {
    /// The maximum side, in pixels, that libjpeg writes.
    package static let largestSide = JPEGReader.largestSide

    /// Writes all rows of a picture. Of its colour information, the profile and the density can be written.
    ///
    /// - Throws: `tooManyPixels` if a side is longer than JPEG allows, or if a progressive picture is larger than may
    ///   be held at once, before anything is pulled or written.
    package static func write(_ input: PictureEncoder.Input) throws(PictureError) -> WrittenPicture
    {
        let (layout, name, colour) = (input.stage.layout, input.name, input.colour)
        var settings = try Self.settings(layout, name: name, options: input.options)
        let held = try heldBytes(layout, name: name, options: input.options)
        try input.memory.take(held, for: purpose(name, input.options))
        defer { input.memory.giveBack(held) }
        let items = settings.add(density: colour.density)
        var output = OutputFile(input.file, name: name)
        let encoder = try JPEGEncoder(name: name)
        try encoder.start(
            &settings,
            JPEGEncoder.Segments(
                profile: colour.profile, exif: input.exif, xmp: input.xmp, iptc: input.iptc))
        while let band = try input.nextBand() {
            try encoder.add(band, layout)
            // A write of a few kilobytes costs as much as their content.
            if encoder.output.count >= OutputFile.piece { try take(encoder, &output) }
        }
        let chosen = try choose(encoder, input)
        try encoder.finish()
        try take(encoder, &output)
        return WrittenPicture(
            bytes: output.bytes, sha256: output.sha256,
            items: items.union(colour.profile == nil ? [] : [.profile]), chosen: chosen)
    }

    /// Makes the trials; nil if the quality is given.
    private static func choose(
        _ encoder: JPEGEncoder, _ input: PictureEncoder.Input
    ) throws(PictureError) -> ChosenQuality? {
        guard let search = input.options.search else { return nil }
        while try encoder.tries() { try input.checkCancellation() }
        let choice = encoder.choice
        if choice.quality == 0 {
            throw search.failure(
                input.name, highest: input.options.quality,
                smallest: Int(clamping: choice.smallest))
        }
        return ChosenQuality(choice.quality, similarity: choice.similarity, search)
    }

    private static func purpose(_ name: String, _ options: OutputOptions) -> String {
        "\(name): "
            + (options.search == nil ? "writing a progressive picture" : "choosing the quality")
    }

    static func needs(_ picture: PictureEncoder.Expected) throws(PictureError) -> WriterNeeds {
        var (layout, mostHeld) = (picture.layout, Int.max)
        if let mostPixels = picture.mostPixels {
            layout.width = min(layout.width, largestSide)
            layout.height = min(layout.height, largestSide)
            // Three components at full resolution, whose sides are extended to whole blocks.
            let filling = 31
            let pixels = mostPixels + filling * (layout.width + layout.height) + filling * filling
            // A search has colour at both resolutions, and some rows.
            mostHeld =
                picture.options.search == nil
                ? 3 * 2 * pixels : 4 * 2 * pixels + 512 * layout.width + 64 << 10
        }
        let held = try heldBytes(layout, name: picture.name, options: picture.options)
        // The rows of libjpeg.
        return WriterNeeds(
            bytes: 192 * 3 * layout.width + 1 << 20, heldBytes: min(held, mostHeld),
            purpose: purpose(picture.name, picture.options), holdsFile: true)
    }

    /// Writes what libjpeg has made so far to the file.
    private static func take(
        _ encoder: JPEGEncoder, _ output: inout OutputFile
    ) throws(PictureError) {
        try output.write(encoder.output)
        encoder.drain()
    }

    /// The file of a small picture, in memory.
    ///
    /// - Parameters:
    ///   - name: what messages call it.
    ///   - hasFullChroma: whether colour is stored at full resolution, whatever the quality is.
    static func small(
        _ stage: any Stage, name: String, profile: PictureColour.Profile?, exif: [UInt8]?,
        quality: Int,
        hasFullChroma: Bool
    ) throws(PictureError) -> [UInt8] {
        var settings = try Self.settings(
            stage.layout, name: name, options: OutputOptions(format: .jpeg, quality: quality))
        settings.full_chroma = hasFullChroma ? 1 : 0
        _ = settings.add(density: nil)
        let encoder = try JPEGEncoder(name: name)
        try encoder.start(&settings, JPEGEncoder.Segments(profile: profile, exif: exif))
        while let band = try stage.nextBand() { try encoder.add(band, stage.layout) }
        try encoder.finish()
        return Array(encoder.output)
    }

    /// The bytes of the coefficients that are held while a progressive picture is written, or a quality is chosen.
    private static func heldBytes(
        _ layout: PixelLayout, name: String, options: OutputOptions
    ) throws(PictureError) -> Int {
        var settings = try Self.settings(layout, name: name, options: options)
        let holds = options.progressive || options.search != nil
        return holds ? Int(clamping: darkroom_jpeg_whole_bytes(&settings)) : 0
    }

    private static func settings(
        _ layout: PixelLayout, name: String, options: OutputOptions
    ) throws(PictureError) -> darkroom_jpeg_settings {
        try OutputFormat.jpeg.check(layout, largestSide: largestSide, name: name)
        var settings = darkroom_jpeg_settings()
        settings.width = UInt32(layout.width)
        settings.height = UInt32(layout.height)
        settings.channels = UInt8(layout.channels)
        settings.depth = UInt8(layout.depth)
        settings.quality = UInt8(options.quality)
        settings.full_chroma = options.quality >= Int(DARKROOM_JPEG_FULL_CHROMA) ? 1 : 0
        settings.most_bytes = options.search?.mostBytes ?? 0
        settings.similarity = options.search?.similarity ?? 0
        settings.progressive = options.progressive ? 1 : 0
        return settings
    }
}

extension darkroom_jpeg_settings {
    /// Sets the density if JFIF can express it.
    ///
    /// - Returns: the items that were set.
    fileprivate mutating func add(density: PictureColour.Density?) -> Set<PictureColour.Item> {
        guard let jfif = density?.jfif else {
            // JFIF's form of an unknown density: square pixels without a size.
            self.density = darkroom_jpeg_density(unit: 0, x: 1, y: 1)
            return []
        }
        self.density = jfif
        return [.density]
    }
}
