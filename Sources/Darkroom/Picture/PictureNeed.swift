/// How much memory a picture takes at most on its way, told from its header and its filters alone.
///
/// What is held of a picture whole or in windows of rows counts against `PictureLimits.wholePictureBytes` when
/// it is taken, see `PictureMemory`; here the same is foreseen, and what is in memory besides: bands, rows,
/// strips. The estimate is on the high side. What follows a `trim` is estimated as if it cut off nothing.
enum PictureNeed {
    /// Where a file's buffers, the decoder's tables, colour profiles and the like find room, in bytes.
    static let fixedShare = 4 << 20

    /// In bytes. Opens the images that are laid over the picture, for their headers.
    static func bytes(
        of reader: any PictureReader, filters: [Filter], options: OutputOptions,
        limits: PictureLimits, cores: Cores, openImage: StageContext.ImageOpener
    ) -> Int {
        var layout = reader.layout
        // The reader's own band, and those read ahead.
        var passing = band(layout) * (1 + ReadAhead.slots)
        var held = reader.heldBytes
        for filter in filters {
            if case .overlay(let overlay) = filter {
                held += other(overlay, over: layout, limits, openImage)
            } else {
                held += window(of: filter, layout)
            }
            layout = result(of: filter, layout)
            passing += band(layout) + rows(layout)
        }
        switch options.format {
        case .jpeg: held += JPEGWriter.heldBytes(layout, options)
        case .png:
            passing += StripEncoder.mostBytes(
                layout, options.compression.effort, cores: cores)
        }
        return fixedShare + passing + min(held, limits.wholePictureBytes)
    }

    /// A band, which is the largest where turned rows are gathered.
    private static func band(_ layout: PixelLayout) -> Int {
        max(layout.rowsPerBand * layout.bytesPerRow, min(32 * layout.bytesPerRow, 8 << 20))
    }

    /// The few rows in floating point that many filters work in.
    private static func rows(_ layout: PixelLayout) -> Int {
        4 * layout.width * layout.channels * MemoryLayout<Float>.stride
    }

    /// What a filter keeps of the picture that it is given.
    private static func window(of filter: Filter, _ layout: PixelLayout) -> Int {
        switch filter {
        case .trim, .rotate, .flip: layout.bytes
        case .blur(let sigma), .sharpen(let sigma, _, _):
            blurred(sigma, layout)
        case .resize(let resize): resampled(resize, layout)
        default: 0
        }
    }

    /// A Gaussian is cut off at five standard deviations or earlier, and its sums are at most a dozen numbers of
    /// eight bytes for each sample of a row.
    private static func blurred(_ sigma: Double, _ layout: PixelLayout) -> Int {
        let radius = Int((5 * sigma).rounded(.up)) + 2
        let samples = (layout.width + 2 * radius) * layout.channels
        return min(layout.height, 2 * radius + 4) * layout.bytesPerRow + 16 * 8 * samples
    }

    /// As many rows, in floating point, as the widest kernel reaches over.
    private static func resampled(_ resize: Filter.Resize, _ layout: PixelLayout) -> Int {
        let scaled = ResizePlan(resize, width: layout.width, height: layout.height).scaled
        let scale = max(1, layout.height / scaled.height + 1)
        let rows = min(layout.height, 6 * scale + 4)
        return rows * max(layout.width, scaled.width) * layout.channels
            * MemoryLayout<Float>.stride
    }

    /// What is seen of another image, with alpha, and what its reader holds meanwhile. One that cannot be
    /// opened is told of where it is to be read.
    private static func other(
        _ overlay: Filter.Overlay, over layout: PixelLayout, _ limits: PictureLimits,
        _ openImage: StageContext.ImageOpener
    ) -> Int {
        do throws(PictureError) {
            let image = try openImage(overlay.from)
            let reader = try PictureFile.open(
                image.descriptor.file, name: image.name, limits: limits, checkpoint: { true })
            let size = reader.layout
            let pixels = min(size.width, layout.width) * min(size.height, layout.height)
            return pixels * 4 * size.depth / 8 + reader.heldBytes + band(size)
        } catch {
            return 0
        }
    }

    /// The layout after a filter. Of channels as many as there may be.
    private static func result(of filter: Filter, _ layout: PixelLayout) -> PixelLayout {
        var result = layout
        switch filter {
        case .rotate(.quarter), .rotate(.threeQuarters):
            (result.width, result.height) = (layout.height, layout.width)
        case .resize(let resize):
            let canvas = ResizePlan(resize, width: layout.width, height: layout.height).canvas
            (result.width, result.height) = (canvas.width, canvas.height)
            result.channels = 4
        case .crop(.rectangle(_, _, let width, let height)),
            .crop(.gravity(_, let width, let height)):
            (result.width, result.height) = (min(width, layout.width), min(height, layout.height))
        case .pad(let pad):
            let canvas = PadStage.plan(pad, layout).canvas
            (result.width, result.height) = (canvas.width, canvas.height)
            result.channels = 4
        case .opacity, .overlay: result.channels = 4
        default: break
        }
        return result
    }
}
