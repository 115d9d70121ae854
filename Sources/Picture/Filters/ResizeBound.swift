/// An upper bound for the results of a resize, for all pictures that are at most as large as a given size.
///
/// A narrow rest of a picture may be scaled to a very long one: from 10 × 10 pixels, a column of 1 × 10 becomes 800 ×
/// 8000 if the requested width is 800.
struct ResizeBound: Equatable {
    /// The largest width and the largest height of a result. One result need not have both.
    private(set) var width: Int
    private(set) var height: Int
    /// The largest number of pixels of a result.
    private(set) var pixels: Int
    /// Whether every result is of this size.
    private(set) var isExact = false
    /// The largest product of the window's width and the input's height: the ring of a resampled picture has at most as
    /// many rows as its input.
    private(set) var ringPixels: Int

    /// - Parameter limits: larger results fail.
    init(_ resize: Filter.Resize, width: Int, height: Int, limits: PictureLimits) {
        let isSmaller = resize.withoutEnlargement
        switch (resize.width, resize.height, resize.fit) {
        case (let box?, nil, _):
            self.width = box
            self.height = isSmaller ? height : min(height * box, limits.pixels / box)
            pixels = box * self.height
            ringPixels = box * height
        case (nil, let box?, _):
            self.width = isSmaller ? width : min(width * box, limits.pixels / box)
            self.height = box
            pixels = self.width * box
            ringPixels = Self.across(width, height, to: box)
        case (let boxWidth?, let boxHeight?, .outside):
            // One side is the box's, or both are the picture's.
            let isWide = (width: max(boxWidth, width * boxHeight), height: boxHeight)
            let isHigh = (width: boxWidth, height: max(boxHeight, height * boxWidth))
            self.width = isSmaller ? width : isWide.width
            self.height = isSmaller ? height : isHigh.height
            pixels =
                isSmaller
                ? width * height : max(isWide.width * isWide.height, isHigh.width * isHigh.height)
            ringPixels = max(boxWidth * height, Self.across(width, height, to: boxHeight))
        case (let boxWidth?, let boxHeight?, let fit):
            (self.width, self.height) = (boxWidth, boxHeight)
            pixels = boxWidth * boxHeight
            ringPixels = boxWidth * height
            isExact = fit == .contain || fit != .inside && !isSmaller
        case (nil, nil, _):
            (self.width, self.height, pixels) = (width, height, width * height)
            ringPixels = 0
        }
        self.width = max(1, min(self.width, limits.side))
        self.height = max(1, min(self.height, limits.side))
        pixels = max(1, min(pixels, self.width * self.height, limits.pixels))
    }

    /// The product of the input's height and the width that keeps the proportions at a height of `box`. Half a pixel is
    /// rounded up.
    private static func across(_ width: Int, _ height: Int, to box: Int) -> Int {
        width * box + height
    }
}
