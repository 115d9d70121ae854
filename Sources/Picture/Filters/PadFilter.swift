import CDarkroomPixels

/// Places the picture on a larger canvas of one colour.
///
/// The picture gets alpha if the colour is not opaque, and becomes RGB if it is gray and the colour is not. The colour
/// does not show through transparent parts of the picture.
enum PadFilter {
    /// The stage of the filter `pad`.
    ///
    /// - Throws: `tooManyPixels` if the result would exceed `limits`.
    static func make(
        _ pad: Filter.Pad, _ upstream: any Stage, _ limits: PictureLimits
    ) throws(PictureError) -> any Stage {
        let input = upstream.layout
        let canvas = pad.canvas(for: input)
        let margin: (x: Int, y: Int)
        switch pad.size {
        case .margins(let top, _, _, let left): margin = (left, top)
        case .atLeast(_, _, let gravity):
            margin = gravity.corner(
                of: input.width, input.height, within: canvas.width, canvas.height)
        }
        if canvas == ResizePlan.Size(width: input.width, height: input.height) { return upstream }
        try limits.check(width: canvas.width, height: canvas.height, place: "pad")
        return try stage(to: canvas, at: margin, with: pad.background, upstream)
    }

    static func stage(
        to canvas: ResizePlan.Size, at margin: (x: Int, y: Int), with colour: Colour,
        _ upstream: any Stage
    ) throws(PictureError) -> any Stage {
        let input = upstream.layout
        let hasAlpha = input.hasAlpha || colour.alpha < 255
        // The colour of a fully transparent pixel is not visible.
        let isGray = input.isGray && (colour.alpha == 0 || colour.isGray)
        let layout = PixelLayout(
            width: canvas.width, height: canvas.height,
            channels: (isGray ? 1 : 3) + (hasAlpha ? 1 : 0), depth: input.depth)
        let pixel = colour.pixel(isGray: isGray, hasAlpha: hasAlpha, depth: input.depth)
        func fill(_ start: UnsafeMutableRawPointer, _ pixels: Int) {
            darkroom_fill(start, pixels, layout.bytesPerPixel, pixel)
        }
        let feed = RowFeed(upstream)
        return try RowStage(layout, end: feed.finish) { (row: Int, start) throws(PictureError) in
            guard (margin.y..<margin.y + input.height).contains(row) else {
                return fill(start, layout.width)
            }
            let source = try feed.rows(atMost: 1).start
            let picture = start + margin.x * layout.bytesPerPixel
            let right = picture + input.width * layout.bytesPerPixel
            fill(start, margin.x)
            darkroom_expand(
                source, Int32(input.channels), picture, Int32(layout.channels), input.width,
                Int32(layout.depth), .max)
            fill(right, layout.width - margin.x - input.width)
        }
    }
}

extension Filter.Pad {
    /// The size of the result.
    func canvas(for input: PixelLayout) -> ResizePlan.Size {
        switch size {
        case .margins(let top, let right, let bottom, let left):
            ResizePlan.Size(width: left + input.width + right, height: top + input.height + bottom)
        case .atLeast(let width, let height, _):
            ResizePlan.Size(
                width: max(width ?? 0, input.width), height: max(height ?? 0, input.height))
        }
    }
}
