import CPixels

/// Blurs row by row by a mixture of box filters: exact running sums down the columns, then along the row.
final class BoxBlur {
    private let layout: PixelLayout
    private let mixture: BoxMixture
    /// Three rows of sums for each of the two kernels.
    private let sums: FilterMemory<UInt64>
    private let scratch: FilterMemory<Double>

    /// The running sums also need the three rows that have just left the boxes.
    static func windowRows(_ mixture: BoxMixture) -> Int { 2 * mixture.radius + 4 }

    init(
        _ mixture: BoxMixture, _ layout: PixelLayout, _ memory: PictureMemory,
        for operation: String
    ) throws(PictureError) {
        self.mixture = mixture
        self.layout = layout
        let samples = layout.width * layout.channels
        sums = try FilterMemory(count: 6 * samples, of: memory, for: operation)
        scratch = try FilterMemory(
            count: 3 * samples + (2 * mixture.radius + 3) * layout.channels, of: memory,
            for: operation)
    }

    /// Writes row `row` of the window's picture, blurred, to `out`. Rows come in their order.
    func blur(
        _ row: Int, of window: RowWindow, to out: UnsafeMutablePointer<Float>
    ) throws(PictureError) {
        try step(mixture.narrow, narrowSums, to: row, window)
        try step(mixture.wide, wideSums, to: row, window)
        darkroom_boxes_row(
            narrowSums, wideSums, mixture.narrow + mixture.wide, mixture.share, scratch.start, out,
            layout.width, Int32(layout.channels))
    }

    private var narrowSums: UnsafeMutablePointer<UInt64> { sums.start }
    private var wideSums: UnsafeMutablePointer<UInt64> {
        sums.at(3 * layout.width * layout.channels)
    }

    /// Moves the boxes of one kernel down to where `row` is in their middle.
    private func step(
        _ widths: [Int], _ sums: UnsafeMutablePointer<UInt64>, to row: Int, _ window: RowWindow
    ) throws(PictureError) {
        let radius = BoxMixture.radius(widths)
        if row == 0 {
            // The boxes begin above the picture, where all rows are like the first.
            try window.load(through: 0)
            darkroom_box_start(
                sums, window[0], widths, layout.width, Int32(layout.channels), Int32(layout.depth))
        }
        let (a, b, c) = (widths[0], widths[1], widths[2])
        for newest in (row == 0 ? 0 : row + radius)...row + radius {
            try window.load(through: newest)
            let rows = [0, a, b, c, a + b, a + c, b + c, a + b + c].map {
                Optional(window[newest - $0])
            }
            darkroom_box_step(
                sums, rows, layout.width, Int32(layout.channels), Int32(layout.depth))
        }
    }
}
