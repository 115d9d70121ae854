import CDarkroomPixels

/// Resizes by taking for each output pixel the input pixel in which its centre lies. Pixels are copied
/// as they are.
final class NearestStage: Stage {
    let layout: PixelLayout
    private let feed: RowFeed
    private let output: OutputBands
    private let columns: [UInt32]
    private let rows: [UInt32]
    /// The input row at hand, its columns picked. One row may be used for several.
    private let picked: FilterBuffer<UInt8>
    private var pickedRow: Int?

    init(_ plan: ResizePlan, _ upstream: any Stage) throws(PictureError) {
        let input = upstream.layout
        let window = plan.window
        layout = input.with(width: window.width, height: window.height)
        feed = RowFeed(upstream)
        output = try OutputBands(layout, end: feed.finish)
        columns = ResampleAxis.nearest(
            input: input.width, scaled: plan.scaled.width, window: window.columns)
        rows = ResampleAxis.nearest(
            input: input.height, scaled: plan.scaled.height, window: window.rows)
        picked = try FilterBuffer(count: layout.bytesPerRow)
    }

    func nextBand() throws(PictureError) -> Band? {
        try output.next { (row: Int, start) throws(PictureError) in
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
