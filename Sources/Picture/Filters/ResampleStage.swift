import CDarkroomPixels

/// Resizes by convolution, along the rows first, then down the columns.
///
/// Each input row is converted to floats (colour multiplied by alpha), resampled to the output's width and kept in a
/// ring that has as many rows as the kernel needs. Nothing is rounded or clipped between these steps.
final class ResampleStage: Stage {
    let layout: PixelLayout
    private let feed: RowFeed
    private let output: OutputBands
    private let across: ResampleAxis
    private let down: ResampleAxis
    private let transfer: SRGBTables?
    private let loaded: FilterBuffer<Float>
    private let ring: FilterBuffer<Float>
    private let ringRows: Int
    private let blended: FilterBuffer<Float>
    /// The ring's rows from which the present output row is made, from the top.
    private var taps: [UnsafePointer<Float>?] = []

    /// The stage that resizes by `plan`: this one, or the faster one if it supports the layout.
    static func make(
        _ plan: ResizePlan, _ resize: Filter.Resize, _ upstream: any Stage, _ memory: PictureMemory
    ) throws(PictureError) -> any Stage {
        let input = upstream.layout
        let window = plan.window
        let layout = input.with(width: window.width, height: window.height)
        let across = ResampleAxis.of(
            ResampleAxis.Key(
                input: resize.source?.across ?? PictureSide(input.width),
                scaled: plan.scaled.width, window: window.columns, kernel: resize.kernel))
        let down = ResampleAxis.of(
            ResampleAxis.Key(
                input: resize.source?.down ?? PictureSide(input.height),
                scaled: plan.scaled.height, window: window.rows, kernel: resize.kernel))
        if !resize.linear, OpaqueResampleStage.suits(input, down: down) {
            return try OpaqueResampleStage(layout, across: across, down: down, upstream, memory)
        }
        return try ResampleStage(
            layout, across: across, down: down, linear: resize.linear, upstream, memory)
    }

    /// - Parameters:
    ///   - layout: the layout of the result.
    init(
        _ layout: PixelLayout, across: ResampleAxis, down: ResampleAxis, linear: Bool,
        _ upstream: any Stage, _ memory: PictureMemory
    ) throws(PictureError) {
        let input = upstream.layout
        self.layout = layout
        self.across = across
        self.down = down
        feed = RowFeed(upstream)
        output = try OutputBands(layout, end: feed.finish)
        transfer = linear ? SRGBTables.sRGB(depth: input.depth) : nil
        ringRows = down.longest
        loaded = try FilterBuffer(count: input.width * input.channels)
        let samples = layout.width * layout.channels
        ring = try FilterBuffer(count: samples * ringRows, of: memory, for: "resize")
        blended = try FilterBuffer(count: samples)
    }

    func nextBand() throws(PictureError) -> Band? {
        try output.next { (row: Int, start) throws(PictureError) in
            let rows = down.taps(row)
            try load(rows)
            taps.removeAll(keepingCapacity: true)
            for row in rows { taps.append(UnsafePointer(slot(row))) }
            down.weights.withUnsafeBufferPointer { weights in
                darkroom_blend(
                    taps, weights.baseAddress.map { $0 + down.offsets[row] }, rows.count,
                    blended.start, layout.width * layout.channels)
            }
            store(to: start)
        }
    }

    private func slot(_ row: Int) -> UnsafeMutablePointer<Float> {
        ring.at(row % ringRows * layout.width * layout.channels)
    }

    /// Loads the ring up to `rows`. Rows that no output row needs are not resampled.
    private func load(_ rows: Range<Int>) throws(PictureError) {
        try feed.skip(to: rows.lowerBound)
        while feed.taken < rows.upperBound {
            let row = feed.taken
            let start = try feed.rows(atMost: 1).start
            let (channels, depth) = (Int32(layout.channels), Int32(layout.depth))
            darkroom_load(start, loaded.start, feed.layout.width, channels, depth, transfer?.light)
            darkroom_convolve(
                loaded.start, slot(row), layout.width, channels, across.first, across.offsets,
                across.weights)
        }
    }

    private func store(to start: UnsafeMutableRawPointer) {
        let (channels, depth) = (Int32(layout.channels), Int32(layout.depth))
        if let transfer {
            darkroom_store_light(
                blended.start, start, layout.width, channels, depth, transfer.thresholds,
                transfer.starts, UInt32(transfer.starts.count - 1))
        } else {
            darkroom_store(blended.start, start, layout.width, channels, depth)
        }
    }
}
