/// Rows whose values are brought to another space, in place.
final class ConvertedStage: Stage {
    let layout: PixelLayout
    private let upstream: any Stage
    private let conversions: [ColourConversion]

    init(_ upstream: any Stage, _ conversions: [ColourConversion]) {
        self.upstream = upstream
        self.conversions = conversions
        layout = upstream.layout
    }

    func nextBand() throws(PictureError) -> Band? {
        guard let band = try upstream.nextBand() else { return nil }
        for conversion in conversions {
            conversion.apply(band.start, pixels: band.rows.count * layout.width, layout)
        }
        return band
    }
}
