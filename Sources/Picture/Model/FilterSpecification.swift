package import DarkroomCore

/// A filter's name, its parameters, and the function that makes a `Filter` from them.
package struct FilterSpecification: Sendable {
    package let name: String
    package let summary: String
    package var parameters: [FilterParameter] = []
    /// Whether a value without a name is a width, or a width and a height: `800`, `800x600`.
    package var takesSides = false
    /// A parameter, and its word, that a value without a name brings along unless it is given: `thumbnail=1600` says that
    /// the picture fits inside.
    package var companion: (name: String, word: String)?
    /// Makes the filter from arguments that have been checked one by one against `parameters`.
    package let make: @Sendable (FilterArguments) throws(FilterIssue) -> Filter

    package func parameter(named name: ByteString) -> FilterParameter? {
        parameters.first { ByteString($0.name) == name }
    }
}

/// A parameter of a filter.
package struct FilterParameter: Sendable {
    package enum Kind: Sendable, Equatable {
        case number(ClosedRange<Double>)
        case integer(ClosedRange<Int>)
        /// One of a few integers.
        case oneOf([Int])
        case choice([String])
        case boolean
        case colour
        /// The name of an image of the same manifest.
        case image
    }

    package let name: String
    package let kind: Kind
    /// The value that is used if no argument is given.
    package var defaultValue: FilterArgument?
    package var isRequired = false

    package static func number(
        _ name: String, _ range: ClosedRange<Double>, default defaultValue: Double? = nil,
        required: Bool = true
    ) -> FilterParameter {
        FilterParameter(
            name: name, kind: .number(range), defaultValue: defaultValue.map { .number($0) },
            isRequired: required && defaultValue == nil)
    }

    package static func integer(
        _ name: String, _ range: ClosedRange<Int>, default defaultValue: Int? = nil,
        required: Bool = true
    ) -> FilterParameter {
        FilterParameter(
            name: name, kind: .integer(range), defaultValue: defaultValue.map { .integer($0) },
            isRequired: required && defaultValue == nil)
    }

    package static func oneOf(_ name: String, _ numbers: [Int]) -> FilterParameter {
        FilterParameter(name: name, kind: .oneOf(numbers), isRequired: true)
    }

    package static func image(_ name: String) -> FilterParameter {
        FilterParameter(name: name, kind: .image, isRequired: true)
    }

    package static func choice(
        _ name: String, _ names: [String], default defaultValue: String?
    ) -> FilterParameter {
        FilterParameter(
            name: name, kind: .choice(names),
            defaultValue: defaultValue.map { .text(ByteString($0)) })
    }

    package static func boolean(_ name: String, default defaultValue: Bool) -> FilterParameter {
        FilterParameter(name: name, kind: .boolean, defaultValue: .boolean(defaultValue))
    }

    package static func colour(_ name: String, default defaultValue: String) -> FilterParameter {
        FilterParameter(name: name, kind: .colour, defaultValue: .text(ByteString(defaultValue)))
    }
}

/// A value for a parameter. Its type is allowed by the parameter's kind.
package enum FilterArgument: Sendable, Equatable {
    case number(Double)
    case integer(Int)
    case text(ByteString)
    case boolean(Bool)
}

/// Arguments that have been checked against a specification, completed with its defaults.
///
/// The typed accessors trap for a name or a type that the specification does not contain: this would be an error in
/// `FilterCatalog`, never one in a manifest.
package struct FilterArguments: Sendable {
    private let values: [String: FilterArgument]
    private let given: Set<String>

    /// Adds the defaults. `given` must contain only names and types that `specification` allows, and all required ones.
    package init(_ given: [String: FilterArgument], for specification: FilterSpecification) {
        self.given = Set(given.keys)
        var values = given
        for parameter in specification.parameters where values[parameter.name] == nil {
            values[parameter.name] = parameter.defaultValue
        }
        self.values = values
    }

    /// Whether it is not the default.
    package func isGiven(_ name: String) -> Bool { given.contains(name) }

    package func has(_ name: String) -> Bool { values[name] != nil }

    package func number(_ name: String) -> Double {
        switch values[name] {
        case .number(let value): value
        case .integer(let value): Double(value)
        default: preconditionFailure("no number \(name)")
        }
    }

    package func optionalNumber(_ name: String) -> Double? { has(name) ? number(name) : nil }

    package func optionalInteger(_ name: String) -> Int? {
        guard case .integer(let value)? = values[name] else { return nil }
        return value
    }

    package func integer(_ name: String) -> Int {
        guard let value = optionalInteger(name) else { preconditionFailure("no integer \(name)") }
        return value
    }

    package func text(_ name: String) -> ByteString {
        guard case .text(let text)? = values[name] else { preconditionFailure("no text \(name)") }
        return text
    }

    package func boolean(_ name: String) -> Bool {
        guard case .boolean(let value)? = values[name] else {
            preconditionFailure("no boolean \(name)")
        }
        return value
    }

    package func choice<Choice: RawRepresentable<String>>(_ name: String) -> Choice {
        guard let choice = Choice(rawValue: text(name).string) else {
            preconditionFailure("no choice \(name)")
        }
        return choice
    }

    package func colour(_ name: String) -> Colour {
        guard let colour = Colour(text(name)) else { preconditionFailure("no colour \(name)") }
        return colour
    }
}

/// Arguments that are correct separately but not together.
package struct FilterIssue: Error, Sendable, Equatable {
    /// The parameter concerned; nil for the filter as a whole.
    package let parameter: String?
    /// The problem, as the end of a sentence that begins with the filter's or the parameter's name.
    package let message: String
}
