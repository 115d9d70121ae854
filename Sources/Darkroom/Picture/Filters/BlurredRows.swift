import CPixels
import Glibc

/// A window of a picture's rows as they were read, the edge rows standing for all beyond them.
final class RowWindow {
    private let feed: RowFeed
    private let memory: FilterMemory<UInt8>
    private let capacity: Int

    /// - Parameter rows: how many rows, up to the last one loaded, stay in the window.
    init(
        _ upstream: any Stage, rows: Int, _ budget: PictureMemory, for operation: String
    ) throws(PictureError) {
        feed = RowFeed(upstream)
        capacity = min(rows, feed.layout.height)
        memory = try FilterMemory(
            count: capacity * feed.layout.bytesPerRow, of: budget, for: operation)
    }

    /// Loads rows up to `row`, or to the last.
    func load(through row: Int) throws(PictureError) {
        while feed.taken <= min(row, feed.layout.height - 1) {
            let index = feed.taken
            memcpy(slot(index), try feed.rows(atMost: 1).start, feed.layout.bytesPerRow)
        }
    }

    /// Row `row`, or the nearest there is.
    subscript(row: Int) -> UnsafeRawPointer {
        UnsafeRawPointer(slot(min(max(row, 0), feed.layout.height - 1)))
    }

    func finish() throws(PictureError) { try feed.finish() }

    private func slot(_ row: Int) -> UnsafeMutablePointer<UInt8> {
        memory.at(row % capacity * feed.layout.bytesPerRow)
    }
}

/// Blurs a picture row by row: down the columns from a window of rows, then along the row.
///
/// Edge pixels are taken to go on for ever. Colour counts by its alpha. Rows come out as floats, colour
/// multiplied by alpha, not rounded.
final class BlurredRows {
    let layout: PixelLayout
    private let kernel: GaussianKernel
    private let window: RowWindow
    private let columns: Columns
    private let blurred: FilterMemory<Float>
    private var row = 0

    /// What is kept for the pass down the columns, and the row between the passes, which has the
    /// kernel's radius more pixels at each end.
    private enum Columns {
        case direct(weights: [Float], padded: FilterMemory<Float>)
        case boxes(BoxBlur)
    }

    init(
        sigma: Double, _ upstream: any Stage, _ memory: PictureMemory, for operation: String
    ) throws(PictureError) {
        layout = upstream.layout
        kernel = GaussianKernel(sigma: sigma, depth: layout.depth)
        let samples = layout.width * layout.channels
        let paddedSamples = samples + 2 * kernel.radius * layout.channels
        blurred = try FilterMemory(count: samples)
        switch kernel {
        case .direct(let weights):
            window = try RowWindow(upstream, rows: 2 * kernel.radius + 1, memory, for: operation)
            columns = .direct(weights: weights, padded: try FilterMemory(count: paddedSamples))
        case .boxes(let mixture):
            window = try RowWindow(
                upstream, rows: BoxBlur.windowRows(mixture), memory, for: operation)
            columns = .boxes(try BoxBlur(mixture, layout, memory, for: operation))
        }
    }

    /// The next row of the picture: as it was, and blurred. Both stay valid until the next call.
    func next() throws(PictureError) -> (source: UnsafeRawPointer, blurred: UnsafePointer<Float>) {
        switch columns {
        case .direct(let weights, let padded): try nextDirect(weights, padded)
        case .boxes(let boxes): try boxes.blur(row, of: window, to: blurred.start)
        }
        row += 1
        return (window[row - 1], UnsafePointer(blurred.start))
    }

    func finish() throws(PictureError) { try window.finish() }

    private func nextDirect(
        _ weights: [Float], _ padded: FilterMemory<Float>
    ) throws(PictureError) {
        let radius = kernel.radius
        try window.load(through: row + radius)
        let rows = (row - radius...row + radius).map { Optional(window[$0]) }
        let (channels, depth) = (Int32(layout.channels), Int32(layout.depth))
        darkroom_blur_columns(
            rows, weights, radius, padded.at(radius * layout.channels), layout.width, channels,
            depth)
        extendEnds(of: padded)
        darkroom_blur_row(
            padded.start, weights, radius, blurred.start, layout.width, channels)
    }

    /// Repeats the first and the last pixel of a padded row to its ends.
    private func extendEnds(of padded: FilterMemory<Float>) {
        let channels = layout.channels
        let first = kernel.radius * channels
        let end = first + layout.width * channels
        for sample in 0..<first {
            padded.start[sample] = padded.start[first + sample % channels]
            padded.start[end + sample] = padded.start[end - channels + sample % channels]
        }
    }
}
