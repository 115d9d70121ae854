import DarkroomCore

/// A filter and its arguments.
///
/// The filters are those of a manifest, with the same names, ranges and defaults. darkroom-manifest(5) defines them.
/// They apply to stored values, which are usually gamma-encoded sRGB, and to colour that is not multiplied by alpha.
/// Each result is clamped and rounded to 8 or 16 bits before the next filter.
///
/// An argument outside its range causes the error ``PictureError/Code/invalidArguments`` before any file is opened.
public struct PictureFilter: Sendable, Equatable {
    /// As in a manifest: `hueRotate`.
    public let name: String
    /// By the names of the parameters. Missing ones have their defaults.
    let arguments: [String: FilterArgument]

    init(_ name: String, _ arguments: [String: FilterArgument?] = [:]) {
        self.name = name
        self.arguments = arguments.compactMapValues { $0 }
    }

    /// How a picture is fitted into a box with a width and a height.
    @nonexhaustive public enum Fit: String, Sendable, CaseIterable {
        /// The largest size that fits into the box. The rest of the box is filled with the background.
        case contain
        /// The smallest size that covers the box. The parts outside the box are cut off evenly.
        case cover
        /// Exactly the size of the box. The proportions may change.
        case fill
        /// The largest size that fits into the box. One side of the result may be shorter than the box's.
        case inside
        /// The smallest size that covers the box. One side of the result may be longer than the box's.
        case outside
    }

    /// The kernel that defines the weights of pixels when a picture is scaled.
    @nonexhaustive public enum Kernel: String, Sendable, CaseIterable {
        /// The nearest pixel, unchanged.
        case nearest
        /// A triangle.
        case linear
        /// Catmull and Rom's cubic.
        case cubic
        /// Mitchell and Netravali's cubic, which is softer.
        case mitchell
        /// A sinc with two lobes.
        case lanczos2
        /// A sinc with three lobes, the sharpest kernel.
        case lanczos3
    }

    /// A position in a picture: its centre, the middle of a side, or a corner.
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

    /// A clockwise rotation, in degrees.
    public enum Rotation: Int, Sendable, CaseIterable {
        /// By 90 degrees: the left side becomes the top.
        case quarter = 90
        /// By 180 degrees.
        case half = 180
        /// By 270 degrees: the right side becomes the top.
        case threeQuarters = 270
    }
}

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
    public static func gamma(_ gamma: Double) -> Self {
        Self("gamma", ["gamma": .number(gamma)])
    }

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

    /// Lays the picture over a colour. The result has no alpha.
    ///
    /// - Parameter background: an opaque colour.
    public static func flatten(background: Colour = .white) -> Self {
        Self("flatten", ["background": .colour(background)])
    }
}
