import Glibc

/// Cuts a rectangle out of the picture, in place. Rows above and below it are skipped.
final class CropStage: Stage {
    let layout: PixelLayout
    private let feed: RowFeed
    private let x: Int
    private let y: Int

    /// - Throws: `filterOutside` if the rectangle is not within the picture.
    static func make(_ crop: Filter.Crop, _ upstream: any Stage) throws(PictureError) -> any Stage {
        let input = upstream.layout
        switch crop {
        case .rectangle(let x, let y, let width, let height):
            return try make(x: x, y: y, width: width, height: height, upstream)
        case .gravity(let gravity, let width, let height):
            let (x, y) = gravity.corner(of: width, height, within: input.width, input.height)
            return try make(x: x, y: y, width: width, height: height, upstream)
        }
    }

    static func make(
        x: Int, y: Int, width: Int, height: Int, _ upstream: any Stage
    ) throws(PictureError) -> any Stage {
        let input = upstream.layout
        guard width > 0, height > 0, x >= 0, y >= 0, width <= input.width, height <= input.height,
            x <= input.width - width, y <= input.height - height
        else {
            throw PictureError(
                .filterOutside,
                "crop: the rectangle of \(width) × \(height) pixels at (\(x), \(y)) is not"
                    + " within the picture of \(input.width) × \(input.height)")
        }
        if width == input.width, height == input.height { return upstream }
        return CropStage(x: x, y: y, width: width, height: height, upstream)
    }

    private init(x: Int, y: Int, width: Int, height: Int, _ upstream: any Stage) {
        layout = upstream.layout.with(width: width, height: height)
        self.x = x
        self.y = y
        feed = RowFeed(upstream)
    }

    func nextBand() throws(PictureError) -> Band? {
        try feed.skip(to: y)
        let end = y + layout.height
        guard feed.taken < end else {
            try feed.finish()
            return nil
        }
        let band = try feed.rows(atMost: end - feed.taken)
        if layout.width < feed.layout.width { closeUp(band) }
        return Band(start: band.start, rows: band.rows.lowerBound - y..<band.rows.upperBound - y)
    }

    /// Moves the remaining parts of the rows to the start of the band, without gaps.
    private func closeUp(_ band: Band) {
        for row in 0..<band.rows.count {
            memmove(
                band.start + row * layout.bytesPerRow,
                band.start + row * feed.layout.bytesPerRow + x * layout.bytesPerPixel,
                layout.bytesPerRow)
        }
    }
}

extension Filter.Gravity {
    /// The position of the top left pixel of a rectangle in a picture of `fullWidth` × `fullHeight`.
    ///
    /// If the remaining pixels cannot be divided evenly, the additional one is on the right or at the bottom. The
    /// result is negative if the rectangle is larger than the picture.
    func corner(
        of width: Int, _ height: Int, within fullWidth: Int, _ fullHeight: Int
    ) -> (x: Int, y: Int) {
        let (right, bottom) = (fullWidth - width, fullHeight - height)
        let sides = sides
        return (
            sides.x < 0 ? min(0, right) : sides.x == 0 ? right >> 1 : right,
            sides.y < 0 ? min(0, bottom) : sides.y == 0 ? bottom >> 1 : bottom
        )
    }

    /// -1 for the left and the top, 0 for the middle, 1 for the right and the bottom.
    var sides: (x: Int, y: Int) {
        switch self {
        case .northwest: (-1, -1)
        case .north: (0, -1)
        case .northeast: (1, -1)
        case .west: (-1, 0)
        case .center: (0, 0)
        case .east: (1, 0)
        case .southwest: (-1, 1)
        case .south: (0, 1)
        case .southeast: (1, 1)
        }
    }
}
