import DarkroomClient
import DarkroomManifest

/// The last object on standard output if a command with `--json` fails. Its sentences are also on standard error.
///
/// Every command has it, because `DarkroomCommand` prints it. A command that has already printed its summary throws a
/// `ClientExit` instead of a `ClientError`, so that the summary stays the last object.
struct JSONError: Encodable {
    let type = "error"
    let code: String
    let message: String
    /// What the user can do.
    let remedy: String?
    /// Whether the same command may succeed later.
    let isRetryable: Bool
    let exit: Int32
    /// The problems of the manifest that is refused.
    var errors: [ManifestProblem]?

    private enum CodingKeys: String, CodingKey {
        case type, code, message, remedy, exit, errors
        case isRetryable = "retryable"
    }

    init(_ error: ClientError) {
        code = error.code
        message = error.message
        remedy = error.remedy
        isRetryable = error.isTransient
        exit = error.exit.rawValue
    }

    /// An error of the command line.
    init(code: String, _ message: String, _ exit: Int32) {
        self.code = code
        self.message = message
        remedy = nil
        isRetryable = false
        self.exit = exit
    }

    /// Whether a command line has `--json`. It is asked before the parser, which may refuse the line.
    static func isWanted(by arguments: [String]) -> Bool {
        // What follows these words belongs to another program, or is a file.
        arguments.prefix { $0 != "--" && $0 != "--exec" }.contains("--json")
    }
}
