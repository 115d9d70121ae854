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
        case nearest, linear, cubic, mitchell, lanczos2, lanczos3
    }

    /// A place in a picture: its centre, the middle of a side, a corner.
    public enum Gravity: String, Sendable, CaseIterable {
        case center, north, northeast, east, southeast, south, southwest, west, northwest
    }

    /// A turn clockwise, in degrees.
    public enum Rotation: Int, Sendable, CaseIterable {
        case quarter = 90
        case half = 180
        case threeQuarters = 270
    }
}

// MARK: Colour

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
}

// MARK: Shape

extension PictureFilter {
    /// Scales the picture to a width, a height or a box of both. At least one must be given.
    ///
    /// - Parameters:
    ///   - width: 1 to 1000000 pixels; nil follows from the height.
    ///   - height: 1 to 1000000 pixels; nil follows from the width.
    ///   - withoutEnlargement: leaves a picture that is smaller as it is.
    ///   - linear: averages light rather than stored values.
    ///   - background: fills what ``Fit/contain`` leaves of the box.
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

    /// A small picture of a size given.
    ///
    /// - Parameters:
    ///   - width: 1 to 1000000 pixels.
    ///   - height: 1 to 1000000 pixels.
    ///   - fit: ``Fit/cover``, ``Fit/contain`` or ``Fit/inside``.
    ///   - background: fills what ``Fit/contain`` leaves of the box.
    public static func thumbnail(
        width: Int, height: Int, fit: Fit = .cover, background: Colour = .transparent
    ) -> Self {
        Self(
            "thumbnail",
            [
                "width": .integer(width), "height": .integer(height), "fit": .choice(fit),
                "background": .colour(background),
            ])
    }

    /// A small square picture.
    ///
    /// - Parameters:
    ///   - size: 1 to 1000000 pixels each way.
    ///   - fit: ``Fit/cover``, ``Fit/contain`` or ``Fit/inside``.
    ///   - background: fills what ``Fit/contain`` leaves of the box.
    public static func thumbnail(
        size: Int, fit: Fit = .cover, background: Colour = .transparent
    ) -> Self {
        Self(
            "thumbnail",
            ["size": .integer(size), "fit": .choice(fit), "background": .colour(background)])
    }

    /// Cuts out a rectangle by its top left corner. It must lie within the picture.
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

    /// Cuts out a rectangle at a place. The picture must be as large.
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
    /// - Parameter tolerance: 0 to 1 of full scale, by which a sample may differ.
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

    /// Adds margins up to a size. A side that is longer stays. At least one must be given.
    ///
    /// - Parameters:
    ///   - width: 1 to 1000000 pixels.
    ///   - height: 1 to 1000000 pixels.
    ///   - gravity: where in the result the picture is placed.
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

    /// Turns the picture clockwise.
    public static func rotate(_ angle: Rotation) -> Self {
        Self("rotate", ["angle": .integer(angle.rawValue)])
    }

    /// Top becomes bottom.
    public static let flip = Self("flip")

    /// Left becomes right.
    public static let flop = Self("flop")
}

// MARK: Neighbours and other pictures

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

    /// Lays the picture over a colour; the result has no alpha.
    ///
    /// - Parameter background: an opaque colour.
    public static func flatten(background: Colour = .white) -> Self {
        Self("flatten", ["background": .colour(background)])
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
