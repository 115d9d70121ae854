import Foundation
import Synchronization

/// A darkroomd of this build running as a process of its own, with a notification socket of ours.
///
/// Whoever lets go of it without stopping it kills it.
package final class DaemonProcess: Sendable {
    /// How a process ended.
    package enum Ending: Equatable, Sendable {
        case exited(Int32)
        case killed(signal: Int32)
    }

    package let identifier: pid_t
    package let notifications: NotifySocket
    private let output: URL
    private let ending = Mutex<Ending?>(nil)
    /// Holds the output and the socket.
    private let scratch: ScratchDirectory

    /// Starts it and returns at once; `run` also waits until it is ready.
    ///
    /// - Parameters:
    ///   - withInotify: false for a namespace in which nobody may have an inotify instance.
    ///   - blocked: signals that are blocked from the start, as by a parent that has blocked them.
    ///   - limit: what `ulimit` is told before, `-n 20` say.
    ///   - user: who it runs as, where that is not the tests' user; for root to say.
    ///   - program: another program than that of this build; nil for this.
    package init(
        arguments: [String], environment: [String: String] = [:], withInotify: Bool = true,
        blocked: [CInt] = [], limit: String? = nil, user: UInt32? = nil, program: String? = nil
    ) throws {
        scratch = try ScratchDirectory()
        output = scratch.url.appending(path: "output")
        notifications = try NotifySocket(path: scratch.url.appending(path: "notify").path)
        // Nothing of the tests' own environment reaches the daemon: no proxy and no setting.
        var variables = [
            "PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "LANG": "C.UTF-8",
            "NOTIFY_SOCKET": notifications.path,
        ]
        for name in ["TSAN_OPTIONS", "ASAN_OPTIONS", "LD_LIBRARY_PATH", "LD_PRELOAD"] {
            variables[name] = ProcessInfo.processInfo.environment[name]
        }
        variables.merge(environment) { $1 }
        let program = try program ?? Self.program()
        // Each program replaces itself by the next, so the process is the daemon's in the end.
        var words = [program] + arguments
        if !withInotify { words = [Self.unshare] + Self.withoutInotify + words }
        if let limit {
            words = ["/bin/sh", "-c", "ulimit \(limit) && exec \"$0\" \"$@\""] + words
        }
        if let user { words = Self.asUser(user) + words }
        let path = output.path
        identifier = try ChildProcess.spawn(
            words, environment: variables, blocked: blocked
        ) {
            posix_spawn_file_actions_addopen(&$0, 0, "/dev/null", O_RDONLY, 0)
            posix_spawn_file_actions_addopen(
                &$0, 1, path, O_WRONLY | O_CREAT | O_APPEND, 0o600)
            posix_spawn_file_actions_adddup2(&$0, 1, 2)
        }
    }

    deinit {
        if currentEnding() == nil {
            kill(identifier, SIGKILL)
            var status: CInt = 0
            while waitpid(identifier, &status, 0) == -1, errno == EINTR {}
        }
    }

    /// A command line for a spool. The tests' origins are on this machine, which a daemon of its own accord
    /// does not fetch from; unless `settings` has other networks for it, it is told to. Without a cache, so that
    /// tests know what is fetched; one that is to have it gives its folder and size.
    package static func arguments(spool: String, settings: [String: String] = [:]) -> [String] {
        let defaultValue = ["downloads.allowNetworks": "[127.0.0.0/8]", "cache.maxBytes": "0"]
        let all = defaultValue.merging(settings) { $1 }
        return all.sorted { $0.key < $1.key }.reduce(into: ["--spool", spool]) {
            $0 += ["--set", "\($1.key)=\($1.value)"]
        }
    }

    /// Starts it on a spool, with `arguments(spool:settings:)` and further ones, and waits until it says
    /// READY=1.
    package static func run(
        spool: String, settings: [String: String] = [:], arguments: [String] = [],
        environment: [String: String] = [:], withInotify: Bool = true
    ) async throws -> DaemonProcess {
        let daemon = try DaemonProcess(
            arguments: Self.arguments(spool: spool, settings: settings) + arguments,
            environment: environment, withInotify: withInotify)
        try await daemon.waitUntil("READY=1") { $0.notifications.last("READY") == "1" }
        return daemon
    }

    /// What it has written to its standard output and error.
    package var outputText: String {
        (try? String(decoding: Data(contentsOf: output), as: UTF8.self)) ?? ""
    }

    /// The newest `STATUS=` text.
    package var statusText: String { notifications.last("STATUS") ?? "" }

    package func send(_ signal: CInt) {
        kill(identifier, signal)
    }

    /// Waits for something to become true of it; gives up when the process has ended instead.
    package func waitUntil(
        _ what: String, condition: (DaemonProcess) throws -> Bool
    ) async throws {
        try await eventually(what, context: { describe() }) {
            if try condition(self) { return () }
            if let ending = currentEnding() {
                throw DeadlineExceeded("\(ending) before \(what). \(describe())")
            }
            return nil
        }
    }

    /// Waits for words in its output: what it tells of may be seen elsewhere before.
    package func says(_ words: String) async throws {
        try await waitUntil("'\(words)' in its output") { $0.outputText.contains(words) }
    }

    /// Waits for a status text that begins with `prefix`.
    package func waitForStatusText(_ prefix: String) async throws {
        try await waitUntil("a status text that begins with '\(prefix)'") {
            $0.statusText.hasPrefix(prefix)
        }
    }

    /// Has it begin nothing more, and waits until it says so.
    package func pause() async throws {
        send(SIGUSR1)
        try await waitForStatusText("Paused")
    }

    /// Has it read its configuration again, taken or refused: RELOADING=1 with its moment, and READY=1 after it.
    package func reload() async throws {
        let before = notifications.lines.count
        send(SIGHUP)
        try await waitUntil("RELOADING=1 with its moment, and then READY=1") {
            let lines = $0.notifications.lines.dropFirst(before)
            guard let reloading = lines.firstIndex(of: "RELOADING=1") else { return false }
            return lines.contains { $0.hasPrefix("MONOTONIC_USEC=") }
                && lines[reloading...].contains("READY=1")
        }
    }

    package func waitForEnding() async throws -> Ending {
        try await eventually("the daemon's end", context: { describe() }) { currentEnding() }
    }

    /// Asks it to stop and waits until it has.
    package func stop() async throws -> Ending {
        send(SIGTERM)
        return try await waitForEnding()
    }

    /// Kills it and waits until it is gone.
    package func killAtOnce() async throws {
        send(SIGKILL)
        _ = try await waitForEnding()
    }

    /// How it has ended, if it has.
    package func currentEnding() -> Ending? {
        ending.withLock { ending in
            var status: CInt = 0
            if ending == nil, waitpid(identifier, &status, WNOHANG) == identifier {
                // wait(2): the low seven bits are the signal, the second byte the exit status.
                let signal = status & 0x7f
                ending = signal == 0 ? .exited((status >> 8) & 0xff) : .killed(signal: signal)
            }
            return ending
        }
    }

    /// Its status text and the end of its output, for a message about something that went wrong.
    package func describe() -> String {
        """
        Its status text: '\(statusText)'; its output ends:
        \(outputText.split(separator: "\n").suffix(40).joined(separator: "\n"))
        """
    }

    /// Begins a command line that runs another user's. The program is opened before: the folders above it may be closed
    /// to that user. Its name decides that it is a daemon.
    private static func asUser(_ user: UInt32) -> [String] {
        let script = """
            exec 9<"$0" && exec setpriv --reuid=\(user) --regid=\(user) --clear-groups \
                bash -c 'exec -a darkroomd /proc/self/fd/9 "$@"' bash "$@"
            """
        return ["/bin/sh", "-c", script]
    }

    /// Runs it to its end, for command lines that do not start a daemon.
    package static func end(
        arguments: [String], environment: [String: String] = [:], user: UInt32? = nil
    ) async throws -> (ending: Ending, output: String) {
        let process = try DaemonProcess(
            arguments: arguments, environment: environment, user: user)
        let ending = try await process.waitForEnding()
        return (ending, process.outputText)
    }

    /// The program beside the running tests, or the one that TEST_DARKROOMD names.
    package static func program() throws -> String {
        if let path = ProcessInfo.processInfo.environment["TEST_DARKROOMD"] { return path }
        let tests = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        return URL(filePath: tests).deletingLastPathComponent().appending(path: "darkroomd").path
    }
}
