import DarkroomCore

/// Filters that lay pictures and colours over each other.
extension PictureFilter {
    /// Lays the picture over a colour. The result has no alpha.
    ///
    /// - Parameter background: an opaque colour.
    public static func flatten(background: Colour = .white) -> Self {
        Self("flatten", ["background": .colour(background)])
    }

    /// Lays another picture over this one. Parts outside this picture are cut off.
    ///
    /// - Parameters:
    ///   - path: a picture file. It is opened for each picture that is filtered.
    ///   - gravity: the position from which `x` and `y` count.
    ///   - x: -1000000 to 1000000 pixels: to the left for an eastern position, else to the right.
    ///   - y: -1000000 to 1000000 pixels: up for a southern position, else down.
    ///   - opacity: 0 to 1, the factor for the other picture's alpha.
    ///   - scale: 0.001 to 1, the width of the other picture as a share of this one's; nil to keep its size.
    public static func overlay(
        contentsOf path: String, gravity: Gravity = .center, x: Int = 0, y: Int = 0,
        opacity: Double = 1, scale: Double? = nil
    ) -> Self {
        overlay("overlay", path, gravity, x, y, opacity, scale)
    }

    /// The same as ``overlay(contentsOf:gravity:x:y:opacity:scale:)``, in a corner by default.
    ///
    /// - Parameters:
    ///   - path: a picture file. It is opened for each picture that is filtered.
    ///   - gravity: the position from which `x` and `y` count.
    ///   - x: -1000000 to 1000000 pixels: to the left for an eastern position, else to the right.
    ///   - y: -1000000 to 1000000 pixels: up for a southern position, else down.
    ///   - opacity: 0 to 1, the factor for the other picture's alpha.
    ///   - scale: 0.001 to 1, the width of the other picture as a share of this one's; nil to keep its size.
    public static func watermark(
        contentsOf path: String, gravity: Gravity = .southeast, x: Int = 0, y: Int = 0,
        opacity: Double = 1, scale: Double? = nil
    ) -> Self {
        overlay("watermark", path, gravity, x, y, opacity, scale)
    }

    private static func overlay(
        _ name: String, _ path: String, _ gravity: Gravity, _ x: Int, _ y: Int,
        _ opacity: Double, _ scale: Double?
    ) -> Self {
        Self(
            name,
            [
                "from": .text(ByteString(path)), "gravity": .choice(gravity), "x": .integer(x),
                "y": .integer(y), "opacity": .number(opacity), "scale": scale.map { .number($0) },
            ])
    }
}
