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
            if rotation != .half { (layout.width, layout.height) = (layout.height, layout.width) }
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

    private mutating func add(_ resize: Filter.Resize, atMost pixels: Int) throws(PictureError) {
        let bound = ResizeBound(resize, width: layout.width, height: layout.height, limits: limits)
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
        let canvas = pad.canvas(for: layout)
        layout.channels = try padded(with: pad.background)
        layout.width = min(canvas.width, limits.side)
        layout.height = min(canvas.height, limits.side)
        mostPixels = min(layout.width * layout.height, limits.pixels)
    }

    /// The number of channels of the picture on a larger canvas.
    private func padded(with background: Colour) throws(PictureError) -> Int {
        try PadFilter.stage(
            to: ResizePlan.Size(width: 2, height: 1), at: (0, 0), with: background,
            BlankStage(layout.with(width: 1, height: 1))
        ).layout.channels
    }
}
