import Foundation
import TestSupport

/// A program run to its end.
struct Child {
    let exit: Int32
    /// In seconds.
    let wall: Double
    let processor: Double
    /// In bytes.
    let peak: Int

    /// Several at once.
    static func all(_ commands: [[String]]) throws -> (wall: Double, processor: Double) {
        let begin = ContinuousClock.now
        let identifiers = try commands.map { try Self.spawn($0) }
        let ends = identifiers.map { Self(waitingFor: $0, since: begin) }
        guard ends.allSatisfy({ $0.exit == 0 }) else { throw BenchmarkError("a run has failed") }
        return (ends.map(\.wall).max() ?? 0, ends.map(\.processor).reduce(0, +))
    }

    /// - Parameter output: the file of what it prints.
    init(
        _ words: [String], environment: [String: String] = [:], output: String = "/dev/null"
    ) throws {
        let begin = ContinuousClock.now
        self.init(
            waitingFor: try Self.spawn(words, environment: environment, output: output),
            since: begin)
    }

    private init(waitingFor identifier: pid_t, since begin: ContinuousClock.Instant) {
        var status: CInt = 0
        var usage = rusage()
        while wait4(identifier, &status, 0, &usage) == -1, errno == EINTR {}
        let times = [usage.ru_utime, usage.ru_stime]
        exit = status & 0x7F == 0 ? status >> 8 & 0xFF : -1
        wall = (ContinuousClock.now - begin) / .seconds(1)
        processor = times.map { Double($0.tv_sec) + Double($0.tv_usec) / 1e6 }.reduce(0, +)
        peak = usage.ru_maxrss * 1024
    }

    static func spawn(
        _ words: [String], environment: [String: String] = [:], output: String = "/dev/null"
    ) throws -> pid_t {
        let variables = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        return try ChildProcess.spawn(words, environment: variables) {
            posix_spawn_file_actions_addopen(&$0, 1, output, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
        }
    }

    var figures: String { String(format: "%.1f s | %d MiB", wall, peak >> 20) }
}
