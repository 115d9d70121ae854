import DarkroomCore

/// An error of a configuration: where it is, and what must be changed.
package struct ConfigurationProblem: Sendable, Equatable {
    /// The place of a text of the configuration. The cases are in the order in which errors are printed.
    package enum Place: Sendable, Comparable {
        /// 0 for the file as a whole.
        case file(line: Int)
        case environment(variable: String)
        /// The number of the `--set`.
        case commandLine(Int)
        /// The file of `downloads.headers`; the number of the error.
        case headers(Int)
        /// A file of the folder of recipes; the number of the error.
        case recipes(Int)
    }

    package let place: Place
    /// Contains the place too.
    package let message: String
}

/// All errors of a configuration, each with its place.
package struct ConfigurationError: CodedError, Equatable {
    package let problems: [String]

    package var code: String { "configuration" }
    package var message: String { problems.joined(separator: "\n") }
    package var isTransient: Bool { false }

    package init(problems: [String]) { self.problems = problems }

    init(_ problems: [ConfigurationProblem]) {
        let ordered = problems.enumerated().sorted {
            ($0.element.place, $0.offset) < ($1.element.place, $1.offset)
        }
        self.problems = ordered.map(\.element.message)
    }
}

extension [ConfigurationProblem] {
    mutating func add(_ message: String, at place: ConfigurationProblem.Place = .file(line: 0)) {
        append(ConfigurationProblem(place: place, message: message))
    }
}
