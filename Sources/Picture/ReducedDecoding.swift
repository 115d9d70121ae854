/// Decides when a JPEG that will be reduced is decoded at a smaller size, which saves time and memory.
enum ReducedDecoding {
    /// The factor by which each side of a picture is reduced when it is decoded for `filters`: 1, 2, 4 or 8.
    ///
    /// It is more than 1 only if the first filter is a resize that reduces the picture. Then it is the largest of these
    /// numbers that leaves on each side at least twice the pixels of the resize's result, so that the resize's own
    /// kernel defines what the result looks like.
    ///
    /// It is 1 for `nearest`, which takes single pixels and no averages, and for `linear`, which averages light while
    /// the decoder averages stored values.
    ///
    /// - Parameter filters: the filters after the picture has been turned upright.
    static func divisor(
        width: Int, height: Int, orientation: Orientation, filters: [Filter]
    ) -> Int {
        guard case .resize(let resize)? = filters.first, resize.kernel != .nearest, !resize.linear
        else { return 1 }
        let (width, height) = orientation.isTransposed ? (height, width) : (width, height)
        let scaled = ResizePlan(resize, width: width, height: height).scaled
        return [8, 4, 2].first { divisor in
            width >= 2 * scaled.width * divisor && height >= 2 * scaled.height * divisor
        } ?? 1
    }
}

/// A picture that was reduced when it was decoded, as a resize must know it.
///
/// A side that the divisor does not divide is rounded up. Its outermost sample stands for the rest of the stored pixels.
/// The decoder makes it from them and from what the encoder has added to fill its last block, mostly copies of the last
/// pixel. So the resize calculates with the stored size, and gives this sample as much weight as it has stored pixels.
package struct ReducedSource: Sendable, Equatable {
    /// The sides of the upright picture.
    let across: ResampleAxis.Input
    let down: ResampleAxis.Input

    /// - Parameters:
    ///   - size: the stored size.
    ///   - orientation: how the rows are turned before the resize.
    init(_ size: ResizePlan.Size, divisor: Int, orientation: Orientation) {
        let (width, height) =
            orientation.isTransposed ? (size.height, size.width) : (size.width, size.height)
        let corner = orientation.upright(1, 1, ofWidth: 2, height: 2)
        across = ResampleAxis.Input(width, divisor: divisor, beginsWithRest: corner.x == 0)
        down = ResampleAxis.Input(height, divisor: divisor, beginsWithRest: corner.y == 0)
    }

    /// The same filters, the first of which is a resize that knows the picture; all as they are if it was not reduced.
    func known(to filters: [Filter]) -> [Filter] {
        guard across.divisor > 1, case .resize(var resize)? = filters.first else { return filters }
        resize.source = self
        return [.resize(resize)] + filters.dropFirst()
    }
}

extension PictureSteps {
    /// How a reader has reduced its picture for these steps.
    func reduction(of reader: any PictureReader, divisor: Int) -> ReducedSource {
        let size = reader.storedSize
        return ReducedSource(
            ResizePlan.Size(width: size.width, height: size.height), divisor: divisor,
            orientation: autoOrient ? reader.orientation : .topLeft)
    }
}
