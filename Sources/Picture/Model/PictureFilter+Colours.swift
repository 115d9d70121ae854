import DarkroomCore

/// Filters that use one pixel at a time.
extension PictureFilter {
    /// Sepia tone.
    ///
    /// - Parameter intensity: 0 to 1; 0 changes nothing.
    public static func sepia(intensity: Double = 1) -> Self {
        Self("sepia", ["intensity": .number(intensity)])
    }

    /// Black and white with low contrast.
    public static let mono = Self("mono")

    /// Luminance. With the amount 1, the result is a gray picture.
    ///
    /// - Parameter amount: 0 to 1; 0 changes nothing.
    public static func grayscale(amount: Double = 1) -> Self {
        Self("grayscale", ["amount": .number(amount)])
    }

    /// The negative.
    ///
    /// - Parameter amount: 0 to 1; 0 changes nothing.
    public static func invert(amount: Double = 1) -> Self {
        Self("invert", ["amount": .number(amount)])
    }

    /// Multiplies each colour channel.
    ///
    /// - Parameter amount: 0 to 100; 1 changes nothing.
    public static func brightness(amount: Double) -> Self {
        Self("brightness", ["amount": .number(amount)])
    }

    /// Increases or decreases each colour channel's distance from the middle.
    ///
    /// - Parameter amount: 0 to 100; 1 changes nothing.
    public static func contrast(amount: Double) -> Self {
        Self("contrast", ["amount": .number(amount)])
    }

    /// The strength of colour.
    ///
    /// - Parameter amount: 0 to 100; 0 is gray, 1 changes nothing.
    public static func saturate(amount: Double) -> Self {
        Self("saturate", ["amount": .number(amount)])
    }

    /// Rotates hues.
    ///
    /// - Parameter angle: -3600 to 3600 degrees.
    public static func hueRotate(angle: Double) -> Self {
        Self("hueRotate", ["angle": .number(angle)])
    }

    /// Multiplies alpha. A picture without alpha gets it.
    ///
    /// - Parameter amount: 0 to 1; 1 changes nothing.
    public static func opacity(amount: Double) -> Self {
        Self("opacity", ["amount": .number(amount)])
    }

    /// Replaces each value v, from 0 to 1, by v^(1/γ).
    ///
    /// - Parameter gamma: 0.01 to 10; above 1 the middle tones become brighter.
    public static func gamma(_ gamma: Double) -> Self { Self("gamma", ["gamma": .number(gamma)]) }

    /// White if the luminance is at least `level`, else black. The result is a gray picture.
    ///
    /// - Parameter level: 0 to 1 of full scale.
    public static func threshold(level: Double = 0.5) -> Self {
        Self("threshold", ["level": .number(level)])
    }

    /// Rounds each colour channel to evenly spaced values.
    ///
    /// - Parameter levels: 2 to 256 values.
    public static func posterize(levels: Int) -> Self {
        Self("posterize", ["levels": .integer(levels)])
    }

    /// Darkens towards the corners. The unit of distances is half of the diagonal: the corners are at 1.
    ///
    /// - Parameters:
    ///   - amount: 0 to 1, the part of colour that is removed in the darkest area.
    ///   - radius: 0 to 1, the distance from the centre at which the darkening begins.
    ///   - softness: 0.01 to 1, the distance over which it increases.
    public static func vignette(
        amount: Double = 0.5, radius: Double = 0.5, softness: Double = 0.5
    ) -> Self {
        Self(
            "vignette",
            [
                "amount": .number(amount), "radius": .number(radius), "softness": .number(softness),
            ])
    }
}
