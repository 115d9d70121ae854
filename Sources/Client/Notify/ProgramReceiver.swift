import DarkroomAnswer
import DarkroomCore
import DarkroomSpool
import Foundation
import Glibc

/// A program that is run for each end. It has the status on standard input, and in its environment:
/// `DARKROOM_ID`, `DARKROOM_STATE`, `DARKROOM_OUTBOX` (the folder of the answer), `DARKROOM_END` (which differs for each
/// end and is the same for each call for it).
package struct ProgramReceiver: Sendable {
    private let words: [String]

    /// - Throws: if there is no such program.
    package init(_ words: [String]) throws(ClientError) {
        guard let name = words.first, !name.isEmpty else {
            throw ClientError(.usage, code: "no-program", "--exec needs a program")
        }
        self.words = words
        guard Self.isFound(name) else {
            throw ClientError(
                .missing, code: "no-program",
                "\(name.visible): there is no such program, or you may not run it",
                remedy: name.contains("/") ? nil : "It is looked for in the folders of PATH.")
        }
    }

    private static func isFound(_ name: String) -> Bool {
        let folders =
            name.contains("/")
            ? [""]
            : (ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin").split(separator: ":")
                .map { "\($0)/" }
        return folders.contains { folder in
            let path = folder + name
            return stat(path: path)?.isRegularFile == true && access(path, X_OK) == 0
        }
    }

    func call(
        for end: BatchEnd, status: borrowing Descriptor, folder: String
    ) -> Result<any NotificationCall, CallFailure> {
        let values = [
            ("DARKROOM_ID", end.id), ("DARKROOM_STATE", end.progress.state.rawValue),
            ("DARKROOM_OUTBOX", folder), ("DARKROOM_END", end.identifier),
        ]
        var environment: [String] = ProcessInfo.processInfo.environment.compactMap { name, value in
            // The program is not the service, and has nothing to tell its manager.
            let isOwn = name == "NOTIFY_SOCKET" || values.contains { $0.0 == name }
            return isOwn ? nil : "\(name)=\(value)"
        }
        environment += values.map { "\($0.0)=\($0.1)" }
        var process: pid_t = 0
        let error = spawn(&process, environment, input: status.number)
        guard error == 0 else {
            return .failure(
                CallFailure(
                    reason:
                        "\(words[0].visible) cannot be started: \(String(cString: strerror(error)))"
                )
            )
        }
        return .success(ProgramCall(process, name: words[0].visible))
    }

    private func spawn(_ process: inout pid_t, _ environment: [String], input: CInt) -> CInt {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO)
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        // Handled and ignored signals are those of this command. A group of its own, so that a signal for the command
        // does not reach the program, and so that the program can be ended with its children.
        var signals = sigset_t([])
        posix_spawnattr_setsigmask(&attributes, &signals)
        sigfillset(&signals)
        posix_spawnattr_setsigdefault(&attributes, &signals)
        posix_spawnattr_setpgroup(&attributes, 0)
        posix_spawnattr_setflags(
            &attributes,
            Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP))
        var argv = words.map { strdup($0) } + [nil]
        var envp = environment.map { strdup($0) } + [nil]
        defer { for text in argv + envp { free(text) } }
        return posix_spawnp(&process, words[0], &actions, &attributes, &argv, &envp)
    }
}
