/// When a JPEG that is going to be shrunk is decoded smaller at once, which saves time and memory.
enum ReducedDecoding {
    /// How many times smaller each way to decode a picture for `filters`: 1, 2, 4 or 8.
    ///
    /// Only where the first filter is a resize that shrinks, and then the largest number of these that
    /// - divides both sides, so that the proportions stay exactly what they are,
    /// - leaves at least twice the pixels that the resize makes of them, each way, so that its own
    ///   kernel decides what the result looks like.
    ///
    /// Not with `nearest`, which takes certain pixels and no averages, nor with `linear`, which averages
    /// light where the decoder averages stored values.
    ///
    /// - Parameter filters: those that act on the picture once it is upright.
    static func divisor(
        width: Int, height: Int, orientation: Orientation, filters: [Filter]
    ) -> Int {
        guard case .resize(let resize)? = filters.first, resize.kernel != .nearest, !resize.linear
        else { return 1 }
        let (width, height) = orientation.isTransposed ? (height, width) : (width, height)
        let scaled = ResizePlan(resize, width: width, height: height).scaled
        return [8, 4, 2].first { divisor in
            width % divisor == 0 && height % divisor == 0
                && width / divisor >= 2 * scaled.width && height / divisor >= 2 * scaled.height
        } ?? 1
    }
}
