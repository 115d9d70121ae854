import Foundation
import Synchronization
import TestSupport
import Testing

/// The `darkroom` of this build as a process of its own, begun by a shell that sets its surroundings.
final class ClientProcess: Sendable {
    /// How it ended and what it wrote.
    struct Result: Sendable, Equatable {
        var exit: Int32
        var output: String
        var errors: String

        /// That it ended so, and wrote this and nothing else.
        func expect(
            exit: Int32, output: String = "", errors: String = "",
            sourceLocation: SourceLocation = #_sourceLocation
        ) {
            #expect(
                self == Result(exit: exit, output: output, errors: errors),
                sourceLocation: sourceLocation)
        }

        /// The objects of its standard output, one a line.
        func objects() throws -> [[String: Any]] {
            try output.split(separator: "\n").map { try jsonObject($0.utf8) }
        }

        /// With another text in place of a path that differs in each run.
        func replacing(_ path: String, with text: String = ".") -> Result {
            Result(
                exit: exit, output: output.replacing(path, with: text),
                errors: errors.replacing(path, with: text))
        }
    }

    let identifier: pid_t
    /// Whether its output is for programs.
    private let hasJSON: Bool
    private let scratch: ScratchDirectory
    private let hasEnded = Mutex(false)

    /// - Parameters:
    ///   - folder: the current folder.
    ///   - input: standard input.
    ///   - before: what the shell does before, `umask 077` say.
    ///   - environment: further variables.
    ///   - terminal: what its three streams are instead of `input` and files.
    ///   - user: who it runs as, where that is not the tests' user; for root to say.
    ///   - group: the only group of that user; nil for the one with the same number.
    init(
        _ arguments: [String], spool: String? = nil, folder: String = "/", input: String = "",
        before: String = ":", environment: [String: String] = [:],
        terminal: PseudoTerminal? = nil, user: UInt32? = nil, group: UInt32? = nil
    ) throws {
        scratch = try ScratchDirectory()
        hasJSON = arguments.contains("--json")
        try Data(input.utf8).write(to: scratch.url.appending(path: "input"))
        var variables = ["PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "LANG": "C.UTF-8", "TZ": "UTC"]
        for name in ["TSAN_OPTIONS", "ASAN_OPTIONS", "LD_LIBRARY_PATH", "LD_PRELOAD"] {
            variables[name] = ProcessInfo.processInfo.environment[name]
        }
        variables["DARKROOM_SPOOL"] = spool
        variables["FOLDER"] = folder
        variables.merge(environment) { $1 }
        // The program is opened before: the folders above it may be closed to another user.
        let start =
            user.map {
                "exec 9<\"$0\"; exec setpriv --reuid=\($0) --regid=\(group ?? $0) "
                    + "--clear-groups /proc/self/fd/9"
            } ?? "exec \"$0\""
        let script = "cd \"$FOLDER\" || exit; \(before); \(start) \"$@\""
        let files = scratch.path
        identifier = try ChildProcess.spawn(
            ["/bin/sh", "-c", script, try Self.program()] + arguments, environment: variables,
            isLeader: terminal != nil
        ) {
            if let terminal {
                // The leader of a session gets the first terminal that it opens as its own.
                posix_spawn_file_actions_addopen(&$0, 0, terminal.path, O_RDWR, 0)
                posix_spawn_file_actions_adddup2(&$0, 0, 1)
                posix_spawn_file_actions_adddup2(&$0, 0, 2)
                return
            }
            let flags = O_WRONLY | O_CREAT | O_APPEND
            posix_spawn_file_actions_addopen(&$0, 0, "\(files)/input", O_RDONLY, 0)
            posix_spawn_file_actions_addopen(&$0, 1, "\(files)/output", flags, 0o600)
            posix_spawn_file_actions_addopen(&$0, 2, "\(files)/errors", flags, 0o600)
        }
    }

    deinit {
        if !hasEnded.withLock({ $0 }) {
            kill(identifier, SIGKILL)
            waitpid(identifier, nil, 0)
        }
    }

    /// Runs it to its end.
    static func end(
        _ arguments: [String], spool: String? = nil, folder: String = "/", input: String = "",
        before: String = ":", environment: [String: String] = [:], user: UInt32? = nil,
        group: UInt32? = nil
    ) async throws -> Result {
        try await ClientProcess(
            arguments, spool: spool, folder: folder, input: input, before: before,
            environment: environment, user: user, group: group
        ).result()
    }

    func send(_ signal: CInt) { kill(identifier, signal) }

    /// Whether the command, and not the shell before it, has arranged for a signal: blocks, catches or ignores it.
    func expects(_ signal: CInt) -> Bool {
        let folder = "/proc/\(identifier)"
        guard (try? String(contentsOfFile: "\(folder)/comm", encoding: .utf8)) == "darkroom\n",
            let status = try? String(contentsOfFile: "\(folder)/status", encoding: .utf8)
        else { return false }
        return status.split(separator: "\n").contains { line in
            guard ["SigBlk:", "SigIgn:", "SigCgt:"].contains(where: line.hasPrefix) else {
                return false
            }
            let mask = UInt64(line.split(separator: "\t")[1], radix: 16) ?? 0
            return mask & 1 << UInt64(signal - 1) != 0
        }
    }

    /// Waits for its end.
    func result() async throws -> Result {
        let status = try await eventually(
            "the end of darkroom", context: { text("errors") }
        ) {
            hasEnded.withLock { hasEnded in
                var status: CInt = 0
                guard waitpid(identifier, &status, WNOHANG) == identifier else { return CInt?.none }
                hasEnded = true
                return status
            }
        }
        if hasJSON, !text("output").isEmpty {
            let problem = try CommandSchema().problem(of: text("output"))
            #expect(problem == nil)
        }
        // wait(2); a signal is shown as by a shell.
        let signal = status & 0x7f
        return Result(
            exit: signal == 0 ? (status >> 8) & 0xff : 128 + signal, output: text("output"),
            errors: text("errors"))
    }

    /// Waits until something holds, as a rule of what it has written.
    func until(_ what: String, _ holds: (ClientProcess) throws -> Bool) async throws {
        try await eventually(what, context: { text("output") + text("errors") }) {
            try holds(self) ? true : nil
        }
    }

    /// What it has written so far.
    func text(_ file: String) -> String {
        let data = FileManager.default.contents(atPath: scratch.url.appending(path: file).path)
        return String(decoding: data ?? Data(), as: UTF8.self)
    }

    /// The program beside the running tests, or the one that TEST_DARKROOM names.
    static func program() throws -> String {
        if let path = ProcessInfo.processInfo.environment["TEST_DARKROOM"] { return path }
        let tests = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        return URL(filePath: tests).deletingLastPathComponent().appending(path: "darkroom").path
    }
}

extension DaemonFixture {
    /// Runs `darkroom` on the spool, in the folder of the origin's documents.
    func client(_ arguments: String..., input: String = "", before: String = ":") async throws
        -> ClientProcess.Result
    {
        try await begin(arguments, input: input, before: before).result()
            .replacing(spool.path, with: "SPOOL")
    }

    func begin(
        _ arguments: [String], input: String = "", before: String = ":"
    ) throws -> ClientProcess {
        try ClientProcess(
            arguments, spool: spool.path, folder: documents.path, input: input, before: before)
    }

    /// Drops batches of one image, which fails in `poor`, and waits for their ends.
    func finish(_ ids: [String], _ daemon: DaemonProcess) async throws {
        for id in ids {
            try drop(id, images: [("a", url(id == "poor" ? "none.png" : "0.png"))])
        }
        for id in ids { _ = try await spool.finish(id, daemon) }
    }

    /// Makes the folders of a spool in which no daemon has worked yet.
    func makeStations() throws {
        try spool.makeFolders()
        for folder in ["active", "outbox"] {
            try FileManager.default.makeFolder(atPath: "\(spool.path)/\(folder)")
        }
    }

    /// Stands in for a daemon: the lock and the report are the test's. The lock lasts until it is closed.
    func pretendDaemon(_ state: String, roots: String, bytes: Int) throws -> CInt {
        try makeStations()
        let lock = open(spool.path + "/lock", O_CREAT | O_RDWR | O_CLOEXEC, 0o644)
        try #require(lock >= 0 && flock(lock, LOCK_EX) == 0)
        let now = Date().formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true))
        let report = """
            {"schemaVersion": 1, "written": "\(now)", "state": "\(state)",
             "waiting": {"code": "disk-full", "message": "SPOOL/probe: No space left on device", "since": "\(now)"},
             "daemon": {"version": "0", "process": \(getpid()), "started": "\(now)", "uid": 0},
             "limits": {"manifestBytes": 1000, "images": 2, "filters": 1, "defaultFilters": "[mono]",
              "sourceRoots": ["\(roots)"], "readableRoots": ["\(roots)"], "sourceBytes": \(bytes),
              "downloads": {"allowNetworks": [], "allowHosts": [], "denyHosts": [], "redirects": 5,
               "connectTimeout": 5, "timeout": 300, "stallTime": 30, "stallRate": 1024,
               "maxHeaderBytes": 65536, "hasHeaders": false},
              "pictures": {"pixels": 1000000, "memory": 1000000000, "cores": 2}},
             "counts": {"processing": 0, "pending": 0, "held": 0},
             "images": {"total": 0, "new": 0, "downloading": 0, "downloaded": 0, "filtering": 0,
              "filtered": 0, "failed": 0, "cancelled": 0}, "batches": []}
            """
        try Data(report.utf8).write(to: spool.root.appending(path: "queue.json"))
        return lock
    }

    /// Writes a file beside the documents.
    func write(_ text: String, to name: String) throws { try documents.write(text, name) }

    /// Writes the picture beside the documents.
    func addPicture(_ name: String) throws { try documents.addPicture(name) }

    /// Lets the daemon read the documents.
    var readsDocuments: [String: String] { ["sources.roots": "[\(documents.path)]"] }
}

extension PseudoTerminal {
    /// What a screen of this size shows of all that was written.
    func screen(_ width: Int, _ height: Int) -> VirtualScreen {
        let screen = VirtualScreen(width: width, height: height)
        screen.feed(text)
        return screen
    }
}

extension ScratchDirectory {
    /// Writes the picture of ``DaemonFixture``, and creates the folders above.
    func addPicture(_ path: String) throws {
        let file = url.appending(path: path)
        try FileManager.default.makeFolder(at: file.deletingLastPathComponent())
        try Data(DaemonFixture.picture).write(to: file)
    }
}

extension RunFixture {
    /// Runs `darkroom` with these words to its end.
    func darkroom(_ words: [String]) async throws -> ClientProcess.Result {
        try await ClientProcess.end(words, folder: scratch.path).replacing(scratch.path)
    }
}
