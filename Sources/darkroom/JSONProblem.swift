import DarkroomAnswer
import DarkroomClient
import DarkroomCore
import DarkroomManifest
import DarkroomSpool

/// A line of `--json`: what is in the way of one file or batch. Others follow it, and the summary.
struct JSONProblem: Encodable {
    let type = "problem"
    /// The manifest that it is about.
    let file: String?
    /// The batch that it is about.
    let id: String?
    let code: String
    let message: String
    /// What the user can do.
    let remedy: String?
    /// Whether the same command may succeed later.
    let isRetryable: Bool

    private enum CodingKeys: String, CodingKey {
        case type, file, id, code, message, remedy
        case isRetryable = "retryable"
    }

    init(file: String? = nil, id: String? = nil, _ error: ClientError) {
        self.file = file
        self.id = id
        code = error.code
        message = error.message
        remedy = error.remedy
        isRetryable = error.isTransient
    }
}

/// A line of `--json`: a manifest with errors, as `check` shows it.
struct RejectedManifest: Encodable {
    let type = "manifest"
    let file: String
    let errors: [ManifestProblem]
}

/// A line of `--json`: how a batch has ended that was waited for.
struct EndedBatch: Encodable {
    let type = "batch"
    let id: String
    let state: BatchState
    let counts: Status.Counts
}

/// The manifest of a command has errors, and there is nothing else to do.
struct RefusedManifest: Error {
    /// Its name in messages.
    let shown: String
    let problems: [ManifestProblem]

    static let exit = ClientExit.rejected

    /// What stands after the lines of the problems, for programs.
    var json: JSONError {
        var error = JSONError(
            code: "manifest-rejected", "\(shown): \(Words.count(problems.count, "error"))",
            Self.exit.rawValue)
        error.errors = problems
        return error
    }

    func complain() {
        for problem in problems { Console.problem(problem.line(in: shown)) }
    }
}
