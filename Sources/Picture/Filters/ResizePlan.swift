/// The sizes of a resize, computed with integers so that they are the same on all machines.
struct ResizePlan: Equatable {
    /// The size the whole picture is scaled to.
    var scaled: Size
    /// The part of the scaled picture that is produced. It is smaller than `scaled` only for `cover`.
    var window: Rectangle
    /// The result's size. It is larger than the window only for `contain`.
    var canvas: Size
    /// The position of the window's top left pixel on the canvas.
    var margin: (x: Int, y: Int) {
        ((canvas.width - window.width) / 2, (canvas.height - window.height) / 2)
    }

    struct Size: Equatable {
        var width: Int
        var height: Int
    }

    struct Rectangle: Equatable {
        var x: Int
        var y: Int
        var width: Int
        var height: Int

        var columns: Range<Int> { x..<x + width }
        var rows: Range<Int> { y..<y + height }
    }

    /// Plans `resize` for a picture of the given size.
    ///
    /// If only one of width and height is given, the other follows from the proportions, whatever the fit. With
    /// `withoutEnlargement` a picture that would grow keeps its size; for `fill` this holds for each side separately.
    /// `contain` fills the box nevertheless. `cover` cuts off the parts outside the box, and its result may be smaller
    /// than the box.
    ///
    /// If the picture was reduced when it was decoded, its stored size counts.
    init(_ resize: Filter.Resize, width: Int, height: Int) {
        let (width, height) =
            resize.source.map { ($0.across.length, $0.down.length) } ?? (width, height)
        let size = Size(width: width, height: height)
        guard let boxWidth = resize.width, let boxHeight = resize.height else {
            var target = size
            if let boxWidth = resize.width, boxWidth <= width || !resize.withoutEnlargement {
                target = size.scaled(toWidth: boxWidth)
            }
            if let boxHeight = resize.height, boxHeight <= height || !resize.withoutEnlargement {
                target = size.scaled(toHeight: boxHeight)
            }
            self.init(scaled: target)
            return
        }
        let box = Size(width: boxWidth, height: boxHeight)
        switch resize.fit {
        case .fill:
            self.init(
                scaled: resize.withoutEnlargement
                    ? Size(width: min(width, box.width), height: min(height, box.height)) : box)
        case .inside, .contain:
            let fitting = size.inside(box)
            let grows = width < box.width && height < box.height
            self.init(scaled: resize.withoutEnlargement && grows ? size : fitting)
            if resize.fit == .contain { canvas = box }
        case .outside, .cover:
            let covering = size.covering(box)
            let grows = width < box.width || height < box.height
            self.init(scaled: resize.withoutEnlargement && grows ? size : covering)
            if resize.fit == .cover { cut(to: box) }
        }
    }

    private init(scaled: Size) {
        self.scaled = scaled
        window = Rectangle(x: 0, y: 0, width: scaled.width, height: scaled.height)
        canvas = scaled
    }

    /// Cuts off the parts outside `box` evenly. An additional pixel is cut off on the right or at the bottom.
    private mutating func cut(to box: Size) {
        let width = min(scaled.width, box.width)
        let height = min(scaled.height, box.height)
        window = Rectangle(
            x: (scaled.width - width) / 2, y: (scaled.height - height) / 2, width: width,
            height: height)
        canvas = Size(width: width, height: height)
    }
}

extension ResizePlan.Size {
    /// a·b / c, with a half rounded up, at least 1.
    private static func share(_ a: Int, _ b: Int, of c: Int) -> Int {
        let (quotient, remainder) = (a * b).quotientAndRemainder(dividingBy: c)
        return max(1, quotient + (remainder >= c - remainder ? 1 : 0))
    }

    func scaled(toWidth target: Int) -> Self {
        Self(width: target, height: Self.share(height, target, of: width))
    }

    func scaled(toHeight target: Int) -> Self {
        Self(width: Self.share(width, target, of: height), height: target)
    }

    /// The largest size of the same proportions within `box`.
    func inside(_ box: Self) -> Self {
        // width / box.width ≥ height / box.height, without a division
        width * box.height >= height * box.width
            ? scaled(toWidth: box.width) : scaled(toHeight: box.height)
    }

    /// The smallest size of the same proportions that covers `box`.
    func covering(_ box: Self) -> Self {
        width * box.height >= height * box.width
            ? scaled(toHeight: box.height) : scaled(toWidth: box.width)
    }
}

extension Filter {
    /// Whether this is a resize that does not change the size of the pixels of such a picture: it changes nothing, or
    /// only cuts and pads.
    func keepsScale(of layout: PixelLayout) -> Bool {
        guard case .resize(let resize) = self else { return false }
        return ResizePlan(resize, width: layout.width, height: layout.height).scaled
            == ResizePlan.Size(width: layout.width, height: layout.height)
    }
}
