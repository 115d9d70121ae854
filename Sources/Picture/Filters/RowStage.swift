/// Writes each row to new memory: for filters that need several rows for one, or produce more bytes than a row has.
final class RowStage: Stage {
    let layout: PixelLayout
    private let output: OutputBands
    private let write: (_ row: Int, UnsafeMutableRawPointer) throws(PictureError) -> Void

    /// - Parameters:
    ///   - end: takes the end of what the rows are made from.
    ///   - write: called for one row after the other.
    init(
        _ layout: PixelLayout, end: @escaping () throws(PictureError) -> Void,
        write: @escaping (_ row: Int, UnsafeMutableRawPointer) throws(PictureError) -> Void
    ) throws(PictureError) {
        self.layout = layout
        self.write = write
        output = try OutputBands(layout, end: end)
    }

    /// - Parameter copy: gets one row of the upstream's layout and the memory for one row of `layout`.
    convenience init(
        _ upstream: any Stage, layout: PixelLayout,
        copy: @escaping (_ from: UnsafeRawPointer, _ to: UnsafeMutableRawPointer) -> Void
    ) throws(PictureError) {
        let feed = RowFeed(upstream)
        try self.init(layout, end: feed.finish) { (_: Int, row) throws(PictureError) in
            copy(try feed.rows(atMost: 1).start, row)
        }
    }

    func nextBand() throws(PictureError) -> Band? { try output.next(writingEach: write) }
}
