/// Collects the problems of a manifest up to a limit, then only counts them.
package struct ProblemList: Sendable {
    /// A manifest with 100,000 bad names must not produce a status file with 100,000 errors.
    package static let maximum = 100

    private var problems: [ManifestProblem] = []
    private var more = 0
    package var isEmpty: Bool { problems.isEmpty }

    /// Whether another problem would be listed and not only counted. Code with expensive messages checks this first.
    package var listsMore: Bool { problems.count < Self.maximum }

    package mutating func add(
        _ code: ProblemCode, _ message: @autoclosure () -> String,
        at path: @autoclosure () -> DocumentPath, _ place: Document.Place,
        suggestion: @autoclosure () -> String? = nil
    ) {
        guard listsMore else {
            more += 1
            return
        }
        problems.append(
            ManifestProblem(
                code, message(), path: path().description, place: place, suggestion: suggestion()))
    }

    package mutating func add(_ problem: ManifestProblem) {
        if listsMore { problems.append(problem) } else { more += 1 }
    }

    /// Throws the collected problems, ordered by place; problems without a place keep their order.
    package func throwIfAny() throws(ManifestRejection) {
        if problems.isEmpty { return }
        var listed = problems.enumerated().sorted { a, b in
            let left = (a.element.line ?? 0, a.element.column ?? 0, a.offset)
            let right = (b.element.line ?? 0, b.element.column ?? 0, b.offset)
            return left < right
        }.map(\.element)
        if more > 0 {
            listed.append(
                ManifestProblem(
                    .tooManyProblems, "\(more) further problem\(more == 1 ? "" : "s")", path: "",
                    place: .none))
        }
        throw ManifestRejection(problems: listed)
    }
}

extension ManifestProblem {
    package init(
        _ code: ProblemCode, _ message: String, path: String = "", place: Document.Place,
        suggestion: String? = nil
    ) {
        self.init(
            code: code.rawValue, message: message, path: path,
            line: place == .none ? nil : Int(place.line),
            column: place == .none ? nil : Int(place.column), suggestion: suggestion)
    }

    /// Ends the reading of a manifest whose result is not needed any more. Nobody sees this problem.
    static let interrupted = ManifestProblem(.syntax, "reading was interrupted", place: .none)

    package static func tooDeep(at place: Document.Place) -> ManifestProblem {
        ManifestProblem(
            .tooDeep, "lists and maps are nested more than \(Document.maximumHeight) deep",
            place: place)
    }
}
