/// What is known of the small copy of a source.
package struct PreviewFacts: Sendable, Equatable {
    /// The size of the copy as it is shown, in pixels.
    package let width: Int
    package let height: Int
    /// Whether the difference of source and result stands below it, see `PreviewPair`.
    package let isPair: Bool
    /// How a viewer turns the file of the result. The copy has been turned.
    package let orientation: Orientation
    /// The size of the whole source as it is shown, in pixels.
    package let sourceWidth: Int
    package let sourceHeight: Int

    package init(
        width: Int, height: Int, isPair: Bool, orientation: Orientation, sourceWidth: Int,
        sourceHeight: Int
    ) {
        self.width = width
        self.height = height
        self.isPair = isPair
        self.orientation = orientation
        self.sourceWidth = sourceWidth
        self.sourceHeight = sourceHeight
    }

    /// The rows of the JPEG.
    package var rows: Int { isPair ? PreviewPair(rows: height).height : height }

    /// Whether the copy has fewer pixels than the source.
    package var isReduced: Bool { width < sourceWidth || height < sourceHeight }
}

/// The small copy of a source as a JPEG in memory.
package struct EncodedPreview: Sendable {
    package let facts: PreviewFacts
    package let jpeg: [UInt8]
}
