/// Writes each row to new memory: for filters that need one row and produce more bytes than it has.
final class CopyingStage: Stage {
    let layout: PixelLayout
    private let feed: RowFeed
    private let output: OutputBands
    private let write: (_ from: UnsafeRawPointer, _ to: UnsafeMutableRawPointer) -> Void

    /// - Parameter write: gets one row of the upstream's layout and the memory for one row of `layout`.
    init(
        _ upstream: any Stage, layout: PixelLayout,
        write: @escaping (_ from: UnsafeRawPointer, _ to: UnsafeMutableRawPointer) -> Void
    ) throws(PictureError) {
        feed = RowFeed(upstream)
        output = try OutputBands(layout, end: feed.finish)
        self.layout = layout
        self.write = write
    }

    func nextBand() throws(PictureError) -> Band? {
        try output.next { (_: Int, row) throws(PictureError) in
            write(try feed.rows(atMost: 1).start, row)
        }
    }
}
