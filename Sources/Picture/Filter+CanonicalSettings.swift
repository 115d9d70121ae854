package import DarkroomCore

// What decides the pixels and the bytes of a result, besides its source and the versions of the program: written in one
// form, so that equal settings have equal texts and others have other texts. Every parameter stands in it, also one with
// its default value: a manifest that spells a default out means the same. Those of the output are in
// OutputOptions+CanonicalSettings.swift; `Manifest.settings(of:)` puts them together.
//
// A text with this form is only compared with others of the same version of Darkroom.

extension Filter {
    /// Writes its name and its parameters.
    package func writeCanonically(_ writer: inout JSONWriter) {
        switch self {
        case .sepia(let intensity): writer.filter("sepia", ("intensity", intensity))
        case .mono: writer.filter("mono")
        case .grayscale(let amount): writer.filter("grayscale", ("amount", amount))
        case .invert(let amount): writer.filter("invert", ("amount", amount))
        case .brightness(let amount): writer.filter("brightness", ("amount", amount))
        case .contrast(let amount): writer.filter("contrast", ("amount", amount))
        case .saturate(let amount): writer.filter("saturate", ("amount", amount))
        case .hueRotate(let angle): writer.filter("hueRotate", ("angle", angle))
        case .opacity(let amount): writer.filter("opacity", ("amount", amount))
        case .gamma(let value): writer.filter("gamma", ("value", value))
        case .threshold(let level): writer.filter("threshold", ("level", level))
        case .posterize(let levels): writer.filter("posterize", ("levels", Double(levels)))
        case .vignette(let vignette):
            writer.filter(
                "vignette", ("amount", vignette.amount), ("radius", vignette.radius),
                ("softness", vignette.softness))
        case .flatten(let background):
            writer.filter("flatten")
            writer.add("background", background)
        case .overlay(let overlay):
            writer.filter("overlay", ("opacity", overlay.opacity))
            writer.add("scale", overlay.scale)
            writer.add("from", overlay.from)
            writer.add("gravity", overlay.gravity.rawValue)
            writer.add(("x", overlay.x), ("y", overlay.y))
        case .resize(let resize):
            writer.filter("resize")
            writer.add(("width", resize.width), ("height", resize.height))
            writer.add("fit", resize.fit.rawValue)
            writer.add("kernel", resize.kernel.rawValue)
            writer.add("withoutEnlargement", resize.withoutEnlargement)
            writer.add("linear", resize.linear)
            writer.add("background", resize.background)
        case .crop(.rectangle(let x, let y, let width, let height)):
            writer.filter("crop")
            writer.add(("x", x), ("y", y), ("width", width), ("height", height))
        case .crop(.gravity(let gravity, let width, let height)):
            writer.filter("crop")
            writer.add("gravity", gravity.rawValue)
            writer.add(("width", width), ("height", height))
        case .trim(let tolerance): writer.filter("trim", ("tolerance", tolerance))
        case .pad(let pad):
            writer.filter("pad")
            writer.add("background", pad.background)
            switch pad.size {
            case .margins(let top, let right, let bottom, let left):
                writer.add(("top", top), ("right", right), ("bottom", bottom), ("left", left))
            case .atLeast(let width, let height, let gravity):
                writer.add(("width", width), ("height", height))
                writer.add("gravity", gravity.rawValue)
            }
        case .rotate(let rotation):
            writer.filter("rotate", ("degrees", Double(rotation.rawValue)))
        case .flip: writer.filter("flip")
        case .flop: writer.filter("flop")
        case .blur(let sigma): writer.filter("blur", ("sigma", sigma))
        case .sharpen(let sigma, let amount, let threshold):
            writer.filter("sharpen", ("sigma", sigma), ("amount", amount), ("threshold", threshold))
        }
    }
}

extension JSONWriter {
    fileprivate mutating func filter(
        _ name: String, _ parameters: (key: StaticString, value: Double)...
    ) {
        add("name", name)
        for (key, value) in parameters { add(key, value) }
    }

    fileprivate mutating func add(_ pixels: (key: StaticString, value: Int?)...) {
        for (key, value) in pixels { add(key, value) }
    }

    fileprivate mutating func add(_ key: StaticString, _ colour: Colour) { add(key, colour.digits) }
}
