/// Changes each band where it lies: filters that need one row and make no more bytes of it.
final class InPlaceStage: Stage {
    let layout: PixelLayout
    private let upstream: any Stage
    private let change: (_ start: UnsafeMutableRawPointer, _ rows: Int) -> Void

    /// - Parameters:
    ///   - layout: what `change` leaves, with no more channels than the upstream's. Fewer are written
    ///     from the start of the band.
    ///   - change: is given rows that follow each other without gaps.
    init(
        _ upstream: any Stage, layout: PixelLayout? = nil,
        change: @escaping (_ start: UnsafeMutableRawPointer, _ rows: Int) -> Void
    ) {
        self.upstream = upstream
        self.layout = layout ?? upstream.layout
        self.change = change
    }

    func nextBand() throws(PictureError) -> Band? {
        guard let band = try upstream.nextBand() else { return nil }
        change(band.start, band.rows.count)
        return band
    }
}
