package import DarkroomCore

/// All filters: their names, parameters, ranges and defaults.
///
/// There is no other list of them. The manifest reader uses it, and tests compare the JSON Schema, the manual and the
/// README with it.
package enum FilterCatalog {
    package static let all: [FilterSpecification] = [
        FilterSpecification(
            name: "sepia", summary: "sepia tone",
            parameters: [.number("intensity", 0...1, default: 1)]
        ) { .sepia(intensity: $0.number("intensity")) },
        FilterSpecification(name: "mono", summary: "black and white with low contrast") { _ in
            .mono
        },
        FilterSpecification(
            name: "grayscale", summary: "luminance",
            parameters: [.number("amount", 0...1, default: 1)]
        ) { .grayscale(amount: $0.number("amount")) },
        FilterSpecification(
            name: "invert", summary: "negative",
            parameters: [.number("amount", 0...1, default: 1)]
        ) { .invert(amount: $0.number("amount")) },
        FilterSpecification(
            name: "brightness", summary: "multiplies each channel",
            parameters: [.number("amount", 0...100)]
        ) { .brightness(amount: $0.number("amount")) },
        FilterSpecification(
            name: "contrast", summary: "spreads each channel around the middle",
            parameters: [.number("amount", 0...100)]
        ) { .contrast(amount: $0.number("amount")) },
        FilterSpecification(
            name: "saturate", summary: "strength of colour, 0 is gray, 1 unchanged",
            parameters: [.number("amount", 0...100)]
        ) { .saturate(amount: $0.number("amount")) },
        FilterSpecification(
            name: "hueRotate", summary: "rotates hues by degrees",
            parameters: [.number("angle", -3600...3600)]
        ) { .hueRotate(angle: $0.number("angle")) },
        FilterSpecification(
            name: "opacity", summary: "multiplies alpha",
            parameters: [.number("amount", 0...1)]
        ) { .opacity(amount: $0.number("amount")) },
        FilterSpecification(
            name: "gamma", summary: "brightens the middle above 1, darkens it below",
            parameters: [.number("gamma", 0.01...10)]
        ) { .gamma($0.number("gamma")) },
        FilterSpecification(
            name: "threshold", summary: "black and white, without grays",
            parameters: [.number("level", 0...1, default: 0.5)]
        ) { .threshold(level: $0.number("level")) },
        FilterSpecification(
            name: "posterize", summary: "reduces the levels of each channel",
            parameters: [.integer("levels", 2...256)]
        ) { .posterize(levels: $0.integer("levels")) },
        FilterSpecification(
            name: "vignette", summary: "darkens towards the corners",
            parameters: [
                .number("amount", 0...1, default: 0.5), .number("radius", 0...1, default: 0.5),
                .number("softness", 0.01...1, default: 0.5),
            ]
        ) {
            .vignette(
                Filter.Vignette(
                    amount: $0.number("amount"), radius: $0.number("radius"),
                    softness: $0.number("softness")))
        },
        flatten,
        overlay("overlay", gravity: .center, summary: "lays another image over the picture"),
        overlay("watermark", gravity: .southeast, summary: "the same, in a corner"),
        resize,
        thumbnail,
        crop,
        FilterSpecification(
            name: "trim", summary: "cuts off even borders",
            parameters: [.number("tolerance", 0...1, default: 0.04)]
        ) { .trim(tolerance: $0.number("tolerance")) },
        pad,
        FilterSpecification(
            name: "rotate", summary: "rotates clockwise by 90, 180 or 270 degrees",
            parameters: [.oneOf("angle", Filter.Rotation.allCases.map(\.rawValue))]
        ) {
            guard let rotation = Filter.Rotation(rawValue: $0.integer("angle")) else {
                preconditionFailure("an angle that the parameter does not allow")
            }
            return .rotate(rotation)
        },
        FilterSpecification(name: "flip", summary: "top becomes bottom") { _ in .flip },
        FilterSpecification(name: "flop", summary: "left becomes right") { _ in .flop },
        FilterSpecification(
            name: "blur", summary: "Gaussian blur",
            parameters: [.number("sigma", 0.1...250)]
        ) { .blur(sigma: $0.number("sigma")) },
        FilterSpecification(
            name: "sharpen", summary: "unsharp mask",
            parameters: [
                .number("sigma", 0.1...250, default: 1), .number("amount", 0...10, default: 1),
                .number("threshold", 0...1, default: 0),
            ]
        ) {
            .sharpen(
                sigma: $0.number("sigma"), amount: $0.number("amount"),
                threshold: $0.number("threshold"))
        },
    ]

    private static let byName = Dictionary(
        uniqueKeysWithValues: all.map { (ByteString($0.name), $0) })
    private static let longestName = all.map(\.name.utf8.count).max() ?? 0

    package static func specification(named name: ByteString) -> FilterSpecification? {
        // A manifest may contain any text as a name, and, by aliases, many times.
        name.utf8.count <= longestName ? byName[name] : nil
    }

    /// The maximum of a side that a filter may request, in pixels. PNG itself allows 2³¹ − 1. The maximum number of
    /// pixels of a picture is a setting, which is checked when the size is known.
    package static let sides = 1...1_000_000
}
