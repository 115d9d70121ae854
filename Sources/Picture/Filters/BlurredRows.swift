import CDarkroomPixels
import Glibc

/// A window of a picture's unchanged rows. The first and the last row stand for all rows above and below the picture.
final class RowWindow {
    private let feed: RowFeed
    private let memory: FilterBuffer<UInt8>
    private let capacity: Int
    /// Rows begin in different sets of a core's cache. If they all began in the same one, as those of some widths would,
    /// a walk down a column would find no row there.
    private let stride: Int

    /// - Parameter rows: how many rows, up to the last loaded one, stay in the window.
    init(
        _ upstream: any Stage, rows: Int, _ budget: PictureMemory, for operation: String
    ) throws(PictureError) {
        feed = RowFeed(upstream)
        capacity = min(rows, feed.layout.height)
        stride = Self.stride(of: feed.layout.bytesPerRow)
        memory = try FilterBuffer(count: capacity * stride, of: budget, for: operation)
    }

    /// An odd number of cache lines, if the row is so long that its end hardly matters.
    private static func stride(of bytesPerRow: Int) -> Int {
        let (line, long) = (64, 1024)
        return bytesPerRow < long ? bytesPerRow : ((bytesPerRow + line - 1) / line | 1) * line
    }

    /// Loads `rows`, which begin no earlier than the rows loaded last. Rows before them that were not loaded are
    /// skipped.
    func load(_ rows: Range<Int>) throws(PictureError) {
        try feed.skip(to: rows.lowerBound)
        try load(through: rows.upperBound - 1)
    }

    /// Loads rows up to `row`, or to the last one.
    func load(through row: Int) throws(PictureError) {
        while feed.taken <= min(row, feed.layout.height - 1) {
            let index = feed.taken
            memcpy(slot(index), try feed.rows(atMost: 1).start, feed.layout.bytesPerRow)
        }
    }

    /// Row `row`, or the nearest row of the picture.
    subscript(row: Int) -> UnsafeRawPointer {
        UnsafeRawPointer(slot(min(max(row, 0), feed.layout.height - 1)))
    }

    func finish() throws(PictureError) { try feed.finish() }

    private func slot(_ row: Int) -> UnsafeMutablePointer<UInt8> {
        memory.at(row % capacity * stride)
    }
}

/// Blurs a picture row by row: down the columns from a window of rows, then along the row.
///
/// Edge pixels are repeated beyond the edges. Colour is weighted by its alpha. The rows are floats with colour
/// multiplied by alpha, not rounded; or rounded samples of the picture's depth.
final class BlurredRows {
    let layout: PixelLayout
    private let kernel: GaussianKernel
    private let window: RowWindow
    private let columns: Columns
    private let blurred: FilterBuffer<Float>
    private var row = 0
    /// The rows from which the present row is made, from the top.
    private var taps: [UnsafeRawPointer?] = []

    /// The data for the pass down the columns, and the row between the two passes. At each end this row has as many
    /// additional pixels as the kernel's radius.
    private enum Columns {
        case direct(weights: [Float], padded: FilterBuffer<Float>)
        /// For opaque pictures of 8 bits: integers, which are twice as fast.
        case whole(weights: IntegerWeights, padded: FilterBuffer<Int16>)
        case cosines(CosineBlur)
    }

    /// - Parameter gain: the factor by which an error of the blur counts, for example `amount` of an unsharp mask.
    init(
        sigma: Double, gain: Double = 1, _ upstream: any Stage, _ memory: PictureMemory,
        for operation: String
    ) throws(PictureError) {
        layout = upstream.layout
        let precision = GaussianKernel.Precision(layout, gain: gain)
        kernel = GaussianKernel(sigma: sigma, precision)
        let samples = layout.width * layout.channels
        let paddedSamples = samples + 2 * kernel.radius * layout.channels
        blurred = try FilterBuffer(count: samples)
        switch kernel {
        case .direct(let weights):
            window = try RowWindow(upstream, rows: 2 * kernel.radius + 1, memory, for: operation)
            columns =
                precision == .bytes
                ? .whole(
                    weights: IntegerWeights(symmetric: weights, largestShift: 17),
                    padded: try FilterBuffer(count: paddedSamples))
                : .direct(weights: weights, padded: try FilterBuffer(count: paddedSamples))
        case .cosines(let series):
            window = try RowWindow(
                upstream, rows: CosineBlur.windowRows(series), memory, for: operation)
            columns = .cosines(try CosineBlur(series, layout, memory, for: operation))
        }
    }

    /// The next row of the picture, unchanged and blurred. Both stay valid until the next call.
    func next() throws(PictureError) -> (source: UnsafeRawPointer, blurred: UnsafePointer<Float>) {
        switch columns {
        case .direct(let weights, let padded): try nextDirect(weights, padded)
        case .whole(let weights, let padded):
            try nextColumns(weights, padded)
            darkroom_blur_row_8_unrounded(
                padded.start, weights.values, kernel.radius, Int32(weights.shift), blurred.start,
                layout.width, Int32(layout.channels))
        case .cosines(let cosines): try cosines.blur(row, of: window, to: blurred.start)
        }
        row += 1
        return (window[row - 1], UnsafePointer(blurred.start))
    }

    /// Writes the next row of the picture, blurred.
    func next(to start: UnsafeMutableRawPointer) throws(PictureError) {
        let (channels, depth) = (Int32(layout.channels), Int32(layout.depth))
        if case .whole(let weights, let padded) = columns {
            try nextColumns(weights, padded)
            darkroom_blur_row_8(
                padded.start, weights.values, kernel.radius, Int32(weights.shift),
                start.assumingMemoryBound(to: UInt8.self), layout.width, channels)
            row += 1
        } else {
            darkroom_store(try next().blurred, start, layout.width, channels, depth)
        }
    }

    func finish() throws(PictureError) { try window.finish() }

    /// Collects the rows around the present row.
    private func loadTaps() throws(PictureError) {
        let radius = kernel.radius
        try window.load(through: row + radius)
        taps.removeAll(keepingCapacity: true)
        for tap in row - radius...row + radius { taps.append(window[tap]) }
    }

    private func nextDirect(
        _ weights: [Float], _ padded: FilterBuffer<Float>
    ) throws(PictureError) {
        let radius = kernel.radius
        try loadTaps()
        let (channels, depth) = (Int32(layout.channels), Int32(layout.depth))
        darkroom_blur_columns(
            taps, weights, radius, padded.at(radius * layout.channels), layout.width, channels,
            depth)
        extendEnds(of: padded)
        darkroom_blur_row(padded.start, weights, radius, blurred.start, layout.width, channels)
    }

    /// The pass down the columns with integers.
    private func nextColumns(
        _ weights: IntegerWeights, _ padded: FilterBuffer<Int16>
    ) throws(PictureError) {
        let radius = kernel.radius
        try loadTaps()
        let samples = layout.width * layout.channels
        taps.withUnsafeBufferPointer { taps in
            taps.withMemoryRebound(to: UnsafePointer<UInt8>?.self) { rows in
                darkroom_blur_columns_8(
                    rows.baseAddress, weights.values, radius, Int32(weights.shift),
                    padded.at(radius * layout.channels), samples)
            }
        }
        extendEnds(of: padded)
    }

    /// Repeats the first and the last pixel of a padded row up to its ends.
    private func extendEnds<Sample>(of padded: FilterBuffer<Sample>) {
        let channels = layout.channels
        let first = kernel.radius * channels
        let end = first + layout.width * channels
        for sample in 0..<first {
            padded.start[sample] = padded.start[first + sample % channels]
            padded.start[end + sample] = padded.start[end - channels + sample % channels]
        }
    }
}
