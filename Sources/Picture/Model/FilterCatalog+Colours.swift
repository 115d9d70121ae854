import DarkroomCore

/// The filters that change colours.
extension FilterCatalog {
    static let colours: [FilterSpecification] = [
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
    ]
}
