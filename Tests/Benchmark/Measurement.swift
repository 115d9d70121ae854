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
        let child = try Child(
            [Program.peers, "run"] + words, environment: environment, output: log.path)
        guard child.exit == 0 else {
            throw BenchmarkError("\(words.joined(separator: " ")) failed (status \(child.exit))")
        }
        var lines = try String(contentsOf: log, encoding: .utf8).split(separator: "\n")
        let figures = lines.popLast()?.split(separator: " ").compactMap { Double($0) } ?? []
        guard figures.count == 2 else { throw BenchmarkError("peers run told no figures") }
        output = lines.joined(separator: "\n")
        wall = figures[0] / 1e6
        peak = Int(figures[1]) * 1024
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

    mutating func add(_ time: Double, bytes: Int = 0) {
        add(times: [time], peak: 0, bytes: bytes)
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
