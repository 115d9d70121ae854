/// What a source's file contains in addition to pixels.
package struct SourceMetadata: Sendable, Equatable {
    /// The meaning of a chunk or segment for a result.
    package enum Meaning: Sendable, Equatable {
        /// It has become part of the pixels: a palette, transparency, the coding of colours.
        case pixels
        /// It defines the meaning of the pixels' values.
        case colour(PictureColour.Item)
        /// Metadata that a result may keep.
        case packet(MetadataPacket)
        /// Nothing.
        case other
    }

    package let format: InputFormat
    /// By the names of the format's chunks or segments.
    package var meanings: [String: Meaning] = [:]
}
