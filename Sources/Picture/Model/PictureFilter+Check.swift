import DarkroomCore

extension PictureFilter {
    /// The filter for the pipeline.
    ///
    /// - Throws: `invalidArguments` if the catalog does not allow the arguments.
    func checked() throws(PictureError) -> Filter {
        guard let specification = FilterCatalog.specification(named: ByteString(name)) else {
            preconditionFailure("\(name) is not in the catalog")
        }
        for parameter in specification.parameters {
            guard let argument = arguments[parameter.name],
                let rule = parameter.rule(brokenBy: argument)
            else { continue }
            throw refusal("\(parameter.name) must be \(rule), not \(argument.words)")
        }
        do {
            return try specification.make(FilterArguments(arguments, for: specification))
        } catch {
            throw refusal(
                [error.parameter, error.message].compactMap { $0 }.joined(separator: " "))
        }
    }

    private func refusal(_ words: String) -> PictureError {
        PictureError(.invalidArguments, "\(name): \(words)")
    }
}

extension FilterParameter {
    /// What an argument must be; nil if it is correct.
    fileprivate func rule(brokenBy argument: FilterArgument) -> String? {
        switch (kind, argument) {
        case (.number(let range), .number(let value)):
            range.contains(value)
                ? nil : "\(range.lowerBound.briefly) to \(range.upperBound.briefly)"
        case (.integer(let range), .integer(let value)):
            range.contains(value) ? nil : "\(range.lowerBound) to \(range.upperBound)"
        case (.choice(let words), .text(let word)):
            words.contains(where: { ByteString($0) == word }) ? nil : Words.list(words, "or")
        case (.oneOf, .integer), (.boolean, .boolean), (.colour, .text), (.image, .text): nil
        default: preconditionFailure("\(name) is of another kind in the catalog")
        }
    }
}

extension FilterArgument {
    static func choice(_ choice: some RawRepresentable<String>) -> Self {
        .text(ByteString(choice.rawValue))
    }

    /// In the form that `Colour` reads.
    static func colour(_ colour: Colour) -> Self { .text(ByteString("#\(colour.digits)")) }

    /// For a message.
    package var words: String {
        switch self {
        case .number(let value): value.briefly
        case .integer(let value): "\(value)"
        case .text(let text): text.string
        case .boolean(let value): "\(value)"
        }
    }
}
