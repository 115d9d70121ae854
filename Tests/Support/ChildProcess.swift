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
            shell = try Self.spawn(
                ["/bin/sh", "-c", Self.guardian, program] + arguments, input: pipe[0], log: log)
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

    private static func spawn(_ words: [String], input: CInt, log: String) throws -> pid_t {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, input, 0)
        posix_spawn_file_actions_addopen(&actions, 1, log, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
        posix_spawn_file_actions_adddup2(&actions, 1, 2)
        inheritNothingElse(&actions)

        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var signals = sigset_t()
        sigemptyset(&signals)
        posix_spawnattr_setsigmask(&attributes, &signals)
        sigfillset(&signals)
        posix_spawnattr_setsigdefault(&attributes, &signals)
        posix_spawnattr_setflags(
            &attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))

        var pointers = words.map { strdup($0) }
        defer { pointers.forEach { free($0) } }
        pointers.append(nil)
        var child: pid_t = 0
        try check(posix_spawn(&child, words[0], &actions, &attributes, pointers, environ))
        return child
    }

    /// Has a child begin with standard input, output and error alone: pipes and connections of the tests that run at the
    /// same time would not end before it does.
    package static func inheritNothingElse(_ actions: inout posix_spawn_file_actions_t) {
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
