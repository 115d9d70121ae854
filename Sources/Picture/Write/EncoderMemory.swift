import CDarkroomCodecWire

/// The memory that a child needs to encode a picture, beyond what it had at its start, in bytes of its address space.
///
/// The libraries do not tell. The factors are bounds of the peaks that were measured (`VmPeak` of the child) with
/// photographs, drawings and noise of 0.1 to 12 megapixels, with noise of 20 to 1000 pixels in width and height, and with
/// pictures of 16 pixels in width or height, on 2026-11-28; for JPEG XL also with screens and pictures of one colour. A
/// child has `CodecCall.Bounds.spare` besides.
enum EncoderMemory {
    /// libwebp 1.2.4. It has the tokens of the whole picture from the second method on, four bytes a pixel if it is
    /// lossless, and for everything that is lossless, also alpha, a search in up to 2600 histograms: noise of 0.1
    /// megapixels needs all of them.
    static func webp(_ layout: PixelLayout, pixels: Int, _ options: OutputOptions) -> Int {
        let effort = options.effort
        let bytes: Int
        if options.lossless {
            bytes =
                effort == 0
                ? 32 * pixels + min(400 * pixels, 48 << 20)
                : effort < 7
                    ? 40 * pixels + min(500 * pixels, 56 << 20)
                    : 60 * pixels + min(700 * pixels, 80 << 20)
        } else if layout.hasAlpha {
            bytes =
                effort < 7
                ? 44 * pixels + min(300 * pixels, 24 << 20)
                : 52 * pixels + min(400 * pixels, 32 << 20)
        } else {
            bytes = (effort == 0 ? 8 : options.quality > 90 ? 30 : 23) * pixels
        }
        return bytes + search(layout, pixels, files: 6, options) + constant
    }

    /// libheif 1.15.1 with aom 3.6.0. The planes are there several times, with margins.
    static func avif(_ layout: PixelLayout, pixels: Int, _ options: OutputOptions) -> Int {
        let isFull = options.lossless || options.chroma == .full
        // In halves.
        var samples = layout.channels == 1 ? 2 : isFull ? 6 : 3
        if layout.hasAlpha { samples += 2 }
        let bytesPerSample = options.depth(of: layout) > 8 ? 2 : 1
        let search =
            switch options.effort {
            case ...2: 0
            case ...4: 12
            case ...6: 22
            default: 34
            }
        let file = options.lossless || options.quality > 90 ? 8 : 0
        let bytes = 14 + search + file + 6 * samples * bytesPerSample
        // Where parts of a drawing or a screen repeat, it has a table of them, if Sources/CodecHEIF/aom.c permits that.
        let searches = options.effort >= Int(DARKROOM_CODEC_REPETITION_EFFORT)
        let repetition = searches ? 120 * pixels + 64 << 20 : 0
        let all = bytes * extended(layout, pixels, by: 56) + repetition + constant
        // dav1d, which reads the trials, and its threads.
        let reading = options.search?.ssim == nil ? 0 : 48 << 20
        let files = samples * bytesPerSample
        return all + reading + Self.search(layout, pixels, files: files, options)
    }

    /// What a search has besides: files, and to compare them the brightness of the picture and some rows. A file is read after
    /// the memory of its encoder has been given back.
    ///
    /// - Parameter files: the most bytes of files at once, for each pixel.
    private static func search(
        _ layout: PixelLayout, _ pixels: Int, files: Int, _ options: OutputOptions
    ) -> Int {
        guard let search = options.search else { return 0 }
        let comparison = search.ssim == nil ? 0 : pixels + darkroom_ssim_bytes(UInt32(layout.width))
        return files * pixels + comparison + layout.width
    }

    /// libjxl 0.7.0. It has the picture as floats, and compares it with what comes out from effort 8 on. Where pieces of a
    /// screen or a drawing repeat, it has a list of pixels to visit, up to ten for each pixel and in two copies while it
    /// grows, if Sources/CodecJXL/encode.c permits that.
    static func jpegXL(_ layout: PixelLayout, pixels: Int, _ options: OutputOptions) -> Int {
        let bytes =
            options.lossless ? losslessJPEGXL(layout, options) : lossyJPEGXL(layout, options)
        return bytes * extended(layout, pixels, by: 40) + 10 << 20
    }

    /// Bytes a pixel.
    private static func losslessJPEGXL(_ layout: PixelLayout, _ options: OutputOptions) -> Int {
        if options.effort >= Int(DARKROOM_CODEC_PATCHES_EFFORT) {
            return max(40 + 32 * layout.bytesPerPixel, 290)
        }
        // From effort 5 on, it learns from samples of two bytes in another form.
        let wide = layout.depth == 16 ? (options.effort >= 5 ? 13 : 4) : 0
        let bytes = options.effort >= 7 ? (30, 28) : (24, 24)
        return bytes.0 + (bytes.1 + wide) * layout.channels
    }

    /// Bytes a pixel.
    private static func lossyJPEGXL(_ layout: PixelLayout, _ options: OutputOptions) -> Int {
        if options.effort >= Int(DARKROOM_CODEC_PATCHES_EFFORT) { return 340 }
        return 66 + 10 * layout.channels + (layout.depth == 16 ? 6 : 0)
            + (options.quality > 90 ? 14 : 0)
    }

    /// libtiff 4.5.0. It has a strip, which is at least a row, before and after its compression.
    static func tiff(_ layout: PixelLayout) -> Int { 4 * layout.bytesPerRow + constant }

    private static let constant = 4 << 20

    /// The pixels with a margin.
    private static func extended(_ layout: PixelLayout, _ pixels: Int, by margin: Int) -> Int {
        pixels + margin * (layout.width + layout.height) + margin * margin
    }
}
