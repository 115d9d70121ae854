/// Changes each band in place: for filters that need one row and produce no more bytes than it has.
final class InPlaceStage: Stage {
    let layout: PixelLayout
    private let upstream: any Stage
    private let change: (_ start: UnsafeMutableRawPointer, _ rows: Int) -> Void

    /// - Parameters:
    ///   - layout: the layout after `change`, with no more channels than the upstream's. With fewer channels, the rows
    ///     are written without gaps from the start of the band.
    ///   - change: gets rows without gaps between them.
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
