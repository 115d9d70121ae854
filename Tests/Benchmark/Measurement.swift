import Foundation

/// A program run to its end.
struct Execution {
    /// What it printed.
    let output: String
    /// From start to end, in seconds.
    let wall: Double
    /// The largest resident memory it had, in bytes.
    let peak: Int

    /// - Parameter words: the program and its arguments.
    init(_ words: [String], environment: [String: String] = [:]) throws {
        let log = FileManager.default.temporaryDirectory.appending(path: "benchmark-\(getpid())")
        defer { try? FileManager.default.removeItem(at: log) }
        let (status, _) = try Self.run(
            [Program.peers, "run"] + words, environment, output: log.path)
        guard status == 0 else {
            throw BenchmarkError("\(words.joined(separator: " ")) failed (status \(status))")
        }
        var lines = try String(contentsOf: log, encoding: .utf8).split(separator: "\n")
        let figures = lines.popLast()?.split(separator: " ").compactMap { Double($0) } ?? []
        guard figures.count == 2 else { throw BenchmarkError("peers run told no figures") }
        output = lines.joined(separator: "\n")
        wall = figures[0] / 1e6
        peak = Int(figures[1]) * 1024
    }

    /// Returns the status that wait4 gives, and the processor's time in seconds.
    static func run(
        _ words: [String], _ environment: [String: String] = [:], output: String
    ) throws -> (status: CInt, processor: Double) {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, 1, output, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
        let variables = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        var argv = words.map { strdup($0) } + [nil]
        var envp = variables.map { strdup("\($0.key)=\($0.value)") } + [nil]
        defer { (argv + envp).forEach { free($0) } }
        var identifier: pid_t = 0
        let error = posix_spawn(&identifier, words[0], &actions, nil, &argv, &envp)
        guard error == 0 else { throw POSIXError(.init(rawValue: error) ?? .EIO) }
        var status: CInt = 0
        var usage = rusage()
        while wait4(identifier, &status, 0, &usage) == -1, errno == EINTR {}
        let times = [usage.ru_utime, usage.ru_stime]
        return (status, times.map { Double($0.tv_sec) + Double($0.tv_usec) / 1e6 }.reduce(0, +))
    }
}

/// What repeated runs of one program took.
struct Series {
    /// In seconds.
    private(set) var times: [Double] = []
    /// In bytes.
    private(set) var peak = 0
    /// Of the file written.
    private(set) var bytes = 0

    mutating func add(times: [Double], peak: Int, bytes: Int) {
        self.times += times
        self.peak = max(self.peak, peak)
        self.bytes = bytes
    }

    var median: Double {
        let sorted = times.sorted()
        let middle = sorted.count / 2
        return sorted.count % 2 == 1
            ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
    }
}

struct BenchmarkError: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}
