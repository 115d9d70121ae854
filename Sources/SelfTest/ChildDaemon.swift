import CDarkroomShims
import DarkroomCore
import Glibc
import SystemPackage

/// A darkroomd that runs as a child of a test and ends with it at the latest.
package final class ChildDaemon {
    package enum Ending: Equatable, CustomStringConvertible {
        case exited(Int32)
        case killed(signal: Int32)

        package var description: String {
            switch self {
            case .exited(let code): "it exited with \(code)"
            case .killed(let signal): "signal \(signal) ended it"
            }
        }
    }

    private let identifier: pid_t
    private var ending: Ending?

    /// Starts `program` as a daemon, whatever the name of its file. It gets only the given variables of this process's
    /// environment.
    ///
    /// - Parameter log: the file to which its output is appended.
    package init(
        _ program: String, _ arguments: [String], environment: [String: String] = [:], log: String
    ) throws(FileError) {
        let output = open(log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
        guard output >= 0 else { throw FileError(.open, log, Errno(rawValue: errno)) }
        defer { close(output) }
        var variables = ["PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "LANG": "C.UTF-8"]
        // The libraries of a toolchain may be found only by this variable.
        variables["LD_LIBRARY_PATH"] = getenv("LD_LIBRARY_PATH").map { String(cString: $0) }
        variables.merge(environment) { $1 }
        var words = (["darkroomd"] + arguments).map { strdup($0) } + [nil]
        var pairs = variables.map { strdup("\($0.key)=\($0.value)") } + [nil]
        defer { (words + pairs).forEach { free($0) } }
        identifier = darkroom_spawn(program, &words, &pairs, output)
        guard identifier > 0 else { throw FileError(.start, program, Errno(rawValue: errno)) }
    }

    deinit { end() }

    /// Its number, until its end is known.
    package var process: pid_t { identifier }

    package func send(_ signal: CInt) {
        // After it has been waited for, another process may get its number.
        if poll() == nil { kill(identifier, signal) }
    }

    /// How it ended; nil while it runs.
    package func poll() -> Ending? {
        reap(WNOHANG)
        return ending
    }

    /// Kills it if it still runs, and waits until it has ended.
    package func end() {
        send(SIGKILL)
        reap(0)
    }

    /// Waits for its end, for at most `seconds`.
    ///
    /// - Returns: nil if it still runs then.
    package func wait(_ seconds: Double) throws(SelfTestError) -> Ending? {
        try eventually(within: seconds) { poll() }
    }

    private func reap(_ options: CInt) {
        guard ending == nil else { return }
        var status: CInt = 0
        while true {
            let result = waitpid(identifier, &status, options)
            if result == -1, errno == EINTR { continue }
            guard result == identifier else { return }
            // From wait(2): the low seven bits are the signal, the second byte is the exit status.
            let signal = status & 0x7f
            ending = signal == 0 ? .exited((status >> 8) & 0xff) : .killed(signal: signal)
            return
        }
    }
}

/// The reason why a self-test stopped early.
package enum SelfTestError: CodedError, Equatable {
    /// It received SIGINT, SIGTERM or SIGHUP.
    case interrupted
    case file(FileError)
    /// There is an error after which further results would have no meaning.
    case broken(String)

    package var code: String {
        switch self {
        case .interrupted: "interrupted"
        case .file(let error): error.code
        case .broken: "self-test"
        }
    }

    package var message: String {
        switch self {
        case .interrupted: "interrupted"
        case .file(let error): error.message
        case .broken(let message): message
        }
    }

    package var isTransient: Bool { false }
}

/// Calls `condition` every two milliseconds until it returns a value, for at most `seconds`. Signals that would end
/// this process are blocked; a pending one ends the wait with an error.
package func eventually<Value>(
    within seconds: Double, _ condition: () throws(SelfTestError) -> Value?
) throws(SelfTestError) -> Value? {
    let deadline = Clock.nanoseconds + UInt64(seconds * 1e9)
    while true {
        if let value = try condition() { return value }
        var pending = sigset_t()
        sigpending(&pending)
        for signal in [SIGINT, SIGTERM, SIGHUP] where sigismember(&pending, signal) == 1 {
            throw .interrupted
        }
        if Clock.nanoseconds >= deadline { return nil }
        usleep(2000)
    }
}

/// Sleeps until the time is over or a signal arrives.
package func pass(_ seconds: Double) throws(SelfTestError) {
    _ = try eventually(within: seconds) { () -> Void? in nil }
}

package func onFiles<Value>(_ body: () throws(FileError) -> Value) throws(SelfTestError) -> Value {
    do {
        return try body()
    } catch {
        throw .file(error)
    }
}

/// The same for one expression.
package func onFiles<Value>(
    of value: @autoclosure () throws(FileError) -> Value
) throws(SelfTestError) -> Value {
    try onFiles(value)
}
