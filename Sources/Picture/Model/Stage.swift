/// The layout of a picture's pixels in memory: rows from the top, pixels from the left, interleaved samples without
/// padding, colour not multiplied by alpha.
public struct PixelLayout: Sendable, Equatable {
    /// Pixels per row.
    public package(set) var width: Int
    /// The number of rows.
    public package(set) var height: Int
    /// 1: gray; 2: gray and alpha; 3: RGB; 4: RGB and alpha.
    public package(set) var channels: Int
    /// Bits per sample: 8, or 16 in the machine's byte order.
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

    /// Whether the last channel is alpha. Its value 0 is transparent.
    public var hasAlpha: Bool { channels == 2 || channels == 4 }
    /// The number of channels without alpha.
    public var colourChannels: Int { hasAlpha ? channels - 1 : channels }
    /// The bytes of all samples of a pixel.
    public var bytesPerPixel: Int { channels * depth / 8 }
    /// The bytes of all pixels of a row.
    public var bytesPerRow: Int { width * bytesPerPixel }
    /// The bytes of all rows.
    public var bytes: Int { bytesPerRow * height }
}

/// A few consecutive rows that a stage lends. They stay valid until the stage's next call. The borrower may change them
/// in place.
package struct Band {
    /// The first sample of the first row. There are no gaps between rows.
    package let start: UnsafeMutableRawPointer
    /// The numbers of these rows in the picture. Never empty.
    package let rows: Range<Int>

    package init(start: UnsafeMutableRawPointer, rows: Range<Int>) {
        self.start = start
        self.rows = rows
    }
}

/// One step of a picture's pipeline: a reader, a filter, or the last one before the writer.
///
/// The end of the pipeline pulls: the writer asks the last stage for a band, this one asks the stage before it, and so
/// on up to the reader. A stage holds only the rows that its filter needs: none (a colour filter changes the band that
/// was lent to it), a window (blur, resize), or the picture (rotate).
///
/// A stage belongs to one thread at a time.
package protocol Stage: AnyObject {
    /// The layout of the bands that this stage lends.
    var layout: PixelLayout { get }

    /// The next rows from the top; nil after the last one.
    func nextBand() throws(PictureError) -> Band?
}

/// A stage that can be stopped between its bands. One band of a last stage may need very many bands of the previous
/// ones, for example if a picture is enlarged, blurred and reduced.
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
    /// The same layout, except what is given.
    func with(width: Int? = nil, height: Int? = nil, channels: Int? = nil) -> PixelLayout {
        PixelLayout(
            width: width ?? self.width, height: height ?? self.height,
            channels: channels ?? self.channels, depth: depth)
    }

    /// The number of rows in a band of about 128 KiB. This is so large that the cost of a call does not matter, and so
    /// small that a chain of bands stays in the processor's cache.
    package var rowsPerBand: Int { min(height, max(1, (128 << 10) / bytesPerRow)) }
}
