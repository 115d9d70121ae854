import DarkroomPicture

/// A small picture whose samples a test can read and write one by one.
package struct PixelGrid: Equatable, CustomStringConvertible {
    package let layout: PixelLayout
    /// Row by row, channels interleaved.
    package var samples: [UInt16]

    package init(_ layout: PixelLayout, _ samples: [UInt16]) {
        precondition(samples.count == layout.width * layout.height * layout.channels)
        self.layout = layout
        self.samples = samples
    }

    package init(
        _ width: Int, _ height: Int, channels: Int, depth: Int = 8,
        sample: (_ x: Int, _ y: Int, _ channel: Int) -> UInt16
    ) {
        layout = PixelLayout(width: width, height: height, channels: channels, depth: depth)
        samples = []
        for y in 0..<height {
            for x in 0..<width {
                for channel in 0..<channels { samples.append(sample(x, y, channel)) }
            }
        }
    }

    /// Noise in which the ends of the scale, and low alpha, are frequent.
    package static func noise(
        _ width: Int, _ height: Int, channels: Int, depth: Int = 8, seed: UInt64 = 1
    ) -> PixelGrid {
        var noise = SplitMix64(seed: seed)
        let max = depth == 8 ? 255 : 65535
        return PixelGrid(width, height, channels: channels, depth: depth) { _, _, _ in
            let random = noise.next()
            return switch random % 8 {
            case 0: 0
            case 1: UInt16(max)
            case 2: UInt16((random >> 8) % 4)
            default: UInt16((random >> 8) % UInt64(max + 1))
            }
        }
    }

    package subscript(x: Int, y: Int, channel: Int) -> UInt16 {
        get { samples[(y * layout.width + x) * layout.channels + channel] }
        set { samples[(y * layout.width + x) * layout.channels + channel] = newValue }
    }

    /// The samples of one pixel.
    package func pixel(_ x: Int, _ y: Int) -> [UInt16] {
        (0..<layout.channels).map { self[x, y, $0] }
    }

    package var max: Double { layout.depth == 8 ? 255 : 65535 }

    package var description: String {
        let (width, height) = (layout.width, layout.height)
        let head = "\(width) × \(height), \(layout.channels) channels of \(layout.depth) bits"
        return samples.count <= 64 ? "\(head): \(samples)" : head
    }
}
