import DarkroomCore

/// The filters that change colours.
extension FilterCatalog {
    static let colours: [FilterSpecification] = [
        filter("sepia", "sepia tone", .number("intensity", 0...1, default: 1), Filter.sepia),
        FilterSpecification(name: "mono", summary: "black and white with low contrast") { _ in
            .mono
        },
        filter("grayscale", "luminance", .number("amount", 0...1, default: 1), Filter.grayscale),
        filter("invert", "negative", .number("amount", 0...1, default: 1), Filter.invert),
        filter(
            "brightness", "multiplies each channel", .number("amount", 0...100), Filter.brightness),
        filter(
            "contrast", "spreads each channel around the middle", .number("amount", 0...100),
            Filter.contrast),
        filter(
            "saturate", "strength of colour, 0 is gray, 1 unchanged", .number("amount", 0...100),
            Filter.saturate),
        filter(
            "hueRotate", "rotates hues by degrees", .number("angle", -3600...3600),
            Filter.hueRotate),
        filter("opacity", "multiplies alpha", .number("amount", 0...1), Filter.opacity),
        filter(
            "gamma", "brightens the middle above 1, darkens it below", .number("gamma", 0.01...10),
            Filter.gamma),
        filter(
            "threshold", "black and white, without grays", .number("level", 0...1, default: 0.5),
            Filter.threshold),
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
