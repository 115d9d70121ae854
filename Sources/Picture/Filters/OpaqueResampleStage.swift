import CDarkroomPixels

/// Resizes opaque pictures of 8 bits, down the columns first, then along the rows.
///
/// The result equals that of `ResampleStage`, except for rounding (each weight is an integer of the unit 2^-shift). It
/// is several times as fast: if a picture is reduced, most of the work is in the first pass, and down the columns this
/// pass computes 32 samples at a time, directly from the bytes. But the stage holds input rows: as many as the kernel
/// needs.
final class OpaqueResampleStage: Stage {
    let layout: PixelLayout
    private let window: RowWindow
    private let output: OutputBands
    private let across: ResampleAxis
    private let down: ResampleAxis
    private let downWeights: IntegerWeights
    private let blended: FilterBuffer<Float>
    private let resampled: FilterBuffer<Float>
    /// The input rows from which the present output row is made, from the top.
    private var taps: [UnsafePointer<UInt8>?] = []

    /// The maximum memory for input rows: about sixty bands. With it, a picture of 100 million pixels can be reduced to
    /// a thirtieth of its width.
    static let windowBytes = 8 << 20

    /// With more rows, the rounding of the weights would be visible.
    private static let longestKernel = 1024

    /// Whether this stage supports the layout.
    static func suits(_ input: PixelLayout, down: ResampleAxis) -> Bool {
        input.depth == 8 && !input.hasAlpha && down.longest <= longestKernel
            && down.longest * input.bytesPerRow <= windowBytes
    }

    /// - Parameters:
    ///   - layout: the layout of the result.
    init(
        _ layout: PixelLayout, across: ResampleAxis, down: ResampleAxis, _ upstream: any Stage,
        _ memory: PictureMemory
    ) throws(PictureError) {
        self.layout = layout
        self.across = across
        self.down = down
        downWeights = IntegerWeights(down.weights, groups: down.offsets, largestShift: 21)
        window = try RowWindow(upstream, rows: down.longest, memory, for: "resize")
        output = try OutputBands(layout)
        blended = try FilterBuffer(count: upstream.layout.width * layout.channels)
        resampled = try FilterBuffer(count: layout.width * layout.channels)
    }

    func nextBand() throws(PictureError) -> Band? {
        let band = try output.next { (row: Int, start) throws(PictureError) in
            try blend(row)
            let (channels, depth) = (Int32(layout.channels), Int32(layout.depth))
            darkroom_convolve(
                blended.start, resampled.start, layout.width, channels, across.first,
                across.offsets, across.weights)
            darkroom_store(resampled.start, start, layout.width, channels, depth)
        }
        if band == nil { try window.finish() }
        return band
    }

    private func blend(_ row: Int) throws(PictureError) {
        let rows = down.taps(row)
        try window.load(rows)
        taps.removeAll(keepingCapacity: true)
        for row in rows { taps.append(window[row].assumingMemoryBound(to: UInt8.self)) }
        downWeights.values.withUnsafeBufferPointer { weights in
            darkroom_blend_8(
                taps, weights.baseAddress.map { $0 + down.offsets[row] }, rows.count,
                Int32(downWeights.shift), blended.start, blended.count)
        }
    }
}
