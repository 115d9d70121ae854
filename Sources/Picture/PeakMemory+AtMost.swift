/// Steps after `trim`: only the maximum size of the picture is known.
extension PeakMemory {
    mutating func add(_ filter: Filter, atMost pixels: Int) throws(PictureError) {
        switch filter {
        case .resize(let resize):
            try add(resize, atMost: pixels)
        case .pad(let pad):
            try add(pad)
        case .crop:
            // If the rectangle is within the picture, the size is known again.
            try make(filter)
            mostPixels = nil
        case .rotate(let rotation):
            try hold(pixels * layout.bytesPerPixel, for: "rotate")
            if rotation != .half {
                (layout.width, layout.height) = (layout.height, layout.width)
            }
        case .flip:
            try hold(pixels * layout.bytesPerPixel, for: "flip")
        default:
            do throws(PictureError) {
                try make(filter)
            } catch {
                // A blur's window is too high for a picture of the maximum size. The size does not change.
                isUnknown = true
            }
        }
    }

    private mutating func add(
        _ resize: Filter.Resize, atMost pixels: Int
    ) throws(PictureError) {
        let bound = ResizeBound(
            resize, width: layout.width, height: layout.height, limits: limits)
        if resize.kernel != .nearest {
            // The floats of one stage, or the rows of the other.
            let rows = min(pixels * layout.bytesPerPixel, OpaqueResampleStage.windowBytes)
            let floats = bound.ringPixels * layout.channels * MemoryLayout<Float>.stride
            try hold(max(rows, floats), for: "resize")
        }
        if resize.fit == .contain, resize.width != nil, resize.height != nil {
            layout.channels = try padded(with: resize.background)
        }
        (layout.width, layout.height) = (bound.width, bound.height)
        mostPixels = bound.isExact ? nil : bound.pixels
    }

    private mutating func add(_ pad: Filter.Pad) throws(PictureError) {
        var (width, height) = (layout.width, layout.height)
        switch pad.size {
        case .margins(let top, let right, let bottom, let left):
            width += left + right
            height += top + bottom
        case .atLeast(let leastWidth, let leastHeight, _):
            width = max(width, leastWidth ?? 0)
            height = max(height, leastHeight ?? 0)
        }
        layout.channels = try padded(with: pad.background)
        (layout.width, layout.height) = (min(width, limits.side), min(height, limits.side))
        mostPixels = min(layout.width * layout.height, limits.pixels)
    }

    /// The number of channels of the picture on a larger canvas.
    private func padded(with background: Colour) throws(PictureError) -> Int {
        var pixel = layout
        (pixel.width, pixel.height) = (1, 1)
        return try PadStage(
            to: ResizePlan.Size(width: 2, height: 1), at: (0, 0), with: background,
            BlankStage(pixel)
        ).layout.channels
    }
}
