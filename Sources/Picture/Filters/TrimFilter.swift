import CDarkroomPixels

/// Cuts off borders that look like the top left pixel. It holds the whole picture in memory, and reads it when the
/// stage is created, because the size is not known before.
enum TrimFilter {
    /// - Parameter tolerance: the maximum difference of a sample, as a part of full scale.
    /// - Returns: a stage of the picture without the rows and columns at its edges in which every pixel looks like the
    ///   top left one. If all pixels do, the picture stays unchanged.
    /// - Throws: the errors of the upstream; `tooManyPixels` if the picture does not fit into the budget.
    static func make(
        _ tolerance: Double, _ upstream: any Stage, _ memory: PictureMemory
    ) throws(PictureError) -> any Stage {
        let picture = try WholePicture(upstream, memory, for: "trim")
        let layout = picture.layout
        let start = try picture.start()
        // A product such as 0.04·255 may be just below its exact value.
        let most = UInt32(tolerance * layout.fullScale + 0x1p-20)
        var rows: Range<Int>?
        var (left, right) = (layout.width, layout.width)
        for row in 0..<layout.height {
            var (first, last) = (0, 0)
            darkroom_border(
                start + row * layout.bytesPerRow, start, layout.width, Int32(layout.channels),
                Int32(layout.depth), most, &first, &last)
            if first == layout.width { continue }
            rows = (rows?.lowerBound ?? row)..<row + 1
            (left, right) = (min(left, first), min(right, last))
        }
        let held = HeldPicture(picture)
        guard let rows else { return held }
        return try CropStage.make(
            x: left, y: rows.lowerBound, width: layout.width - left - right, height: rows.count,
            held)
    }
}

/// Lends the rows of a picture in memory.
private final class HeldPicture: Stage {
    let layout: PixelLayout
    private let picture: WholePicture
    private var next = 0

    init(_ picture: WholePicture) {
        self.picture = picture
        layout = picture.layout
    }

    func nextBand() throws(PictureError) -> Band? {
        guard next < layout.height else { return nil }
        let rows = next..<min(next + layout.rowsPerBand, layout.height)
        next = rows.upperBound
        // The borrower may change a band, so each row is lent only once.
        let start = try picture.start() + rows.lowerBound * layout.bytesPerRow
        return Band(start: UnsafeMutableRawPointer(mutating: start), rows: rows)
    }
}
