/// How the pixels of a picture lie in memory: rows from the top, pixels from the left, samples interleaved without
/// padding, colour not multiplied by alpha.
public struct PixelLayout: Sendable, Equatable {
    /// Pixels in a row.
    public package(set) var width: Int
    /// Rows.
    public package(set) var height: Int
    /// 1 gray, 2 gray and alpha, 3 RGB, 4 RGB and alpha.
    public package(set) var channels: Int
    /// Bits of a sample: 8, or 16 in the machine's byte order.
    public package(set) var depth: Int

    /// - Precondition: both sides are positive, `channels` is 1 to 4, `depth` is 8 or 16.
    public init(width: Int, height: Int, channels: Int, depth: Int) {
        precondition(width > 0 && height > 0 && (1...4).contains(channels))
        precondition(depth == 8 || depth == 16)
        self.width = width
        self.height = height
        self.channels = channels
        self.depth = depth
    }

    /// Whether the last channel is alpha, with 0 for transparent.
    public var hasAlpha: Bool { channels == 2 || channels == 4 }
    /// The channels but for alpha.
    public var colourChannels: Int { hasAlpha ? channels - 1 : channels }
    /// All samples of a pixel.
    public var bytesPerPixel: Int { channels * depth / 8 }
    /// All pixels of a row.
    public var bytesPerRow: Int { width * bytesPerPixel }
    /// All rows.
    public var bytes: Int { bytesPerRow * height }
}

/// A few consecutive rows, lent by a stage. They stay valid until the stage's next call, and who has
/// borrowed them may change them in place.
package struct Band {
    /// The first sample of the first row; rows follow each other without gaps.
    package let start: UnsafeMutableRawPointer
    /// Which rows of the picture these are. Never empty.
    package let rows: Range<Int>

    package init(start: UnsafeMutableRawPointer, rows: Range<Int>) {
        self.start = start
        self.rows = rows
    }
}

/// One step of a picture's way: a reader, a filter, or the last before the writer.
///
/// The pipeline is pulled from its end: the writer asks the last stage for a band, that asks the one
/// before it, and so on up to the reader. A stage keeps no more rows than its filter needs: none (a
/// colour filter changes the band it was lent), a window (blur, resize), or the picture (rotate).
///
/// A stage belongs to one thread at a time.
package protocol Stage: AnyObject {
    /// The layout of the bands this stage lends.
    var layout: PixelLayout { get }

    /// The next rows from the top, or nil after the last one.
    func nextBand() throws(PictureError) -> Band?
}

/// A stage that can be stopped between its bands. One band of a last stage may need very many of those before it,
/// as where a picture is made large, blurred and made small again.
final class Interruptible: Stage {
    private let stage: any Stage
    private let checkpoint: @Sendable () -> Bool

    init(_ stage: any Stage, _ checkpoint: @escaping @Sendable () -> Bool) {
        self.stage = stage
        self.checkpoint = checkpoint
    }

    var layout: PixelLayout { stage.layout }

    func nextBand() throws(PictureError) -> Band? {
        guard checkpoint() else { throw PictureError(.cancelled, "cancelled between two bands") }
        return try stage.nextBand()
    }
}

extension PixelLayout {
    /// How many rows make a band of some 128 KiB, enough that the cost of a call does not count and
    /// small enough that a chain of bands stays in the processor's cache.
    package var rowsPerBand: Int { min(height, max(1, (128 << 10) / bytesPerRow)) }
}
