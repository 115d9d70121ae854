/// What a source's file contains in addition to pixels.
package struct SourceMetadata: Sendable, Equatable {
    /// The meaning of a chunk or segment for a result.
    package enum Meaning: Sendable, Equatable {
        /// It has become part of the pixels: a palette, transparency, the coding of colours.
        case pixels
        /// It defines the meaning of the pixels' values.
        case colour(PNGColour.Item)
        /// The metadata of a camera.
        case exif
        /// Nothing.
        case other
    }

    package let format: OutputFormat
    /// By the names of the format's chunks or segments.
    package var meanings: [String: Meaning] = [:]
}

/// Records what happens to a source's chunks that are not pixels, so that every loss is visible.
enum MetadataLedger {
    /// One entry for each kind of chunk or segment in the source: `kept`, `converted` or `dropped`.
    ///
    /// - Parameters:
    ///   - original: the colour information of the source.
    ///   - sent: the part of it that was given to the writer.
    ///   - written: the part of that which the writer wrote.
    ///   - exif: the entry for Exif.
    static func entries(
        of source: SourceMetadata, to format: OutputFormat, original: PNGColour, sent: PNGColour,
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

    /// The part that is still valid after `filters`, for a result of `layout`.
    ///
    /// The physical size is not valid after a change of scale, and rotates with the picture. A profile for RGB is not
    /// valid for gray, nor is one for gray valid for RGB.
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
