/// One filter with its parameters, checked, as the pipeline uses it. `PictureFilter` is its public form.
///
/// If the W3C's Filter Effects Module Level 1 defines a filter, that definition is used. Filters apply to gamma-encoded
/// sRGB, to colour that is not multiplied by alpha. Each result is clamped and rounded before the next filter. See
/// `FilterCatalog` for names, ranges and defaults.
package enum Filter: Sendable, Equatable {
    /// Sepia tone. `intensity` 0 changes nothing, 1 gives full sepia.
    case sepia(intensity: Double)
    /// Black and white with low contrast, Darkroom's own definition; see `ColourFilters.mono`.
    case mono
    case grayscale(amount: Double)
    case invert(amount: Double)
    case brightness(amount: Double)
    case contrast(amount: Double)
    case saturate(amount: Double)
    /// Rotates hues by `angle` degrees.
    case hueRotate(angle: Double)
    /// Multiplies alpha by `amount`.
    case opacity(amount: Double)
    /// v becomes v^(1/γ), with values from 0 to 1.
    case gamma(Double)
    /// White if the luminance is at least `level` of full scale, else black. The result is a gray picture.
    case threshold(level: Double)
    /// Rounds each channel to the nearest of `levels` evenly spaced values.
    case posterize(levels: Int)
    case vignette(Vignette)
    /// Lays the picture over an opaque colour. The result has no alpha.
    case flatten(background: Colour)
    case overlay(Overlay)
    case resize(Resize)
    case crop(Crop)
    /// Cuts off borders that look like the top left pixel: no sample differs by more than `tolerance` of full scale, or
    /// both pixels are transparent.
    case trim(tolerance: Double)
    case pad(Pad)
    /// Rotates the picture clockwise.
    case rotate(Rotation)
    /// Top becomes bottom.
    case flip
    /// Left becomes right.
    case flop
    /// Gaussian blur with a standard deviation of `sigma` pixels.
    case blur(sigma: Double)
    case sharpen(sigma: Double, amount: Double, threshold: Double)

    /// The parameters of `resize`. At least one of `width` and `height` is set.
    package struct Resize: Sendable, Equatable {
        package var width: Int?
        package var height: Int?
        package var fit: Fit
        /// What earlier versions did if the filter does not say how it fits, and this has another meaning now.
        package var formerFit: Fit?
        package var kernel: Kernel
        package var withoutEnlargement: Bool
        /// Whether light is averaged instead of encoded values.
        package var linear: Bool
        /// The colour with which `contain` fills the rest of the box.
        package var background: Colour
        /// The picture, if it was reduced when it was decoded. It is no parameter: the pipeline adds it.
        var source: ReducedSource?

        package init(
            width: Int? = nil, height: Int? = nil, fit: Fit = .inside, kernel: Kernel = .lanczos3,
            withoutEnlargement: Bool = false, linear: Bool = false,
            background: Colour = .transparent, formerFit: Fit? = nil
        ) {
            self.width = width
            self.height = height
            self.fit = fit
            self.formerFit = formerFit
            self.kernel = kernel
            self.withoutEnlargement = withoutEnlargement
            self.linear = linear
            self.background = background
        }

        /// What to write where `formerFit` is not nil.
        package static let fitAdvice = "‘fit: cover’ cuts, and ‘fit: inside’ keeps the whole"
    }

    package typealias Fit = PictureFilter.Fit
    package typealias Kernel = PictureFilter.Kernel
    package typealias Gravity = PictureFilter.Gravity
    package typealias Rotation = PictureFilter.Rotation

    /// The parameters of `vignette`. Colour is multiplied by 1 − amount·s. s grows from 0 at the distance `radius` from
    /// the picture's centre to 1 at `radius` + `softness`, as the smooth step 3t² − 2t³. The unit of distances is half
    /// of the diagonal: the corners are at 1.
    package struct Vignette: Sendable, Equatable {
        package var amount = 0.5
        package var radius = 0.5
        package var softness = 0.5
    }

    /// The parameters of `overlay` and `watermark`: another image is laid over the picture.
    package struct Overlay: Sendable, Equatable {
        /// The other image's name.
        package var from: String
        package var gravity = Gravity.center
        /// Pixels from the position of `gravity`: to the left for an eastern position, else to the right.
        package var x = 0
        /// Pixels up for a southern position, else down.
        package var y = 0
        /// The factor for the other image's alpha.
        package var opacity = 1.0
        /// The width to which the other image is scaled, as a share of the picture's width; nil to keep its size.
        package var scale: Double?
    }

    /// The parameters of `pad`.
    package struct Pad: Sendable, Equatable {
        package var size: Size
        package var background: Colour

        package init(_ size: Size, background: Colour = .transparent) {
            self.size = size
            self.background = background
        }

        package enum Size: Sendable, Equatable {
            /// Margins in pixels, on each side.
            case margins(top: Int, right: Int, bottom: Int, left: Int)
            /// A minimum width and height. Gravity defines the position of the picture. A side that is longer already
            /// stays.
            case atLeast(width: Int?, height: Int?, Gravity)
        }
    }

    /// The parameters of `crop`.
    package enum Crop: Sendable, Equatable {
        /// A rectangle. (x, y) is its top left pixel.
        case rectangle(x: Int, y: Int, width: Int, height: Int)
        /// A rectangle of the given size at the position of gravity.
        case gravity(Gravity, width: Int, height: Int)
    }
}

extension Filter {
    /// Whether each pixel of the result depends on the same pixel alone, and not on its place.
    var isPointOperation: Bool {
        switch self {
        case .sepia, .mono, .grayscale, .invert, .brightness, .contrast, .saturate, .hueRotate,
            .opacity, .gamma, .threshold, .posterize, .flatten:
            true
        case .vignette, .overlay, .resize, .crop, .trim, .pad, .rotate, .flip, .flop, .blur,
            .sharpen:
            false
        }
    }
}
