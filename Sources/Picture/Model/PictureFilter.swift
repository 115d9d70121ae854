import DarkroomCore

/// A filter and its arguments.
///
/// The filters are those of a manifest, with the same names, ranges and defaults; darkroom-manifest(5) defines what
/// each does. They act on values as they are stored, which is gamma-encoded sRGB as a rule, and on colour that is not
/// multiplied by alpha. Each result is clamped and rounded to 8 or 16 bits before the next filter.
///
/// An argument outside its range is refused with ``PictureError/Code/invalidArguments`` before a file is opened.
public struct PictureFilter: Sendable, Equatable {
    /// As a manifest has it: `hueRotate`.
    public let name: String
    /// By the names of the parameters. What is not here has its default.
    let arguments: [String: FilterArgument]

    init(_ name: String, _ arguments: [String: FilterArgument?] = [:]) {
        self.name = name
        self.arguments = arguments.compactMapValues { $0 }
    }

    /// How a picture is fitted into a box of some width and height.
    @nonexhaustive public enum Fit: String, Sendable, CaseIterable {
        /// As large as fits into the box, the rest of the box filled with the background.
        case contain
        /// As small as covers the box, what stands out cut off evenly.
        case cover
        /// Exactly the box, proportions given up.
        case fill
        /// As large as fits into the box; the result may be smaller than the box on one side.
        case inside
        /// As small as covers the box; the result may be larger than the box on one side.
        case outside
    }

    /// The kernel that weighs the pixels when a picture is scaled.
    @nonexhaustive public enum Kernel: String, Sendable, CaseIterable {
        /// The nearest pixel as it is.
        case nearest
        /// A triangle.
        case linear
        /// Catmull and Rom's cubic.
        case cubic
        /// Mitchell and Netravali's cubic, softer.
        case mitchell
        /// A sinc with two lobes.
        case lanczos2
        /// A sinc with three lobes, the sharpest.
        case lanczos3
    }

    /// A place in a picture: its centre, the middle of a side, a corner.
    public enum Gravity: String, Sendable, CaseIterable {
        /// The centre.
        case center
        /// The middle of the upper side.
        case north
        /// The upper right corner.
        case northeast
        /// The middle of the right side.
        case east
        /// The lower right corner.
        case southeast
        /// The middle of the lower side.
        case south
        /// The lower left corner.
        case southwest
        /// The middle of the left side.
        case west
        /// The upper left corner.
        case northwest
    }

    /// A turn clockwise, in degrees.
    public enum Rotation: Int, Sendable, CaseIterable {
        /// By 90 degrees: what was on the left is at the top.
        case quarter = 90
        /// By 180 degrees.
        case half = 180
        /// By 270 degrees: what was on the right is at the top.
        case threeQuarters = 270
    }
}

/// Filters that look at one pixel at a time.
extension PictureFilter {
    /// Sepia tone.
    ///
    /// - Parameter intensity: 0 to 1; 0 leaves the picture as it is.
    public static func sepia(intensity: Double = 1) -> Self {
        Self("sepia", ["intensity": .number(intensity)])
    }

    /// Black and white with low contrast.
    public static let mono = Self("mono")

    /// The luminance; a whole one makes a gray picture.
    ///
    /// - Parameter amount: 0 to 1; 0 leaves the picture as it is.
    public static func grayscale(amount: Double = 1) -> Self {
        Self("grayscale", ["amount": .number(amount)])
    }

    /// The negative.
    ///
    /// - Parameter amount: 0 to 1; 0 leaves the picture as it is.
    public static func invert(amount: Double = 1) -> Self {
        Self("invert", ["amount": .number(amount)])
    }

    /// Multiplies each colour channel.
    ///
    /// - Parameter amount: 0 to 100; 1 leaves the picture as it is.
    public static func brightness(amount: Double) -> Self {
        Self("brightness", ["amount": .number(amount)])
    }

    /// Spreads each colour channel around the middle.
    ///
    /// - Parameter amount: 0 to 100; 1 leaves the picture as it is.
    public static func contrast(amount: Double) -> Self {
        Self("contrast", ["amount": .number(amount)])
    }

    /// The strength of colour.
    ///
    /// - Parameter amount: 0 to 100; 0 is gray, 1 leaves the picture as it is.
    public static func saturate(amount: Double) -> Self {
        Self("saturate", ["amount": .number(amount)])
    }

    /// Turns hues.
    ///
    /// - Parameter angle: -3600 to 3600 degrees.
    public static func hueRotate(angle: Double) -> Self {
        Self("hueRotate", ["angle": .number(angle)])
    }

    /// Multiplies alpha. A picture without alpha gets one.
    ///
    /// - Parameter amount: 0 to 1; 1 leaves the picture as it is.
    public static func opacity(amount: Double) -> Self {
        Self("opacity", ["amount": .number(amount)])
    }

    /// Makes v^(1/γ) of each value v, where values are from 0 to 1.
    ///
    /// - Parameter gamma: 0.01 to 10; above 1 the middle becomes brighter.
    public static func gamma(_ gamma: Double) -> Self {
        Self("gamma", ["gamma": .number(gamma)])
    }

    /// White where the luminance is at least `level`, black elsewhere: a gray picture.
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

    /// Darkens towards the corners. Distances are in halves of the diagonal: the corners are at 1.
    ///
    /// - Parameters:
    ///   - amount: 0 to 1, of which colour is made darker.
    ///   - radius: 0 to 1, the distance from the centre at which it begins.
    ///   - softness: 0.01 to 1, the distance over which it grows.
    public static func vignette(
        amount: Double = 0.5, radius: Double = 0.5, softness: Double = 0.5
    ) -> Self {
        Self(
            "vignette",
            [
                "amount": .number(amount), "radius": .number(radius), "softness": .number(softness),
            ])
    }

    /// Lays the picture over a colour; the result has no alpha.
    ///
    /// - Parameter background: an opaque colour.
    public static func flatten(background: Colour = .white) -> Self {
        Self("flatten", ["background": .colour(background)])
    }
}
