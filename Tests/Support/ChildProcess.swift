import Foundation
import Synchronization

/// A program that runs for as long as this object, and not longer than the test process even if that
/// crashes: a shell waits for the end of a pipe only the test process holds, and then ends it.
package final class ChildProcess: @unchecked Sendable {
    // Rule: `process` and `lifeline` are used after init() only by `stop()`, behind `isStopped`'s lock,
    // and by `isRunning`, which reads what Foundation keeps behind its own.
    private let process = Process()
    private let lifeline = Pipe()
    private let isStopped = Mutex(false)

    /// `$0` runs with the arguments given; the shell's exit status is its own. A background job's
    /// standard input is /dev/null, so the pipe gets another number.
    private static let guardian = """
        exec 3<&0
        "$0" "$@" 3<&- </dev/null &
        child=$!
        (read -r _ <&3; kill "$child" 2>/dev/null) &
        reader=$!
        wait "$child"
        status=$?
        kill "$reader" 2>/dev/null
        exit "$status"
        """

    /// Standard output and error go to the file `log`.
    package init(_ program: String, _ arguments: [String], log: URL) throws {
        try Data().write(to: log)
        let output = try FileHandle(forWritingTo: log)
        process.executableURL = URL(filePath: "/bin/sh")
        process.arguments = ["-c", Self.guardian, program] + arguments
        process.standardInput = lifeline
        process.standardOutput = output
        process.standardError = output
        try process.run()
    }

    deinit { stop() }

    package var isRunning: Bool { process.isRunning }

    /// Ends the program (SIGTERM) and waits for it.
    package func stop() {
        isStopped.withLock { isStopped in
            if isStopped { return }
            isStopped = true
            try? lifeline.fileHandleForWriting.close()
            process.waitUntilExit()
        }
    }
}
