/// Decides when a picture that will be reduced is decoded at a smaller size, which saves time and memory: a JPEG, or
/// without alpha a lossy WebP, an AVIF or a HEIC. Others are decoded whole.
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

extension PixelLayout {
    /// The rows of a picture whose sides are divided when it is decoded.
    func reduced(by divisor: Int) -> PixelLayout {
        with(width: (width + divisor - 1) / divisor, height: (height + divisor - 1) / divisor)
    }
}

extension PictureSteps {
    /// How a reader has reduced its picture for these steps.
    func reduction(of reader: any PictureReader, divisor: Int) -> ReducedSource {
        let size = reader.storedSize
        return ReducedSource(
            width: size.width, height: size.height, divisor: divisor,
            orientation: autoOrient ? reader.orientation : .topLeft)
    }

    /// The factor by which a picture is reduced when it is decoded for these steps.
    func divisor(width: Int, height: Int, orientation: Orientation) -> Int {
        ReducedDecoding.divisor(
            width: width, height: height, orientation: autoOrient ? orientation : .topLeft,
            filters: filters)
    }
}
