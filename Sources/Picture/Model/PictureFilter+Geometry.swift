/// Filters that change width and height, or the position of pixels.
extension PictureFilter {
    /// Scales the picture to a width, a height or a box. At least one side must be given.
    ///
    /// - Parameters:
    ///   - width: 1 to 1000000 pixels; nil to calculate it from the height.
    ///   - height: 1 to 1000000 pixels; nil to calculate it from the width.
    ///   - withoutEnlargement: leaves smaller pictures unchanged.
    ///   - linear: averages light instead of stored values.
    ///   - background: fills the part of the box that ``Fit/contain`` leaves empty.
    public static func resize(
        width: Int? = nil, height: Int? = nil, fit: Fit = .inside, kernel: Kernel = .lanczos3,
        withoutEnlargement: Bool = false, linear: Bool = false, background: Colour = .transparent
    ) -> Self {
        Self(
            "resize",
            [
                "width": width.map { .integer($0) }, "height": height.map { .integer($0) },
                "fit": .choice(fit), "kernel": .choice(kernel),
                "withoutEnlargement": .boolean(withoutEnlargement), "linear": .boolean(linear),
                "background": .colour(background),
            ])
    }

    /// A small picture that fits into a box, and is not enlarged.
    ///
    /// - Parameters:
    ///   - width: 1 to 1000000 pixels.
    ///   - height: 1 to 1000000 pixels.
    ///   - fit: ``Fit/inside``; ``Fit/cover``, which cuts to the box; or ``Fit/contain``, which fills it up.
    ///   - background: fills the part of the box that ``Fit/contain`` leaves empty.
    public static func thumbnail(
        width: Int, height: Int, fit: Fit = .inside, background: Colour = .transparent
    ) -> Self {
        Self(
            "thumbnail",
            [
                "width": .integer(width), "height": .integer(height), "fit": .choice(fit),
                "background": .colour(background),
            ])
    }

    /// A small picture that fits into a square, and is not enlarged.
    ///
    /// - Parameters:
    ///   - size: 1 to 1000000 pixels for both sides.
    ///   - fit: ``Fit/inside``; ``Fit/cover``, which cuts to the box; or ``Fit/contain``, which fills it up.
    ///   - background: fills the part of the box that ``Fit/contain`` leaves empty.
    public static func thumbnail(
        size: Int, fit: Fit = .inside, background: Colour = .transparent
    ) -> Self {
        Self(
            "thumbnail",
            ["size": .integer(size), "fit": .choice(fit), "background": .colour(background)])
    }

    /// Cuts out a rectangle, given by its top left corner. It must be within the picture.
    ///
    /// - Parameters:
    ///   - x: 0 to 1000000 pixels from the left.
    ///   - y: 0 to 1000000 pixels from the top.
    ///   - width: 1 to 1000000 pixels.
    ///   - height: 1 to 1000000 pixels.
    public static func crop(x: Int, y: Int, width: Int, height: Int) -> Self {
        Self(
            "crop",
            [
                "x": .integer(x), "y": .integer(y), "width": .integer(width),
                "height": .integer(height),
            ])
    }

    /// Cuts out a rectangle at a position. The picture must be at least as large.
    ///
    /// - Parameters:
    ///   - width: 1 to 1000000 pixels.
    ///   - height: 1 to 1000000 pixels.
    public static func crop(width: Int, height: Int, gravity: Gravity) -> Self {
        Self(
            "crop",
            [
                "width": .integer(width), "height": .integer(height), "gravity": .choice(gravity),
            ])
    }

    /// Cuts off borders that look like the top left pixel.
    ///
    /// - Parameter tolerance: 0 to 1 of full scale, the maximum difference of a sample.
    public static func trim(tolerance: Double = 0.04) -> Self {
        Self("trim", ["tolerance": .number(tolerance)])
    }

    /// Adds margins.
    ///
    /// - Parameters:
    ///   - top: 0 to 1000000 pixels.
    ///   - right: 0 to 1000000 pixels.
    ///   - bottom: 0 to 1000000 pixels.
    ///   - left: 0 to 1000000 pixels.
    public static func pad(
        top: Int = 0, right: Int = 0, bottom: Int = 0, left: Int = 0,
        background: Colour = .transparent
    ) -> Self {
        Self(
            "pad",
            [
                "top": .integer(top), "right": .integer(right), "bottom": .integer(bottom),
                "left": .integer(left), "background": .colour(background),
            ])
    }

    /// Adds margins up to a minimum size. A longer side stays unchanged. At least one side must be given.
    ///
    /// - Parameters:
    ///   - width: 1 to 1000000 pixels.
    ///   - height: 1 to 1000000 pixels.
    ///   - gravity: the position of the picture in the result.
    public static func pad(
        width: Int? = nil, height: Int? = nil, gravity: Gravity, background: Colour = .transparent
    ) -> Self {
        Self(
            "pad",
            [
                "width": width.map { .integer($0) }, "height": height.map { .integer($0) },
                "gravity": .choice(gravity), "background": .colour(background),
            ])
    }

    /// Rotates the picture clockwise.
    public static func rotate(_ angle: Rotation) -> Self {
        Self("rotate", ["angle": .integer(angle.rawValue)])
    }

    /// Top becomes bottom.
    public static let flip = Self("flip")

    /// Left becomes right.
    public static let flop = Self("flop")
}
