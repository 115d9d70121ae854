import DarkroomCore

/// Filters that look at neighbours, or at other pictures.
extension PictureFilter {
    /// Gaussian blur.
    ///
    /// - Parameter sigma: 0.1 to 250 pixels, the standard deviation.
    public static func blur(sigma: Double) -> Self {
        Self("blur", ["sigma": .number(sigma)])
    }

    /// Unsharp mask.
    ///
    /// - Parameters:
    ///   - sigma: 0.1 to 250 pixels, the standard deviation of the blur.
    ///   - amount: 0 to 10, by which what the blur would take away is multiplied and added.
    ///   - threshold: 0 to 1 of full scale; smaller differences stay.
    public static func sharpen(
        sigma: Double = 1, amount: Double = 1, threshold: Double = 0
    ) -> Self {
        Self(
            "sharpen",
            [
                "sigma": .number(sigma), "amount": .number(amount),
                "threshold": .number(threshold),
            ])
    }

    /// Lays another picture over this one. What lies beside it is cut off.
    ///
    /// - Parameters:
    ///   - path: of a PNG or JPEG file; it is opened for each picture that is filtered.
    ///   - gravity: the place from which `x` and `y` count.
    ///   - x: -1000000 to 1000000 pixels: to the left from an eastern place, to the right from any other.
    ///   - y: -1000000 to 1000000 pixels: up from a southern place, down from any other.
    ///   - opacity: 0 to 1, by which the other picture's alpha is multiplied.
    public static func overlay(
        contentsOf path: String, gravity: Gravity = .center, x: Int = 0, y: Int = 0,
        opacity: Double = 1
    ) -> Self {
        overlay("overlay", path, gravity, x, y, opacity)
    }

    /// ``overlay(contentsOf:gravity:x:y:opacity:)`` in a corner.
    ///
    /// - Parameters:
    ///   - path: of a PNG or JPEG file; it is opened for each picture that is filtered.
    ///   - gravity: the place from which `x` and `y` count.
    ///   - x: -1000000 to 1000000 pixels: to the left from an eastern place, to the right from any other.
    ///   - y: -1000000 to 1000000 pixels: up from a southern place, down from any other.
    ///   - opacity: 0 to 1, by which the other picture's alpha is multiplied.
    public static func watermark(
        contentsOf path: String, gravity: Gravity = .southeast, x: Int = 0, y: Int = 0,
        opacity: Double = 1
    ) -> Self {
        overlay("watermark", path, gravity, x, y, opacity)
    }

    private static func overlay(
        _ name: String, _ path: String, _ gravity: Gravity, _ x: Int, _ y: Int, _ opacity: Double
    ) -> Self {
        Self(
            name,
            [
                "from": .text(ByteString(path)), "gravity": .choice(gravity), "x": .integer(x),
                "y": .integer(y), "opacity": .number(opacity),
            ])
    }
}
