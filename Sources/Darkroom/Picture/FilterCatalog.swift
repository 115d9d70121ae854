/// The filters there are: their names, parameters, ranges and defaults.
///
/// This is the one list of them. The manifest reader checks against it and the tests hold the JSON
/// Schema and the README to it.
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
            name: "hueRotate", summary: "turns hues by degrees",
            parameters: [.number("angle", -3600...3600)]
        ) { .hueRotate(angle: $0.number("angle")) },
        FilterSpecification(
            name: "opacity", summary: "multiplies alpha",
            parameters: [.number("amount", 0...1)]
        ) { .opacity(amount: $0.number("amount")) },
        resize,
        crop,
        FilterSpecification(
            name: "rotate", summary: "turns clockwise by 90, 180 or 270 degrees",
            parameters: [.integer("angle", 90...270)]
        ) { arguments throws(FilterIssue) in
            guard let rotation = Filter.Rotation(rawValue: arguments.integer("angle")) else {
                throw FilterIssue(parameter: "angle", message: "must be 90, 180 or 270")
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

    private static let byName = Dictionary(uniqueKeysWithValues: all.map { ($0.name, $0) })

    package static func specification(named name: String) -> FilterSpecification? { byName[name] }

    /// The largest side a filter may ask for, in pixels. PNG itself allows 2³¹ − 1; the limit on the
    /// number of pixels of a picture is a setting and is checked when the size is known.
    package static let sides = 1...1_000_000

    private static let resize = FilterSpecification(
        name: "resize", summary: "scales to a width, a height or a box",
        parameters: [
            .integer("width", sides, required: false), .integer("height", sides, required: false),
            .choice("fit", Filter.Fit.allCases.map(\.rawValue), default: "inside"),
            .choice("kernel", Filter.Kernel.allCases.map(\.rawValue), default: "lanczos3"),
            .boolean("withoutEnlargement", default: false), .boolean("linear", default: false),
            .colour("background", default: "transparent"),
        ]
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

    private static let crop = FilterSpecification(
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
                throw FilterIssue(
                    parameter: "gravity", message: "cannot stand beside x and y: name one or other")
            }
            return .crop(.gravity(arguments.choice("gravity"), width: width, height: height))
        }
        guard let x, let y else {
            throw FilterIssue(parameter: nil, message: "needs x and y, or gravity")
        }
        return .crop(.rectangle(x: x, y: y, width: width, height: height))
    }
}

/// A filter's name, its parameters, and how they make a `Filter`.
package struct FilterSpecification: Sendable {
    package let name: String
    package let summary: String
    package let parameters: [FilterParameter]
    /// Makes the filter of arguments that have been checked one by one against `parameters`.
    package let make: @Sendable (FilterArguments) throws(FilterIssue) -> Filter

    package init(
        name: String, summary: String, parameters: [FilterParameter] = [],
        make: @escaping @Sendable (FilterArguments) throws(FilterIssue) -> Filter
    ) {
        self.name = name
        self.summary = summary
        self.parameters = parameters
        self.make = make
    }
}

/// A parameter of a filter.
package struct FilterParameter: Sendable {
    package enum Kind: Sendable, Equatable {
        case number(ClosedRange<Double>)
        case integer(ClosedRange<Int>)
        case choice([String])
        case boolean
        case colour
    }

    package let name: String
    package let kind: Kind
    /// What stands for an argument that is not given.
    package let standard: FilterArgument?
    package let isRequired: Bool

    package static func number(
        _ name: String, _ range: ClosedRange<Double>, default standard: Double? = nil
    ) -> FilterParameter {
        FilterParameter(
            name: name, kind: .number(range), standard: standard.map { .number($0) },
            isRequired: standard == nil)
    }

    package static func integer(
        _ name: String, _ range: ClosedRange<Int>, required: Bool = true
    ) -> FilterParameter {
        FilterParameter(name: name, kind: .integer(range), standard: nil, isRequired: required)
    }

    package static func choice(
        _ name: String, _ names: [String], default standard: String?
    ) -> FilterParameter {
        FilterParameter(
            name: name, kind: .choice(names), standard: standard.map { .text($0) },
            isRequired: false)
    }

    package static func boolean(_ name: String, default standard: Bool) -> FilterParameter {
        FilterParameter(
            name: name, kind: .boolean, standard: .boolean(standard), isRequired: false)
    }

    package static func colour(_ name: String, default standard: String) -> FilterParameter {
        FilterParameter(name: name, kind: .colour, standard: .text(standard), isRequired: false)
    }
}

/// A value given for a parameter, of a type that its kind allows.
package enum FilterArgument: Sendable, Equatable {
    case number(Double)
    case integer(Int)
    case text(String)
    case boolean(Bool)
}

/// Arguments that have been checked against a specification, its defaults filled in.
///
/// The typed accessors trap on a name or a type that the specification does not promise: that would be
/// an error in `FilterCatalog`, never one of a manifest.
package struct FilterArguments: Sendable {
    private let values: [String: FilterArgument]

    /// Fills in the defaults. `given` holds only names and types that `specification` allows, and all
    /// that it requires.
    package init(_ given: [String: FilterArgument], for specification: FilterSpecification) {
        var values = given
        for parameter in specification.parameters where values[parameter.name] == nil {
            values[parameter.name] = parameter.standard
        }
        self.values = values
    }

    package func has(_ name: String) -> Bool { values[name] != nil }

    package func number(_ name: String) -> Double {
        switch values[name] {
        case .number(let value): value
        case .integer(let value): Double(value)
        default: preconditionFailure("no number \(name)")
        }
    }

    package func optionalInteger(_ name: String) -> Int? {
        guard case .integer(let value)? = values[name] else { return nil }
        return value
    }

    package func integer(_ name: String) -> Int {
        guard let value = optionalInteger(name) else { preconditionFailure("no integer \(name)") }
        return value
    }

    package func boolean(_ name: String) -> Bool {
        guard case .boolean(let value)? = values[name] else {
            preconditionFailure("no boolean \(name)")
        }
        return value
    }

    package func choice<Choice: RawRepresentable<String>>(_ name: String) -> Choice {
        guard case .text(let text)? = values[name], let choice = Choice(rawValue: text) else {
            preconditionFailure("no choice \(name)")
        }
        return choice
    }

    package func colour(_ name: String) -> Colour {
        guard case .text(let text)? = values[name], let colour = Colour(text) else {
            preconditionFailure("no colour \(name)")
        }
        return colour
    }
}

/// Arguments that are right one by one but not together.
package struct FilterIssue: Error, Sendable, Equatable {
    /// The parameter to point at, or nil for the filter as a whole.
    package let parameter: String?
    /// What is wrong, as the end of a sentence that begins with the filter's or parameter's name.
    package let message: String

    package init(parameter: String?, message: String) {
        self.parameter = parameter
        self.message = message
    }
}
