import DarkroomAnswer
import DarkroomClient

extension ClientError {
    /// The last object on standard output if a command with `--json` fails. Its sentences are also on standard error.
    ///
    /// Every command has it, because `DarkroomCommand` prints it. A command that has already printed its summary throws a
    /// `ClientExit` instead of a `ClientError`, so that the summary stays the last object.
    var json: JSONObject { JSONObject(["type": "error", "exit": exit.rawValue], with: facts) }

    /// A line of `--json`: what is in the way of one file or batch. Others follow it, and the summary.
    ///
    /// - Parameters:
    ///   - file: the manifest that it is about.
    ///   - id: the batch that it is about.
    func problem(file: String? = nil, id: String? = nil) -> JSONObject {
        JSONObject(["type": "problem", "file": file, "id": id], with: facts)
    }

    private var facts: JSONObject {
        ["code": code, "message": message, "remedy": remedy, "retryable": isTransient]
    }

    /// Whether a command line has `--json`. It is asked before the parser, which may refuse the line.
    static func isWantedAsJSON(by arguments: [String]) -> Bool {
        // What follows these words belongs to another program, or is a file.
        arguments.prefix { $0 != "--" && $0 != "--exec" }.contains("--json")
    }
}

extension JSONObject {
    /// A line of `--json`: how a batch has ended that was waited for.
    static func ended(_ id: String, _ state: BatchState, _ counts: Status.Counts) -> JSONObject {
        ["type": "batch", "id": id, "state": state, "counts": counts]
    }
}
