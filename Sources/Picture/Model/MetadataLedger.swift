/// What a source's file holds beside plain pixels.
package struct SourceMetadata: Sendable, Equatable {
    /// What a chunk or segment means to a result.
    package enum Meaning: Sendable, Equatable {
        /// It has become part of the pixels: a palette, transparency, how colours are coded.
        case pixels
        /// It says what the numbers of the pixels mean.
        case colour(PNGColour.Item)
        /// What a camera has noted.
        case exif
        /// Nothing.
        case other
    }

    package let format: PictureFormat
    /// By the names of the format's chunks or segments.
    package var meanings: [String: Meaning] = [:]
}

/// What becomes of a source's chunks that are not plain pixels, so that nothing is lost silently.
enum MetadataLedger {
    /// One entry for each kind of chunk or segment met: `kept`, `converted` or `dropped`.
    ///
    /// - Parameters:
    ///   - original: What the source says of its colour.
    ///   - sent: What of it was given to the writer.
    ///   - written: What of that it wrote.
    ///   - exif: What became of Exif.
    static func entries(
        of source: SourceMetadata, to format: PictureFormat, original: PNGColour, sent: PNGColour,
        written: Set<PNGColour.Item>, exif: String
    ) -> [String: String] {
        source.meanings.mapValues { meaning in
            switch meaning {
            case .pixels: "converted"
            case .colour(.density) where written.contains(.density):
                sent.density == original.density && source.format == format ? "kept" : "converted"
            case .colour(let item): written.contains(item) ? "kept" : "dropped"
            case .exif: exif
            case .other: "dropped"
            }
        }
    }
}

extension PNGColour {
    /// The parts, by the names of PNG's chunks.
    package enum Item: String, Sendable, CaseIterable {
        case renderingIntent = "sRGB"
        case gamma = "gAMA"
        case chromaticities = "cHRM"
        case density = "pHYs"
        case codePoints = "cICP"
        case profile = "iCCP"
    }

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
