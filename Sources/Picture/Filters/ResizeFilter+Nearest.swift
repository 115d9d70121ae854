import CDarkroomPixels

extension ResizeFilter {
    /// Resizes by taking for each output pixel the input pixel in which its centre lies. Pixels are copied
    /// as they are.
    static func nearest(
        _ plan: ResizePlan, _ upstream: any Stage
    ) throws(PictureError) -> any Stage {
        let (input, window) = (upstream.layout, plan.window)
        let layout = input.with(width: window.width, height: window.height)
        let columns = ResampleAxis.nearest(
            input: input.width, scaled: plan.scaled.width, window: window.columns)
        let rows = ResampleAxis.nearest(
            input: input.height, scaled: plan.scaled.height, window: window.rows)
        let feed = RowFeed(upstream)
        // The input row at hand, its columns picked. One row may be used for several.
        let picked = try FilterBuffer<UInt8>(count: layout.bytesPerRow)
        var pickedRow: Int?
        return try RowStage(layout, end: feed.finish) { (row: Int, start) throws(PictureError) in
            let wanted = Int(rows[row])
            if pickedRow != wanted {
                try feed.skip(to: wanted)
                let source = try feed.rows(atMost: 1).start
                darkroom_gather(source, picked.start, layout.width, layout.bytesPerPixel, columns)
                pickedRow = wanted
            }
            start.copyMemory(from: picked.start, byteCount: layout.bytesPerRow)
        }
    }
}
