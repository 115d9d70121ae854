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
    private let down: ResampleAxis
    private let downWeights: IntegerWeights
    private let across: RowPass
    /// The input rows from which the present output row is made, from the top.
    private var taps: [UnsafePointer<UInt8>?] = []

    /// The pass along the rows.
    private enum RowPass {
        case integers(PlanePass)
        case floats(FloatPass)
    }

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
        self.down = down
        downWeights = down.integers(largestShift: 21)
        window = try RowWindow(upstream, rows: down.longest, memory, for: "resize")
        output = try OutputBands(layout, end: window.finish)
        let width = upstream.layout.width
        self.across =
            across.longest <= PlanePass.longestKernel
            ? .integers(try PlanePass(across, width: width, channels: layout.channels))
            : .floats(try FloatPass(across, width: width, channels: layout.channels))
    }

    func nextBand() throws(PictureError) -> Band? {
        try output.next { (row: Int, start) throws(PictureError) in
            let rows = down.taps(row)
            try window.load(rows)
            taps.removeAll(keepingCapacity: true)
            for row in rows { taps.append(window[row].assumingMemoryBound(to: UInt8.self)) }
            downWeights.values.withUnsafeBufferPointer { weights in
                guard let weights = weights.baseAddress.map({ $0 + down.offsets[row] }) else {
                    return
                }
                switch across {
                case .integers(let pass): pass.make(start, taps, weights, downWeights.shift)
                case .floats(let pass): pass.make(start, taps, weights, downWeights.shift)
                }
            }
        }
    }
}

/// Makes a row of the result with integers: a plane for each channel between the passes, with 6 fractional bits.
private struct PlanePass {
    /// With more weights, their rounding could be visible: each is wrong by up to 2^-16 (resample_8.c).
    static let longestKernel = 64
    /// The kernel processes as many weights at a time.
    private static let step = 16

    private let first: [UInt32]
    /// For each pixel as many weights, the last ones 0.
    private let weights: [Int16]
    private let taps: Int
    private let shift: Int
    private let width: Int
    private let channels: Int
    /// The samples from the beginning of a plane to that of the next one. So many weights can be applied beyond its end.
    private let plane: Int
    private let planes: FilterBuffer<Int16>

    init(_ axis: ResampleAxis, width: Int, channels: Int) throws(PictureError) {
        let exact = axis.integers(largestShift: 15)
        let taps = (axis.longest + Self.step - 1) / Self.step * Self.step
        var weights = [Int16](repeating: 0, count: axis.count * taps)
        for pixel in 0..<axis.count {
            for (place, weight) in (axis.offsets[pixel]..<axis.offsets[pixel + 1]).enumerated() {
                weights[pixel * taps + place] = exact.values[weight]
            }
        }
        first = axis.first
        self.weights = weights
        self.taps = taps
        shift = exact.shift
        self.width = width
        self.channels = channels
        plane = width + taps
        planes = try FilterBuffer(count: plane * channels)
        planes.start.update(repeating: 0, count: plane * channels)
    }

    func make(
        _ out: UnsafeMutableRawPointer, _ rows: [UnsafePointer<UInt8>?],
        _ rowWeights: UnsafePointer<Int16>, _ rowShift: Int
    ) {
        darkroom_blend_planes_8(
            rows, rowWeights, rows.count, Int32(rowShift), planes.start, plane, width,
            Int32(channels))
        darkroom_convolve_planes_8(
            planes.start, plane, first, weights, taps, Int32(shift),
            out.assumingMemoryBound(to: UInt8.self), first.count, Int32(channels))
    }
}

/// The same with floats between the passes, for kernels of any length.
private struct FloatPass {
    private let axis: ResampleAxis
    private let channels: Int
    private let blended: FilterBuffer<Float>
    private let resampled: FilterBuffer<Float>

    init(_ axis: ResampleAxis, width: Int, channels: Int) throws(PictureError) {
        self.axis = axis
        self.channels = channels
        blended = try FilterBuffer(count: width * channels)
        resampled = try FilterBuffer(count: axis.count * channels)
    }

    func make(
        _ out: UnsafeMutableRawPointer, _ rows: [UnsafePointer<UInt8>?],
        _ rowWeights: UnsafePointer<Int16>, _ rowShift: Int
    ) {
        darkroom_blend_8(
            rows, rowWeights, rows.count, Int32(rowShift), blended.start, blended.count)
        darkroom_convolve(
            blended.start, resampled.start, axis.count, Int32(channels), axis.first, axis.offsets,
            axis.weights)
        darkroom_store(resampled.start, out, axis.count, Int32(channels), 8)
    }
}
