/// Takes rows from a stage in the portions that a filter needs, whatever the size of the stage's bands.
///
/// Most filters that need more than one row, or make more bytes than they take, consist of a feed and `OutputBands`:
///
///     init(_ upstream: any Stage) throws(PictureError) {
///         layout = upstream.layout
///         feed = RowFeed(upstream)
///         output = try OutputBands(layout, end: feed.finish)
///     }
///
///     func nextBand() throws(PictureError) -> Band? {
///         try output.next { (row: Int, start) throws(PictureError) in
///             memcpy(start, try feed.rows(atMost: 1).start, layout.bytesPerRow)
///         }
///     }
final class RowFeed {
    let layout: PixelLayout
    /// The rows taken so far.
    private(set) var taken = 0
    private let upstream: any Stage
    private var band: Band?

    init(_ upstream: any Stage) {
        self.upstream = upstream
        layout = upstream.layout
    }

    /// The next rows: at least one, at most `limit`. They stay valid until the next call, and may be changed in place.
    /// A row must be left.
    func rows(atMost limit: Int = .max) throws(PictureError) -> Band {
        precondition(taken < layout.height && limit > 0)
        if band == nil { band = try upstream.nextBand() }
        guard let band, band.rows.contains(taken) else {
            preconditionFailure("a stage ended before the last row of its layout, or left one out")
        }
        let end = min(band.rows.upperBound, taken + min(limit, layout.height))
        let start = band.start + (taken - band.rows.lowerBound) * layout.bytesPerRow
        let rows = Band(start: start, rows: taken..<end)
        taken = end
        if end == band.rows.upperBound { self.band = nil }
        return rows
    }

    /// Skips rows up to `row`, which becomes the next one.
    func skip(to row: Int) throws(PictureError) {
        while taken < row { _ = try rows(atMost: row - taken) }
    }

    /// Takes all rows that are left, and the end.
    ///
    /// Every stage does this before it ends: damage below the last row that a filter needs, or after the pixels, is an
    /// error too.
    func finish() throws(PictureError) {
        try skip(to: layout.height)
        let surplus = try upstream.nextBand()
        precondition(surplus == nil, "a stage lent more rows than its layout has")
    }
}

/// The bands of a stage whose rows are not in the upstream's memory.
final class OutputBands {
    let layout: PixelLayout
    private let memory: FilterBuffer<UInt8>
    private let rowsPerBand: Int
    private let end: () throws(PictureError) -> Void
    private var next = 0

    /// - Parameters:
    ///   - rowsPerBand: the number of rows in a band, if it differs from the layout's usual number.
    ///   - end: called after the last band, to take the end of what the rows are made from.
    init(
        _ layout: PixelLayout, rowsPerBand: Int? = nil,
        end: @escaping () throws(PictureError) -> Void = {}
    ) throws(PictureError) {
        self.layout = layout
        self.end = end
        self.rowsPerBand = min(rowsPerBand ?? layout.rowsPerBand, layout.height)
        memory = try FilterBuffer(count: self.rowsPerBand * layout.bytesPerRow)
    }

    /// The next band, whose rows `write` writes; nil after the last one.
    func next(
        writing write: (_ rows: Range<Int>, UnsafeMutableRawPointer) throws(PictureError) -> Void
    ) throws(PictureError) -> Band? {
        guard next < layout.height else {
            try end()
            return nil
        }
        let rows = next..<min(next + rowsPerBand, layout.height)
        let start = UnsafeMutableRawPointer(memory.start)
        try write(rows, start)
        next = rows.upperBound
        return Band(start: start, rows: rows)
    }

    /// The next band, written row by row.
    func next(
        writingEach write: (_ row: Int, UnsafeMutableRawPointer) throws(PictureError) -> Void
    ) throws(PictureError) -> Band? {
        try next { rows, start throws(PictureError) in
            for row in rows { try write(row, start + (row - rows.lowerBound) * layout.bytesPerRow) }
        }
    }
}
