import DarkroomCore

/// Something wrong with a configuration.
package struct ConfigurationProblem: Sendable, Equatable {
    /// Where a text of the configuration stands, in the order in which problems are told.
    package enum Place: Sendable, Comparable {
        /// 0 for the file as a whole.
        case file(line: Int)
        case environment(variable: String)
        /// Of `--set`, by its number.
        case commandLine(Int)
        /// The file of `downloads.headers`, by the number of the problem.
        case headers(Int)
    }

    package let place: Place
    /// Says the place, too.
    package let message: String
}

/// Everything wrong with a configuration, each with its place.
package struct ConfigurationError: CodedError, Equatable {
    package let problems: [String]

    package var code: String { "configuration" }
    package var message: String { problems.joined(separator: "\n") }
    package var isTransient: Bool { false }

    package init(problems: [String]) { self.problems = problems }

    /// Tells them in the order of their places.
    init(_ problems: [ConfigurationProblem]) {
        let ordered = problems.enumerated().sorted {
            ($0.element.place, $0.offset) < ($1.element.place, $1.offset)
        }
        self.problems = ordered.map(\.element.message)
    }
}
