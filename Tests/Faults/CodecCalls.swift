import DarkroomAnswer
import DarkroomCore
import DarkroomSelfTest
import DarkroomSpool
import Foundation
import Synchronization

/// Each call of the conversation with codec programs fails once, in a run of its own, in the daemon or in the program and
/// its children, while pictures are read and written. An image may fail, and then succeeds when it is retried; the daemon
/// goes on, and neither a descriptor nor a process is left.
struct CodecCalls {
    private struct Series: Sendable {
        /// `daemon` or `codec`: where the call fails.
        let side: String
        let call: String
        let errno: Cause
        var name: String { "codec-\(side)-\(call)-\(errno)" }
    }

    /// The numbers are those of Linux on x86 and ARM.
    private enum Cause: Int32, Sendable {
        case EPERM = 1
        case EINTR = 4
        case EAGAIN = 11
        case ENOMEM = 12
        case ENFILE = 23
        case EMFILE = 24
        case ETXTBSY = 26
        case EPIPE = 32
        case ENOBUFS = 105
        case ETOOMANYREFS = 109
    }

    /// What each call may fail with there, by its manual page.
    private static let all: [Series] =
        series(
            "daemon",
            [
                ("socketpair", [.EMFILE, .ENFILE, .ENOMEM]), ("memfd_create", [.EMFILE, .ENOMEM]),
                ("ftruncate", [.ENOMEM]), ("fcntl", [.EPERM]), ("mmap", [.ENOMEM]),
                ("fork", [.EAGAIN, .ENOMEM]), ("pthread_create", [.EAGAIN]),
                ("execve", [.ENOMEM, .ETXTBSY]),
                ("sendmsg", [.EINTR, .ENOMEM, .EPIPE, .ETOOMANYREFS]),
                ("send", [.EINTR, .ENOBUFS, .EPIPE]), ("recv", [.EINTR, .ENOMEM]),
                ("poll", [.EINTR, .ENOMEM]),
            ])
        + series(
            "codec",
            [
                ("signalfd", [.ENOMEM]), ("memfd_create", [.ENOMEM]), ("poll", [.EINTR, .ENOMEM]),
                ("recvmsg", [.EINTR, .ENOMEM]), ("fork", [.EAGAIN, .ENOMEM]), ("mmap", [.ENOMEM]),
                ("dup2", [.EMFILE]), ("setrlimit", [.EPERM]), ("prlimit", [.EPERM]),
                ("prctl", [.ENOMEM]), ("send", [.EINTR, .ENOBUFS, .EPIPE]),
                ("recv", [.EINTR, .ENOMEM]),
            ])

    private static func series(_ side: String, _ calls: [(String, [Cause])]) -> [Series] {
        calls.flatMap { call, causes in
            causes.map { Series(side: side, call: call, errno: $0) }
        }
    }

    /// The kinds of calls, such as `codec-daemon-fork-EAGAIN`.
    static let names = all.map(\.name)

    /// What the series work with.
    private struct Place: Sendable {
        let fixture: FaultFixture
        /// A daemon beside codec programs that may be made to fail.
        let program: String
        let reference: SpoolAudit.Reference
        /// What a daemon holds after the job without a fault.
        let held: Held
    }

    private struct Outcome: SeriesOutcome, Sendable {
        var faults = 0
        /// Images that failed before they were retried.
        var failed = 0
        var problems: [String] = []
    }

    private let series: Series
    private let place: Place

    static func run(_ fixture: FaultFixture, only: String) throws -> [String] {
        guard let program = try makeProgram(fixture) else {
            return [leftOut("calls of codec programs", because: "they are not built")]
        }
        let place = try makePlace(fixture, program)
        let left = Mutex(Array(all.filter { $0.name == only || !names.contains(only) }.reversed()))
        let outcomes = Mutex<[(Series, Outcome)]>([])
        let workers = (0..<4).map { _ in
            Worker {
                while let series = left.withLock({ $0.popLast() }) {
                    let outcome = CodecCalls(series: series, place: place).run()
                    outcomes.withLock { $0.append((series, outcome)) }
                }
            }
        }
        for worker in workers { worker.join() }
        return lines(outcomes.withLock { $0 })
    }

    private static func lines(_ outcomes: [(Series, Outcome)]) -> [String] {
        let problems = outcomes.flatMap(\.1.problems)
        let groups = outcomes.map { "\($0.0.name) \($0.1.faults)" }.sorted()
        let text =
            "failing calls of codec programs: faults \(outcomes.map(\.1.faults).reduce(0, +)) "
            + "(\(groups.joined(separator: ", "))), \(outcomes.map(\.1.failed).reduce(0, +)) images "
            + "failed with a reason and succeeded when they were retried"
        return problems.map { "FAIL \($0)" } + ["\(problems.isEmpty ? "ok" : "FAIL") \(text)"]
    }

    // MARK: Programs

    /// A copy of the daemon beside scripts that load the shim into the codec programs: a codec program gets nothing of the
    /// daemon's environment. nil if there are no codec programs.
    private static func makeProgram(_ fixture: FaultFixture) throws -> String? {
        let products = URL(filePath: fixture.program).deletingLastPathComponent()
        try fixture.folder.makeDirectory("bin")
        let folder = URL(filePath: fixture.folder.path(of: "bin"))
        for name in ["webp", "tiff"].map({ "darkroom-codec-\($0)" }) {
            let program = products.appending(path: name).path
            guard access(program, X_OK) == 0 else { return nil }
            let script = """
                #!/bin/sh
                eval "$(tr '\\0' '\\n' </proc/$PPID/environ | sed -n "s/^\\(SHIM_[A-Z]*\\)=\\(.*\\)/export \\1='\\2'/p")"
                [ "$SHIM_SIDE" != codec ] || export LD_PRELOAD="$SHIM_CODEC"
                exec '\(program)'

                """
            let path = folder.appending(path: name).path
            try script.write(toFile: path, atomically: false, encoding: .utf8)
            chmod(path, 0o755)
        }
        let daemon = folder.appending(path: "darkroomd").path
        try FileManager.default.copyItem(atPath: fixture.program, toPath: daemon)
        return daemon
    }

    private static func makePlace(_ fixture: FaultFixture, _ program: String) throws -> Place {
        let undisturbed = try TestSpool(
            "undisturbed-codecs", in: fixture.folder, program: program)
        let reference = try SpoolAudit.makeReference([.codecs, .pair], on: undisturbed)
        let daemon = try undisturbed.start()
        defer { daemon.end() }
        for manifest in [SampleManifest.codecs, .pair, .codecs] { try undisturbed.drop(manifest) }
        guard try undisturbed.waitUntilIdle(daemon) else {
            throw SelfTestError.broken("without a fault the pictures are not finished")
        }
        return Place(
            fixture: fixture, program: program, reference: reference,
            held: Held(by: daemon.process))
    }

    // MARK: A series

    private func run() -> Outcome {
        Outcome(ofSeries: series.name) { nth, name, outcome in
            try run(nth, named: FileName(name), &outcome)
        }
    }

    /// One run; false if the job was done before the nth call.
    private func run(_ nth: Int, named name: FileName, _ outcome: inout Outcome) throws -> Bool {
        let (folder, page) = (place.fixture.folder, FileName("\(name.text).page"))
        try folder.write([UInt8](repeating: 0, count: 4096), to: page, durably: false)
        let spool = try TestSpool(name, in: folder, program: place.program)
        let id = try spool.drop(.codecs)
        try spool.drop(.pair)
        let shim = place.fixture.codecShim
        var environment = [
            "SHIM_CODEC": shim, "SHIM_SIDE": series.side, "SHIM_CALL": series.call,
            "SHIM_NTH": "\(nth)", "SHIM_ERRNO": "\(series.errno.rawValue)",
            "SHIM_PAGE": folder.path(of: page),
        ]
        if series.side == "daemon" { environment["LD_PRELOAD"] = shim }
        let daemon = try spool.start(environment: environment)
        defer { daemon.end() }
        var problems: [String] = []
        if try !spool.waitUntilIdle(daemon, standstill: 60) {
            problems.append("the daemon does not finish: \(Self.lastWords(daemon, spool))")
        }
        // The count has eight bytes; what has failed follows.
        let hasFailed = try folder.read(page)[8] != 0
        if hasFailed, problems.isEmpty {
            problems += try goOn(daemon, spool, id, &outcome)
        }
        daemon.send(SIGTERM)
        if try daemon.wait(60) != .exited(0) { problems.append("the daemon does not exit with 0") }
        if hasFailed || !problems.isEmpty {
            var audit = SpoolAudit(spool, place.reference)
            try audit.look(isFinal: true)
            problems += audit.problems
        }
        outcome.problems += problems.map { "\(name.text): \($0)" }
        if problems.isEmpty {
            try folder.removeTree(name)
            try folder.remove(page)
        }
        return hasFailed
    }

    private static func lastWords(_ daemon: ChildDaemon, _ spool: TestSpool) -> String {
        (daemon.poll().map { "\($0)\n" } ?? "") + spool.lastWords.joined(separator: "\n    ")
    }

    /// After a fault: failed images have a reason and are retried, further pictures are done, and nothing is left.
    private func goOn(
        _ daemon: ChildDaemon, _ spool: TestSpool, _ id: String, _ outcome: inout Outcome
    ) throws -> [String] {
        var problems: [String] = []
        let failures = try failures(id, spool)
        for failure in failures where !failure.isTransient || !failure.message.contains(": ") {
            problems.append("an image failed, and no retry would help: \(failure)")
        }
        outcome.failed += failures.count
        if !failures.isEmpty { try spool.give(.retry, to: id) }
        try spool.drop(.codecs)
        if try !spool.waitUntilIdle(daemon, standstill: 60) {
            problems.append("the daemon does not go on: \(Self.lastWords(daemon, spool))")
        }
        for failure in try self.failures(id, spool) {
            problems.append("an image failed again: \(failure)")
        }
        // Children end a moment after their last word.
        let held = try eventually(within: 5) { () throws(SelfTestError) in
            Held(by: daemon.process).exceeds(place.held) ? nil : true
        }
        if held != true {
            problems.append("left: \(Held(by: daemon.process)), without a fault: \(place.held)")
        }
        return problems
    }

    private func failures(_ id: String, _ spool: TestSpool) throws -> [Failure] {
        guard let bytes = try spool.outboxFile(FileName(id), BatchFile.status),
            let status = Status(decoding: bytes)
        else { throw SelfTestError.broken("\(id) has no status") }
        return status.images.compactMap(\.error)
    }
}

/// What a daemon and its codec programs hold, as far as the kernel tells.
private struct Held: Sendable {
    var sockets = 0
    var memories = 0
    var programs = 0
    /// Processes that have ended, and that nobody has asked how.
    var zombies = 0
    /// Children of the codec programs.
    var children = 0
    /// Of the codec program that has most.
    var descriptors = 0

    init(by daemon: pid_t) {
        let links = Self.links(of: daemon)
        sockets = links.count { $0.hasPrefix("socket:") }
        memories = links.count { $0.contains("memfd:darkroom-codec") }
        for program in Self.children(of: daemon) {
            if Self.isZombie(program) {
                zombies += 1
            } else {
                programs += 1
                children += Self.children(of: program).count
                descriptors = max(descriptors, Self.links(of: program).count)
            }
        }
    }

    func exceeds(_ other: Held) -> Bool {
        sockets > other.sockets || memories > 0 || programs > other.programs || zombies > 0
            || children > 0 || descriptors > other.descriptors
    }

    private static func links(of process: pid_t) -> [String] {
        let path = "/proc/\(process)/fd"
        let names = (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []
        return names.compactMap {
            try? FileManager.default.destinationOfSymbolicLink(atPath: "\(path)/\($0)")
        }
    }

    private static func children(of process: pid_t) -> [pid_t] {
        let path = "/proc/\(process)/task"
        let threads = (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []
        return threads.flatMap { thread in
            let text = try? String(contentsOfFile: "\(path)/\(thread)/children", encoding: .utf8)
            return (text ?? "").split(separator: " ").compactMap { pid_t($0) }
        }
    }

    /// By proc_pid_stat(5), the state follows the name in brackets.
    private static func isZombie(_ process: pid_t) -> Bool {
        let text = try? String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8)
        return text?.split(separator: ")").last?.hasPrefix(" Z") == true
    }
}
