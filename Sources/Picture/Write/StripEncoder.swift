import CDarkroomDeflate

/// Encodes a picture's rows strip by strip, on all idle cores, and returns the strips' IDAT chunks in their order.
///
/// The thread that owns the encoder fills strips. Helpers, one for each core that can be borrowed, encode them. If the
/// helpers are too slow, or there are none, the owner encodes too. The result for a strip depends only on its rows and
/// the row above it, so neither cores nor timing change a byte.
///
/// Like a stage, it belongs to one thread at a time. It must be closed at the end.
final class StripEncoder {
    /// Receives a chunk, which is valid only during the call.
    typealias Output = (UnsafeRawBufferPointer) throws(PictureError) -> Void

    /// The maximum number of copies of its rows in a strip: unchanged, filtered or not, compressed in two ways, and the
    /// row above, which may be as large again.
    private static let copies = 6
    /// The maximum memory of the strips that have been handed over, unless two of them need more.
    private static let stripBytes = 64 << 20

    private let layout: PixelLayout
    private let effort: darkroom_effort
    private let name: String
    private let queue: StripQueue
    private let rowsPerStrip: Int
    /// How many strips may have been handed over and not been returned.
    let mostStrips: Int
    /// Empty strips.
    private var idle: [Strip] = []
    private var filling: Strip?
    /// The strips that have been handed over and not been returned, the oldest first.
    private var ordered: [Strip] = []
    /// The strip that was handed over last, for its last row. Its chunk may have been returned.
    private var above: Strip?
    /// The Adler-32 of all filtered rows that have been returned.
    private var adler: UInt32 = 1
    private var rowsLeft: Int

    /// `ahead` is the stage that reads the picture's source ahead with the same cores, if there is one.
    init(
        _ layout: PixelLayout, _ effort: darkroom_effort, cores: Cores, ahead: ReadAhead? = nil,
        name: String
    ) {
        self.layout = layout
        rowsLeft = layout.height
        self.effort = effort
        self.name = name
        queue = StripQueue(cores, ahead)
        rowsPerStrip = darkroom_strip_rows(layout.bytesPerRow, layout.height, effort)
        mostStrips = Self.mostStrips(layout, rows: rowsPerStrip, cores: cores)
    }

    private static func mostStrips(_ layout: PixelLayout, rows: Int, cores: Cores) -> Int {
        // One for each thread that encodes, and one that waits for them. More than eight helpers encode faster than
        // rows can be read and filtered. For the longest rows, with strips of one row, the additional memory costs more
        // than it gains.
        let bytes = (layout.bytesPerRow + 1) * rows * copies
        return max(2, min(min(cores.most, 8) + 2, stripBytes / bytes))
    }

    /// The maximum memory of a picture's strips: those that have been handed over, and one to fill.
    static func mostBytes(_ layout: PixelLayout, _ effort: darkroom_effort, cores: Cores) -> Int {
        let rows = darkroom_strip_rows(layout.bytesPerRow, layout.height, effort)
        let strips = mostStrips(layout, rows: rows, cores: cores) + 1
        return strips * darkroom_strip_memory(layout.bytesPerRow, rows, effort)
    }

    /// Adds a band's rows, and returns the chunks that are encoded by then.
    func add(_ band: Band, output: Output) throws(PictureError) {
        var start = UnsafeRawPointer(band.start)
        var count = band.rows.count
        while count > 0 {
            let strip = try stripToFill(output)
            let taken = darkroom_strip_fill(strip.pointer, start, count)
            start += taken * layout.bytesPerRow
            count -= taken
            rowsLeft -= taken
            // A full strip takes fewer rows than it was offered.
            if count > 0 || rowsLeft == 0 { try handOver(strip, output) }
        }
    }

    /// Returns the rest, after the last row.
    func finish(output: Output) throws(PictureError) {
        precondition(rowsLeft == 0, "a stage gave other rows than its layout promises")
        while !ordered.isEmpty { try giveOutOldest(output) }
    }

    /// Waits for the strips that are being encoded, and drops the others.
    func close() { queue.close() }

    private func stripToFill(_ output: Output) throws(PictureError) -> Strip {
        if let filling { return filling }
        while let oldest = ordered.first, queue.isEncoded(oldest) { try giveOutOldest(output) }
        if ordered.count == mostStrips { try giveOutOldest(output) }
        guard let strip = idle.popLast() ?? Strip(layout, rows: rowsPerStrip, effort) else {
            throw outOfMemory
        }
        darkroom_strip_begin(strip.pointer, above?.pointer)
        filling = strip
        return strip
    }

    private func handOver(_ strip: Strip, _ output: Output) throws(PictureError) {
        filling = nil
        above = strip
        ordered.append(strip)
        let isHelped = queue.add(strip)
        while !isHelped, !ordered.isEmpty { try giveOutOldest(output) }
    }

    private func giveOutOldest(_ output: Output) throws(PictureError) {
        let strip = ordered.removeFirst()
        switch queue.finish(strip) {
        case DARKROOM_STRIP_OK: break
        case DARKROOM_STRIP_MEMORY: throw outOfMemory
        default:
            throw PictureError(
                .writeFailed,
                "\(name): compressing rows: the compressed rows could not be read back, so they were not used; "
                    + "a defect of the memory or of Darkroom",
                isTransient: true)
        }
        var filtered: UInt64 = 0
        let own = darkroom_strip_adler(strip.pointer, &filtered)
        adler = darkroom_adler32_combine(adler, own, filtered)
        if rowsLeft == 0, ordered.isEmpty { darkroom_strip_end(strip.pointer, adler) }
        var count = 0
        let chunk = darkroom_strip_chunk(strip.pointer, &count)
        try output(UnsafeRawBufferPointer(start: chunk, count: count))
        idle.append(strip)
    }

    private var outOfMemory: PictureError {
        .outOfMemory(name, "not enough memory to compress rows")
    }
}
