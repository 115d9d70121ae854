/// Changes each band in place, or looks at it: for filters that need one row and produce no more bytes than it has.
final class InPlaceStage: Stage {
    let layout: PixelLayout
    private let upstream: any Stage
    private let change: (Band) -> Void

    /// - Parameters:
    ///   - layout: the layout after `change`, with no more channels than the upstream's. With fewer channels, the rows
    ///     are without gaps from the start of the band.
    ///   - change: gets rows without gaps between them.
    init(_ upstream: any Stage, layout: PixelLayout? = nil, change: @escaping (Band) -> Void) {
        self.upstream = upstream
        self.layout = layout ?? upstream.layout
        self.change = change
    }

    /// Brings values to another space.
    convenience init(_ upstream: any Stage, _ conversions: [ColourConversion]) {
        let layout = upstream.layout
        self.init(upstream) { band in
            for conversion in conversions {
                conversion.apply(band.start, pixels: band.rows.count * layout.width, layout)
            }
        }
    }

    func nextBand() throws(PictureError) -> Band? {
        guard let band = try upstream.nextBand() else { return nil }
        change(band)
        return band
    }
}
