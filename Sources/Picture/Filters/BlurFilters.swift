import CDarkroomPixels

/// The filters that need a blurred picture.
enum BlurFilters {
    /// Gaussian blur.
    static func blur(
        sigma: Double, _ upstream: any Stage, _ memory: PictureMemory
    ) throws(PictureError) -> any Stage {
        let rows = try BlurredRows(sigma: sigma, upstream, memory, for: "blur")
        return try RowStage(upstream.layout, end: rows.finish) {
            (_: Int, start) throws(PictureError) in
            try rows.next(to: start)
        }
    }

    /// Unsharp mask. If colour differs from its blurred value by more than `threshold` (of full scale), `amount` times
    /// the difference is added. Alpha stays unchanged.
    static func sharpen(
        sigma: Double, amount: Double, threshold: Double, _ upstream: any Stage,
        _ memory: PictureMemory
    ) throws(PictureError) -> any Stage {
        let layout = upstream.layout
        let least = threshold * layout.fullScale
        let rows = try BlurredRows(sigma: sigma, gain: amount, upstream, memory, for: "sharpen")
        return try RowStage(layout, end: rows.finish) { (_: Int, start) throws(PictureError) in
            let row = try rows.next()
            darkroom_sharpen(
                row.source, row.blurred, start, layout.width, Int32(layout.channels),
                Int32(layout.depth), amount, least)
        }
    }
}
