import CDeflate

/// How much time bytes are worth. The pixels are the same with each.
public enum PNGCompression: String, Sendable, CaseIterable {
    /// Huffman codes and runs, and a brief search for matches where much repeats, as in drawings.
    /// Measured against libpng with zlib's level 6 and all row filters, on one core: photographs 45
    /// to 80 times as fast and at most a fifth larger, which sepia is; drawings 2.5 to 3.4 times.
    case fast
    /// Of photographs and drawings as small as libpng so, within 3 %: matches are looked for where
    /// an estimate says that they pay. Photographs 35 to 85 times as fast, with sepia 8 times,
    /// drawings 1.9 to 3.2 times.
    case balanced
    /// Whatever is smallest, for pictures that are written once and sent often.
    case small
}

extension PNGCompression {
    var effort: darkroom_effort {
        switch self {
        case .fast: DARKROOM_DEFLATE_FAST
        case .balanced: DARKROOM_DEFLATE_BALANCED
        case .small: DARKROOM_DEFLATE_SMALL
        }
    }
}
