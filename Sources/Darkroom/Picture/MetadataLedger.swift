/// What becomes of a source's chunks that are not plain pixels, so that nothing is lost silently.
enum MetadataLedger {
    /// One entry for each kind of chunk met.
    ///
    /// - Parameters:
    ///   - sent: The colour chunks given to the writer.
    ///   - written: The names of those it wrote.
    static func entries(
        _ reader: PNGReader, sent: PNGColour, written: Set<String>
    ) -> [String: String] {
        var entries: [String: String] = [:]
        for chunk in reader.chunks where !["IHDR", "IDAT", "IEND"].contains(chunk) {
            entries[chunk] =
                switch chunk {
                case "PLTE": reader.header.hasPalette ? "converted" : "dropped"
                case "tRNS": reader.hasTransparencyChunk ? "converted" : "dropped"
                case "pHYs" where written.contains("pHYs"):
                    sent.density == reader.colour.density ? "kept" : "converted"
                default: written.contains(chunk) ? "kept" : "dropped"
                }
        }
        return entries
    }
}

extension PNGColour {
    /// What still holds after `filters`, for a result of `layout`.
    ///
    /// Physical size does not outlast a change of scale and turns with the picture. A profile for
    /// RGB says nothing about gray and the other way round.
    func carried(through filters: [Filter], to layout: PixelLayout) -> PNGColour {
        var result = self
        for filter in filters {
            switch filter {
            case .resize:
                result.density = nil
            case .rotate(.quarter), .rotate(.threeQuarters):
                result.density = result.density.map { Density(x: $0.y, y: $0.x, unit: $0.unit) }
            default:
                break
            }
        }
        if let profile, profile.isGray != (layout.colourChannels == 1) { result.profile = nil }
        return result
    }
}
