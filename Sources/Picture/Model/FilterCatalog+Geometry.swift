import DarkroomCore

/// The filters that change the size or the position of pixels.
extension FilterCatalog {
    static let geometry: [FilterSpecification] = [
        resize,
        thumbnail,
        crop,
        filter(
            "trim", "cuts off even borders", .number("tolerance", 0...1, default: 0.04),
            Filter.trim),
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
    ]

    static let resize = FilterSpecification(
        name: "resize", summary: "scales to a width, a height or a box",
        parameters: [
            .integer("width", sides, required: false), .integer("height", sides, required: false),
            .choice("fit", Filter.Fit.allCases.map(\.rawValue), default: "inside"),
            .choice("kernel", Filter.Kernel.allCases.map(\.rawValue), default: "lanczos3"),
            .boolean("withoutEnlargement", default: false), .boolean("linear", default: false),
            .colour("background", default: "transparent"),
        ],
        takesSides: true
    ) { arguments throws(FilterIssue) in
        let width = arguments.optionalInteger("width")
        let height = arguments.optionalInteger("height")
        if width == nil, height == nil {
            throw FilterIssue(parameter: nil, message: "needs a width, a height or both")
        }
        return .resize(
            Filter.Resize(
                width: width, height: height, fit: arguments.choice("fit"),
                kernel: arguments.choice("kernel"),
                withoutEnlargement: arguments.boolean("withoutEnlargement"),
                linear: arguments.boolean("linear"), background: arguments.colour("background")))
    }

    static let thumbnail = FilterSpecification(
        name: "thumbnail", summary: "a small picture of a given size",
        parameters: [
            .integer("size", sides, required: false), .integer("width", sides, required: false),
            .integer("height", sides, required: false),
            .choice("fit", ["inside", "cover", "contain"], default: "inside"),
            .colour("background", default: "transparent"),
        ],
        takesSides: true, companion: ("fit", "inside")
    ) { arguments throws(FilterIssue) in
        let size = arguments.optionalInteger("size")
        let width = arguments.optionalInteger("width")
        let height = arguments.optionalInteger("height")
        if size != nil, width != nil || height != nil {
            throw FilterIssue(
                parameter: "size",
                message: "cannot be combined with width and height")
        }
        guard let width = size ?? width, let height = size ?? height else {
            throw FilterIssue(parameter: nil, message: "needs a size, or a width and a height")
        }
        let fit: Filter.Fit = arguments.choice("fit")
        return .resize(
            Filter.Resize(
                width: width, height: height, fit: fit, withoutEnlargement: fit == .inside,
                background: arguments.colour("background"),
                formerFit: arguments.isGiven("fit") ? nil : .cover))
    }

    static let crop = FilterSpecification(
        name: "crop", summary: "cuts out a rectangle, by its corner or by gravity",
        parameters: [
            .integer("width", sides), .integer("height", sides),
            .integer("x", 0...sides.upperBound, required: false),
            .integer("y", 0...sides.upperBound, required: false),
            .choice("gravity", Filter.Gravity.allCases.map(\.rawValue), default: nil),
        ]
    ) { arguments throws(FilterIssue) in
        let width = arguments.integer("width")
        let height = arguments.integer("height")
        let x = arguments.optionalInteger("x")
        let y = arguments.optionalInteger("y")
        if arguments.has("gravity") {
            if x != nil || y != nil {
                throw FilterIssue(parameter: "gravity", message: "cannot be combined with x and y")
            }
            return .crop(.gravity(arguments.choice("gravity"), width: width, height: height))
        }
        guard let x, let y else {
            throw FilterIssue(parameter: nil, message: "needs x and y, or gravity")
        }
        return .crop(.rectangle(x: x, y: y, width: width, height: height))
    }

    static let pad = FilterSpecification(
        name: "pad", summary: "adds margins, or fills up to a size",
        parameters: [
            margin("top"), margin("right"), margin("bottom"), margin("left"),
            .integer("width", sides, required: false), .integer("height", sides, required: false),
            .choice("gravity", Filter.Gravity.allCases.map(\.rawValue), default: nil),
            .colour("background", default: "transparent"),
        ]
    ) { arguments throws(FilterIssue) in
        let background = arguments.colour("background")
        let margins = ["top", "right", "bottom", "left"]
        let width = arguments.optionalInteger("width")
        let height = arguments.optionalInteger("height")
        guard let given = margins.first(where: { arguments.has($0) }) else {
            if width == nil, height == nil {
                throw FilterIssue(
                    parameter: nil, message: "needs margins, or a width, a height or both")
            }
            let gravity: Filter.Gravity =
                arguments.has("gravity") ? arguments.choice("gravity") : .center
            return .pad(
                Filter.Pad(
                    .atLeast(width: width, height: height, gravity), background: background))
        }
        if width != nil || height != nil || arguments.has("gravity") {
            throw FilterIssue(
                parameter: given,
                message: "cannot be combined with width, height and gravity")
        }
        let pixels = margins.map { arguments.optionalInteger($0) ?? 0 }
        return .pad(
            Filter.Pad(
                .margins(top: pixels[0], right: pixels[1], bottom: pixels[2], left: pixels[3]),
                background: background))
    }

    private static func margin(_ name: String) -> FilterParameter {
        .integer(name, 0...sides.upperBound, required: false)
    }
}
