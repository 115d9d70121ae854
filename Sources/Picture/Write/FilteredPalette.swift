/// The palette of a result.
struct FilteredPalette {
    /// Red, green, blue and alpha of each index.
    let colours: [UInt8]
    /// That of the pixels that the indices stand for.
    let layout: PixelLayout
    /// If the source's compressed indices are written as they are.
    var copy: CopiedIndices?

    var count: Int { colours.count / 4 }

    /// The bits of an index: as few as PNG allows.
    var bits: Int { [1, 2, 4].first { count <= 1 << $0 } ?? 8 }

    /// The rows of indices as they are in the file, where several indices may share a byte.
    var packedLayout: PixelLayout {
        PixelLayout(
            width: (layout.width * bits + 7) / 8, height: layout.height, channels: 1, depth: 8)
    }
}
