/// Records what happens to a source's chunks that are not pixels, so that every loss is visible.
enum MetadataLedger {
    /// One entry for each kind of chunk or segment in the source: `kept`, `converted` or `dropped`.
    ///
    /// - Parameters:
    ///   - original: the colour information of the source.
    ///   - sent: the part of it that was given to the writer.
    ///   - written: the part of that which the writer wrote.
    ///   - isConverted: whether the values have become those of another space than the source's.
    ///   - fate: the entry for a packet.
    static func entries(
        of source: SourceMetadata, to format: OutputFormat, original: PictureColour,
        sent: PictureColour, written: Set<PictureColour.Item>, isConverted: Bool,
        fate: (MetadataPacket) -> String
    ) -> [String: String] {
        source.meanings.mapValues { meaning in
            switch meaning {
            case .pixels: "converted"
            case .colour(.density) where written.contains(.density):
                sent.density == original.density && source.format == format.encoder.kind
                    ? "kept" : "converted"
            case .colour(.density): "dropped"
            case .colour(.profile) where isConverted: "converted"
            case .colour(let item):
                written.contains(item) ? "kept" : isConverted ? "converted" : "dropped"
            case .packet(let packet): fate(packet)
            case .other: "dropped"
            }
        }
    }
}
