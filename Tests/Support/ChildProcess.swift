import Foundation
import Synchronization

/// A program that runs for as long as this object, and not longer than the test process even if that
/// crashes: a shell waits for the end of a pipe only the test process holds, and then ends it.
///
/// Not Foundation's Process: a child of one of Dispatch's threads would have all signals blocked.
package final class ChildProcess: Sendable {
    private let shell: pid_t
    /// The pipe's other end; -1 once it is closed.
    private let lifeline: Mutex<CInt>
    private let hasEnded = Mutex(false)

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
    package init(_ program: String, _ arguments: [String], log: String) throws {
        // A pair of sockets is a pipe that can be made close-on-exec from the start.
        var pipe: [CInt] = [-1, -1]
        let kind = CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
        try Self.check(socketpair(AF_UNIX, kind, 0, &pipe) == 0 ? 0 : errno)
        defer { close(pipe[0]) }
        do {
            shell = try Self.spawn(["/bin/sh", "-c", Self.guardian, program] + arguments) {
                posix_spawn_file_actions_adddup2(&$0, pipe[0], 0)
                posix_spawn_file_actions_addopen(
                    &$0, 1, log, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
                posix_spawn_file_actions_adddup2(&$0, 1, 2)
            }
        } catch {
            close(pipe[1])
            throw error
        }
        lifeline = Mutex(pipe[1])
    }

    deinit { stop() }

    package var isRunning: Bool { !reap(WNOHANG) }

    /// Ends the program (SIGTERM) and waits for it.
    package func stop() {
        lifeline.withLock { lifeline in
            if lifeline >= 0 { close(lifeline) }
            lifeline = -1
        }
        _ = reap(0)
    }

    /// Whether the shell has ended; its process number is given up once.
    private func reap(_ options: CInt) -> Bool {
        hasEnded.withLock { hasEnded in
            while !hasEnded {
                let result = waitpid(shell, nil, options)
                if result == 0 { return false }
                hasEnded = result == shell || errno != EINTR
            }
            return true
        }
    }

    /// Starts a program that begins with its standard streams alone, and with no signal ignored: a shell without job control
    /// has those it starts ignore some.
    ///
    /// - Parameters:
    ///   - words: the program and its arguments.
    ///   - environment: nil for that of the tests.
    ///   - blocked: the signals that it begins with as blocked. The tests' threads may block others, and a child would
    ///     inherit that.
    ///   - isLeader: whether it begins a session of its own.
    ///   - open: opens its standard streams.
    package static func spawn(
        _ words: [String], environment: [String: String]? = nil, blocked: [CInt] = [],
        isLeader: Bool = false, open: (inout posix_spawn_file_actions_t) -> Void
    ) throws -> pid_t {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        open(&actions)
        inheritNothingElse(&actions)

        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var signals = sigset_t()
        sigemptyset(&signals)
        for signal in blocked { sigaddset(&signals, signal) }
        posix_spawnattr_setsigmask(&attributes, &signals)
        sigfillset(&signals)
        posix_spawnattr_setsigdefault(&attributes, &signals)
        var flags = Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF)
        // POSIX_SPAWN_SETSID, which Swift's module of glibc does not have.
        if isLeader { flags |= 0x80 }
        posix_spawnattr_setflags(&attributes, flags)

        let arguments = words.map { strdup($0) } + [nil]
        let variables = environment.map { $0.map { strdup("\($0.key)=\($0.value)") } + [nil] }
        defer { (arguments + (variables ?? [])).forEach { free($0) } }
        var child: pid_t = 0
        let error =
            if let variables {
                posix_spawn(&child, words[0], &actions, &attributes, arguments, variables)
            } else {
                posix_spawn(&child, words[0], &actions, &attributes, arguments, environ)
            }
        try check(error)
        return child
    }

    /// Has a child begin with standard input, output and error alone: pipes and connections of the tests that run at the
    /// same time would not end before it does.
    private static func inheritNothingElse(_ actions: inout posix_spawn_file_actions_t) {
        // Swift's module of glibc does not have it.
        typealias CloseFrom =
            @convention(c) (
                UnsafeMutablePointer<posix_spawn_file_actions_t>, CInt
            ) -> CInt
        guard let symbol = dlsym(nil, "posix_spawn_file_actions_addclosefrom_np") else {
            fatalError("glibc 2.34 or newer is needed")
        }
        _ = unsafeBitCast(symbol, to: CloseFrom.self)(&actions, 3)
    }

    private static func check(_ error: CInt) throws {
        if error != 0 { throw POSIXError(POSIXErrorCode(rawValue: error) ?? .EIO) }
    }
}
