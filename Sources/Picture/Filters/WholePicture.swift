import Glibc

/// All rows of a stage in memory. They are read when they are first needed.
final class WholePicture {
    let layout: PixelLayout
    private let feed: RowFeed
    let memory: FilterBuffer<UInt8>

    /// - Throws: `tooManyPixels` if they do not fit into the budget.
    init(
        _ upstream: any Stage, _ budget: PictureMemory, for operation: String
    ) throws(PictureError) {
        layout = upstream.layout
        feed = RowFeed(upstream)
        memory = try FilterBuffer(count: layout.bytes, of: budget, for: operation)
    }

    /// The first sample of the first row. There are no gaps between rows.
    func start() throws(PictureError) -> UnsafeRawPointer {
        if feed.taken < layout.height {
            while feed.taken < layout.height {
                let band = try feed.rows()
                memcpy(
                    memory.at(band.rows.lowerBound * layout.bytesPerRow), band.start,
                    band.rows.count * layout.bytesPerRow)
            }
            try feed.finish()
        }
        return UnsafeRawPointer(memory.start)
    }
}
