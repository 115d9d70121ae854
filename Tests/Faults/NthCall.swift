import DarkroomCore
import DarkroomSelfTest
import Foundation
import Synchronization

/// Each call that a small job makes on its spool fails once, in a run of its own: the first `open`, the second,
/// and so on until a run makes no more, with each errno that the call may give. Then a daemon without faults
/// finishes what is left.
struct NthCall {
    /// Calls of one group, and the ways in which they fail.
    private struct Series: Sendable {
        let group: String
        let errno: Errno
        /// Whether the trouble passes, so that no image may fail of it.
        var passes: Bool { errno.passes }
        var name: String { "\(group)-\(errno)" }
    }

    /// The numbers are those of Linux on x86 and ARM.
    private enum Errno: Int32, CaseIterable, Sendable {
        case EIO = 5
        case EACCES = 13
        case EMFILE = 24
        case ENOSPC = 28
        case EROFS = 30
        case EDQUOT = 122

        var passes: Bool { self == .ENOSPC || self == .EDQUOT || self == .EMFILE }
    }

    /// What each group of calls may fail with, by its manual page.
    private static let all: [Series] = [
        ("open", [.EIO, .ENOSPC, .EMFILE]), ("write", [.EIO, .ENOSPC, .EDQUOT]),
        ("fsync", [.EIO, .ENOSPC]), ("rename", [.EIO, .ENOSPC]), ("mkdir", [.EIO, .ENOSPC]),
        ("truncate", [.EIO]), ("unlink", [.EIO]), ("read", [.EIO]), ("stat", [.EIO]),
    ].flatMap { group, errnos in errnos.map { Series(group: group, errno: $0) } }

    private let series: Series
    private let fixture: FaultFixture
    private let reference: SpoolAudit.Reference

    /// What came of a series.
    private struct Outcome: SeriesOutcome, Sendable {
        var faults = 0
        var manifests = 0
        var images = 0
        var failed = 0
        var lost = 0
        var duplicated = 0
        var differing = 0
        var problems: [String] = []
    }

    /// The kinds of calls, such as `open-EIO`.
    static let names = all.map(\.name)

    /// - Parameter only: the one kind that is wanted, if it is one.
    static func run(
        _ fixture: FaultFixture, _ reference: SpoolAudit.Reference, only: String
    ) throws -> [String] {
        let wanted = all.filter { $0.name == only || !names.contains(only) }
        let left = Mutex(Array(wanted.reversed()))
        let outcomes = Mutex<[(Series, Outcome)]>([])
        // Most of the time is spent in waiting for the disk and for the daemon's next attempt.
        let workers = (0..<4).map { _ in
            Worker {
                while let series = left.withLock({ $0.popLast() }) {
                    let outcome = NthCall(series: series, fixture: fixture, reference: reference)
                        .run()
                    outcomes.withLock { $0.append((series, outcome)) }
                }
            }
        }
        for worker in workers { worker.join() }
        let order = outcomes.withLock { $0 }.sorted { a, b in
            names.firstIndex(of: a.0.name) ?? 0 < names.firstIndex(of: b.0.name) ?? 0
        }
        return lines(order)
    }

    private static func lines(_ outcomes: [(Series, Outcome)]) -> [String] {
        var sum = Outcome()
        var groups: [String] = []
        for (series, outcome) in outcomes {
            groups.append("\(series.name) \(outcome.faults)")
            sum.faults += outcome.faults
            sum.manifests += outcome.manifests
            sum.images += outcome.images
            sum.failed += outcome.failed
            sum.lost += outcome.lost
            sum.duplicated += outcome.duplicated
            sum.differing += outcome.differing
            sum.problems += outcome.problems
        }
        let text =
            "failing calls: faults \(sum.faults) (\(groups.joined(separator: ", "))), manifests \(sum.manifests), "
            + "images \(sum.images), \(sum.failed) of them failed with a reason, lost \(sum.lost), "
            + "duplicated \(sum.duplicated), differing \(sum.differing)"
        return sum.problems.map { "FAIL \($0)" } + [
            "\(sum.problems.isEmpty ? "ok" : "FAIL") \(text)"
        ]
    }

    // MARK: A series

    private func run() -> Outcome {
        Outcome(ofSeries: series.name) { nth, name, outcome in
            try run(nth, named: name, &outcome)
        }
    }

    /// One run; false if the job was done before the nth call.
    private func run(_ nth: Int, named name: String, _ outcome: inout Outcome) throws -> Bool {
        let spool = try TestSpool(FileName(name), in: fixture.folder, program: fixture.program)
        try spool.drop(.pair)
        try spool.drop(.rejected)
        try spool.drop(.tooLarge)
        var audit = SpoolAudit(spool, reference)
        audit.mayLackProgress = true
        // Trouble that passes fails nothing, except a failed sync, which cannot be retried.
        audit.mayFail = { [series] failure in
            guard !series.passes || series.group == "fsync" else { return false }
            return failure.code == "dependency-failed" || Self.hasReason(failure)
        }
        let strike = fixture.folder.path(of: FileName("\(name).strike"))
        let daemon = try spool.start(environment: [
            "LD_PRELOAD": fixture.shim, "SHIM_ROOT": spool.path, "SHIM_CALL": series.group,
            "SHIM_NTH": "\(nth)", "SHIM_ERRNO": "\(series.errno.rawValue)", "SHIM_LOG": strike,
        ])
        let isDone = try finish(daemon, spool, strike: strike, withSignal: nth % 2 == 0)
        let ending = try stop(daemon)
        guard let call = try? String(contentsOfFile: strike, encoding: .utf8) else {
            try fixture.folder.removeTree(FileName(name))
            return false
        }
        let title = "\(name) (\(call.trimmingCharacters(in: .whitespacesAndNewlines)))"
        if let problem = problem(with: ending, spool) {
            outcome.problems.append("\(title): \(problem)")
        }
        if !isOfNoWeight(call, spool), try !isSpokenOf(in: spool) {
            outcome.problems.append("\(title): not a word of it")
        }
        try audit.look(isFinal: isDone)
        if !isDone {
            let second = try spool.start()
            if try !spool.waitUntilIdle(second, standstill: 15) {
                outcome.problems.append("\(title): the next daemon does not finish")
            }
            if try stop(second) != .exited(0) {
                outcome.problems.append("\(title): the next daemon does not stop with 0")
            }
            try audit.look(isFinal: true)
        }
        outcome.problems += audit.problems.map { "\(title): \($0)" }
        outcome.manifests += spool.dropped.count
        outcome.images += audit.images
        outcome.failed += audit.failedByFault
        outcome.lost += audit.lost.count
        outcome.duplicated += audit.duplicated.count
        outcome.differing += audit.differing.count
        if audit.problems.isEmpty { try fixture.folder.removeTree(FileName(name)) }
        return true
    }

    /// Waits for the job's end, or until the daemon waits for a restart or for SIGUSR2, which it gets, too, if
    /// that is to be tried. False where a restart is needed.
    private func finish(
        _ daemon: ChildDaemon, _ spool: TestSpool, strike: String, withSignal: Bool
    ) throws -> Bool {
        let word = "told to go on (darkroom resume)"
        // Where nothing moves and no call has failed, the machine is busy.
        for _ in 0..<12 {
            if try spool.waitUntilIdle(daemon, standstill: 2.5, orWord: word) { return true }
            if access(strike, F_OK) == 0 { break }
        }
        guard withSignal, spool.lastWords.contains(where: { $0.contains(word) }) else {
            return false
        }
        daemon.send(SIGUSR2)
        return try spool.waitUntilIdle(daemon, standstill: 2.5)
    }

    /// Its ending, or nil if it does not stop.
    private func stop(_ daemon: ChildDaemon) throws -> ChildDaemon.Ending? {
        daemon.send(SIGTERM)
        return try daemon.wait(20)
    }

    /// A daemon may end by itself with an exit code that says why, and never by a crash.
    private func problem(with ending: ChildDaemon.Ending?, _ spool: TestSpool) -> String? {
        switch ending {
        case nil: return "the daemon does not stop"
        case .exited(0): return nil
        case .exited(let code) where [71, 74, 75, 77].contains(code):
            return spool.lastWords.isEmpty ? "the daemon exits with \(code) and no word" : nil
        case .some(let ending):
            return "the daemon ended: \(ending)\n    " + spool.lastWords.joined(separator: "\n    ")
        }
    }

    /// Whether a call may fail once without a word.
    private func isOfNoWeight(_ call: String, _ spool: TestSpool) -> Bool {
        [
            // What stands in the lock is for people, and a daemon starts without.
            "write \(spool.path)/lock",
            // A record that cannot be cleared convicts nobody; one that cannot be written fails its picture.
            "pwrite \(spool.path)/attempts",
            // The report on the inbox is made anew a moment later, and is told of if that fails, too. (The
            // scans' own lists are opened under the same name.)
            "openat \(spool.path)/inbox/.", "openat \(spool.path)/inbox.json.new",
            // So is the report on the batches. What it said before shows only whether the machine crashed.
            "openat \(spool.path)/queue.json",
            // Without hot folders, whether an earlier daemon had any. It is taken that it had.
            "fstatat \(spool.path)/folders.json",
            // Its error may concern any file. After it, each file is synced by itself.
            "syncfs \(spool.path)/active",
            // Whether anything comes behind the end of a picture.
            "read \(spool.path)/outbox/",
        ].contains { call.hasPrefix($0) }
            // The status has the same numbers.
            || call.contains("/progress.")
    }

    private func isSpokenOf(in spool: TestSpool) throws -> Bool {
        let cause = String(cString: strerror(series.errno.rawValue))
        return try String(contentsOfFile: spool.log, encoding: .utf8).contains(cause)
    }

    /// Whether a failure names a file, a step and the cause.
    private static func hasReason(_ failure: Failure) -> Bool {
        let causes = Errno.allCases.map { String(cString: strerror($0.rawValue)) }
        return failure.message.contains(": ") && causes.contains { failure.message.contains($0) }
    }
}

/// A thread that can be waited for. Children die with the thread that started them, so each worker keeps one.
final class Worker: @unchecked Sendable {
    // @unchecked: a thread is started once and waited for.
    private let done = DispatchSemaphore(value: 0)

    init(_ body: @escaping @Sendable () -> Void) {
        let thread = Thread { [done] in
            body()
            done.signal()
        }
        thread.stackSize = 4 << 20
        thread.start()
    }

    func join() { done.wait() }
}
