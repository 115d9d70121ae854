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

    var isGray: Bool { channels < 3 }

    /// The largest sample.
    var fullScale: Double { depth == 8 ? 255 : 65535 }
}
