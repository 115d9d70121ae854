import DarkroomCore

/// Filters that use neighbouring pixels.
extension PictureFilter {
    /// Gaussian blur.
    ///
    /// - Parameter sigma: 0.1 to 250 pixels, the standard deviation.
    public static func blur(sigma: Double) -> Self { Self("blur", ["sigma": .number(sigma)]) }

    /// Unsharp mask.
    ///
    /// - Parameters:
    ///   - sigma: 0.1 to 250 pixels, the standard deviation of the blur.
    ///   - amount: 0 to 10, the factor for the difference from the blurred picture, which is added.
    ///   - threshold: 0 to 1 of full scale; smaller differences are not changed.
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
}
