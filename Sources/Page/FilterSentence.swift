import DarkroomCore
import DarkroomPicture

/// A filter in words, as a page shows it: `resize to 800 × 600, cover`.
enum FilterSentence {
    static func text(_ filter: Filter) -> String {
        switch filter {
        case .sepia(let intensity): "sepia, intensity \(number(intensity))"
        case .mono: "mono"
        case .grayscale(let amount): "grayscale \(percent(amount))"
        case .invert(let amount): "invert \(percent(amount))"
        case .brightness(let amount): "brightness \(percent(amount))"
        case .contrast(let amount): "contrast \(percent(amount))"
        case .saturate(let amount): "saturation \(percent(amount))"
        case .hueRotate(let angle): "hues rotated by \(number(angle))°"
        case .opacity(let amount): "opacity \(percent(amount))"
        case .gamma(let gamma): "gamma \(number(gamma))"
        case .threshold(let level): "threshold at \(percent(level))"
        case .posterize(let levels): "posterize to \(levels) levels"
        case .vignette(let vignette):
            "vignette \(percent(vignette.amount)), radius \(number(vignette.radius)), "
                + "softness \(number(vignette.softness))"
        case .flatten(let background): "on \(colour(background))"
        case .overlay(let overlay): text(overlay)
        case .resize(let resize): text(resize)
        case .crop(.rectangle(let x, let y, let width, let height)):
            "crop \(width) × \(height) from (\(x), \(y))"
        case .crop(.gravity(let gravity, let width, let height)):
            "crop \(width) × \(height), \(gravity.rawValue)"
        case .trim(let tolerance): "trim borders, tolerance \(percent(tolerance))"
        case .pad(let pad): text(pad)
        case .rotate(let rotation): "rotate by \(rotation.rawValue)°"
        case .flip: "flip (top becomes bottom)"
        case .flop: "flop (left becomes right)"
        case .blur(let sigma): "blur, σ \(number(sigma)) pixels"
        case .sharpen(let sigma, let amount, let threshold):
            "sharpen \(percent(amount)), σ \(number(sigma)) pixels, threshold \(number(threshold))"
        }
    }

    private static func text(_ overlay: Filter.Overlay) -> String {
        var words = "\(overlay.from) laid over it, \(overlay.gravity.rawValue)"
        if overlay.x != 0 || overlay.y != 0 { words += ", moved by (\(overlay.x), \(overlay.y))" }
        if overlay.opacity != 1 { words += ", opacity \(percent(overlay.opacity))" }
        if let scale = overlay.scale { words += ", \(percent(scale)) of the width" }
        return words
    }

    private static func text(_ resize: Filter.Resize) -> String {
        let size =
            switch (resize.width, resize.height) {
            case (let width?, let height?): "\(width) × \(height), \(resize.fit.rawValue)"
            case (let width?, nil): "width \(width)"
            case (nil, let height?): "height \(height)"
            case (nil, nil): "the same size"
            }
        var words = "resize to \(size)"
        if resize.withoutEnlargement { words += ", never larger" }
        if resize.kernel != .lanczos3 { words += ", \(resize.kernel.rawValue)" }
        if resize.linear { words += ", in linear light" }
        return words
    }

    private static func text(_ pad: Filter.Pad) -> String {
        let background = colour(pad.background)
        switch pad.size {
        case .margins(let top, let right, let bottom, let left):
            return "margins of \(top), \(right), \(bottom) and \(left) pixels, \(background)"
        case .atLeast(let width, let height, let gravity):
            let sides = [width.map { "width \($0)" }, height.map { "height \($0)" }]
            return "pad to \(sides.compactMap { $0 }.joined(separator: ", ")), "
                + "\(gravity.rawValue), \(background)"
        }
    }

    private static func colour(_ colour: Colour) -> String {
        switch colour {
        case .transparent: return "transparent"
        case .white: return "white"
        case .black: return "black"
        default:
            let channels = [colour.red, colour.green, colour.blue, colour.alpha]
            return "#" + Hexadecimal.text(of: channels.prefix(colour.alpha == 255 ? 3 : 4))
        }
    }

    private static func percent(_ share: Double) -> String { "\(number(share * 100)) %" }

    /// At most three decimals.
    private static func number(_ value: Double) -> String {
        ((value * 1000).rounded() / 1000).briefly
    }
}
