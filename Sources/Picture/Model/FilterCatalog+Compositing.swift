import DarkroomCore

/// The filters that lay pictures over each other.
extension FilterCatalog {
    static let layers: [FilterSpecification] = [
        flatten,
        overlay("overlay", gravity: .center, summary: "lays another image over the picture"),
        overlay("watermark", gravity: .southeast, summary: "the same, in a corner"),
    ]

    static let flatten = FilterSpecification(
        name: "flatten", summary: "lays the picture over a colour, removes alpha",
        parameters: [.colour("background", default: "white")]
    ) { arguments throws(FilterIssue) in
        let background = arguments.colour("background")
        if background.alpha < 255 {
            throw FilterIssue(parameter: "background", message: "must be opaque")
        }
        return .flatten(background: background)
    }

    /// `overlay` and its other name. Their default positions differ.
    static func overlay(
        _ name: String, gravity: Filter.Gravity, summary: String
    ) -> FilterSpecification {
        FilterSpecification(
            name: name, summary: summary,
            parameters: [
                .image("from"),
                .choice(
                    "gravity", Filter.Gravity.allCases.map(\.rawValue), default: gravity.rawValue),
                .integer("x", -sides.upperBound...sides.upperBound, default: 0),
                .integer("y", -sides.upperBound...sides.upperBound, default: 0),
                .number("opacity", 0...1, default: 1),
                .number("scale", 0.001...1, required: false),
            ]
        ) {
            .overlay(
                Filter.Overlay(
                    from: $0.text("from").string, gravity: $0.choice("gravity"), x: $0.integer("x"),
                    y: $0.integer("y"), opacity: $0.number("opacity"),
                    scale: $0.optionalNumber("scale")))
        }
    }
}
