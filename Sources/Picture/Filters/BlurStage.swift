import CDarkroomPixels

/// Gaussian blur.
final class BlurStage: Stage {
    let layout: PixelLayout
    private let rows: BlurredRows
    private let output: OutputBands

    init(sigma: Double, _ upstream: any Stage, _ memory: PictureMemory) throws(PictureError) {
        layout = upstream.layout
        rows = try BlurredRows(sigma: sigma, upstream, memory, for: "blur")
        output = try OutputBands(layout, end: rows.finish)
    }

    func nextBand() throws(PictureError) -> Band? {
        try output.next { (_: Int, start) throws(PictureError) in
            try rows.next(to: start)
        }
    }
}

/// Unsharp mask. If colour differs from its blurred value by more than `threshold` (of full scale), `amount` times the
/// difference is added. Alpha stays unchanged.
final class SharpenStage: Stage {
    let layout: PixelLayout
    private let rows: BlurredRows
    private let output: OutputBands
    private let amount: Double
    private let threshold: Double

    init(
        sigma: Double, amount: Double, threshold: Double, _ upstream: any Stage,
        _ memory: PictureMemory
    ) throws(PictureError) {
        layout = upstream.layout
        rows = try BlurredRows(sigma: sigma, gain: amount, upstream, memory, for: "sharpen")
        output = try OutputBands(layout, end: rows.finish)
        self.amount = amount
        self.threshold = threshold * layout.fullScale
    }

    func nextBand() throws(PictureError) -> Band? {
        try output.next { (_: Int, start) throws(PictureError) in
            let row = try rows.next()
            darkroom_sharpen(
                row.source, row.blurred, start, layout.width, Int32(layout.channels),
                Int32(layout.depth), amount, threshold)
        }
    }
}
