/// A picture that was reduced when it was decoded, as a resize must know it.
///
/// A side that the divisor does not divide is rounded up. Its outermost sample stands for the rest of the stored pixels.
/// The decoder makes it from them and from what the encoder has added to fill its last block, mostly copies of the last
/// pixel. So the resize calculates with the stored size, and gives this sample as much weight as it has stored pixels.
package struct ReducedSource: Sendable, Equatable {
    /// The sides of the upright picture.
    let across: PictureSide
    let down: PictureSide

    /// - Parameters:
    ///   - width: the stored width.
    ///   - height: the stored height.
    ///   - orientation: how the rows are turned before the resize.
    init(width: Int, height: Int, divisor: Int, orientation: Orientation) {
        let (width, height) = orientation.isTransposed ? (height, width) : (width, height)
        across = PictureSide(width, divisor: divisor, beginsWithRest: orientation.beginsAtRight)
        down = PictureSide(height, divisor: divisor, beginsWithRest: orientation.beginsAtBottom)
    }

    /// The same filters, the first of which is a resize that knows the picture; all as they are if it was not reduced.
    func passed(to filters: [Filter]) -> [Filter] {
        guard across.divisor > 1, case .resize(var resize)? = filters.first else { return filters }
        resize.source = self
        return [.resize(resize)] + filters.dropFirst()
    }
}

/// A side of a picture that may have been reduced when it was decoded.
struct PictureSide: Sendable, Equatable {
    /// In stored pixels.
    let length: Int
    /// The stored pixels of a sample.
    let divisor: Int
    /// Whether the first sample, and not the last, stands for the rest of the pixels.
    let beginsWithRest: Bool

    init(_ length: Int, divisor: Int = 1, beginsWithRest: Bool = false) {
        self.length = length
        self.divisor = divisor
        self.beginsWithRest = beginsWithRest
    }

    var samples: Int { (length + divisor - 1) / divisor }

    /// The outermost sample, and its part of the stored pixels of others.
    var rest: (sample: Int, share: Double) {
        let rest = length % divisor
        return (beginsWithRest ? 0 : samples - 1, rest == 0 ? 1 : Double(rest) / Double(divisor))
    }
}
