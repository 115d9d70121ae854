import CDarkroomPixels

/// Blurs row by row with a sum of cosines: sliding sums down the columns, then along the row, for four rows at a time.
final class CosineBlur {
    private let layout: PixelLayout
    private var kernel = darkroom_cosines()
    /// The sliding sums of each sample.
    private let state: FilterBuffer<Double>
    /// Four rows between the passes, and four finished rows.
    private let between: FilterBuffer<Double>
    private let done: FilterBuffer<Double>
    private var entering: [UnsafeRawPointer?] = []
    private var leaving: [UnsafeRawPointer?] = []

    private static let rowsAtOnce = Int(DARKROOM_COSINE_ROWS)

    /// The window of the first of the rows that are blurred together begins with a row that leaves it. The window of
    /// the last one reaches further down.
    static func windowRows(_ series: CosineSeries) -> Int { 2 * series.radius + 1 + rowsAtOnce }

    init(
        _ series: CosineSeries, _ layout: PixelLayout, _ memory: PictureMemory,
        for operation: String
    ) throws(PictureError) {
        self.layout = layout
        darkroom_cosines_make(&kernel, series.radius, series.weights, series.weights.count)
        // Vectors have four samples.
        let samples = (layout.width * layout.channels + 3) / 4 * 4
        state = try FilterBuffer(
            count: samples * (2 + 2 * series.weights.count), of: memory, for: operation)
        between = try FilterBuffer(count: samples * Self.rowsAtOnce, of: memory, for: operation)
        done = try FilterBuffer(count: samples * Self.rowsAtOnce, of: memory, for: operation)
    }

    /// Writes row `row` of the window's picture, blurred, to `out`. The rows must be requested in their order.
    func blur(
        _ row: Int, of window: RowWindow, to out: UnsafeMutablePointer<Float>
    ) throws(PictureError) {
        if row == 0 { try start(window) }
        if row % Self.rowsAtOnce == 0 {
            try step(to: row, window)
            darkroom_cosine_rows(
                between.start, &kernel, done.start, layout.width, Int32(layout.channels))
        }
        darkroom_cosine_row(done.start, row % Self.rowsAtOnce, out, layout.width * layout.channels)
    }

    /// The window begins above the picture, where all rows are equal to the first one.
    private func start(_ window: RowWindow) throws(PictureError) {
        try window.load(through: 0)
        darkroom_cosine_start(
            state.start, &kernel, window[0], layout.width, Int32(layout.channels),
            Int32(layout.depth))
        let above = (kernel.radius + Self.rowsAtOnce - 1) / Self.rowsAtOnce
        for step in -above..<0 { try self.step(to: step * Self.rowsAtOnce, window) }
    }

    /// Moves the window down until its middle is at `row`, then at each of the next rows.
    private func step(to row: Int, _ window: RowWindow) throws(PictureError) {
        let rows = row..<row + Self.rowsAtOnce
        try window.load(through: row + Self.rowsAtOnce - 1 + kernel.radius)
        entering.removeAll(keepingCapacity: true)
        leaving.removeAll(keepingCapacity: true)
        for middle in rows {
            entering.append(window[middle + kernel.radius])
            leaving.append(window[middle - 1 - kernel.radius])
        }
        darkroom_cosine_step(
            state.start, &kernel, entering, leaving, between.start, layout.width,
            Int32(layout.channels), Int32(layout.depth))
    }
}
