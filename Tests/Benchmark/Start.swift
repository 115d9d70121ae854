import ArgumentParser
import Foundation
import Glibc

/// How soon `darkroom run` has its first output, beside the whole time of ImageMagick's `convert`.
struct Start: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Measure darkroom run and filter on one small picture beside convert, in turn.",
        discussion: """
            The first output is there when the file has its final name. All times begin when the program is started.
            """)

    @Option(help: "How often each program takes its turn.")
    var rounds = 21

    @Option(
        help: "Where pictures and results are made; not on a tmpfs, where a sync costs nothing.")
    var scratch = ".build/benchmark"

    private enum Case: String, CaseIterable {
        case convert
        case first = "run, first output"
        case whole = "run, whole time"
        case durable = "run, durability full, first output"
        case again = "run again, nothing to do"
        case filter
    }

    func run() throws {
        let work = try WorkFolder("start", in: scratch)
        defer { work.remove() }
        Table.begin(["one picture"] + Case.allCases.map(\.rawValue))
        for (width, height) in [(64, 64), (320, 240), (800, 500)] {
            let picture = try work.draw(.galaxy, width, height, to: "\(width).png")
            var times = Case.allCases.map { _ in Series() }
            for _ in 0..<rounds {
                for (index, item) in Case.allCases.enumerated() {
                    let time = try measure(item, picture, in: work)
                    times[index].add(time)
                }
            }
            let cells = times.map { series in
                String(
                    format: "%.1f ms, %.2f×", series.median * 1000, series.median / times[0].median)
            }
            print("| \(width)×\(height), sepia | \(cells.joined(separator: " | ")) |")
            fflush(nil)
        }
    }

    /// Returns the seconds.
    private func measure(_ item: Case, _ picture: String, in work: WorkFolder) throws -> Double {
        let out = work.path("out")
        let name = URL(filePath: picture).lastPathComponent
        let sepia = ["--filter", "sepia=0.8"]
        let run = [Program.command, "run", picture] + sepia + ["-o", out, "--quiet"]
        switch item {
        case .convert:
            return try Execution([
                "convert", picture, "-sepia-tone", "80%", "png:\(work.path)/convert.png",
            ]).wall
        case .filter:
            return try Execution(
                [Program.command, "filter", picture] + sepia + ["-o", "\(work.path)/filter.png"]
            ).wall
        case .again: return try Execution(run).wall
        case .whole:
            try? FileManager.default.removeItem(atPath: out)
            return try Execution(run).wall
        case .first, .durable:
            try? FileManager.default.removeItem(atPath: out)
            let more = item == .durable ? ["--set", "durability=full"] : []
            return try firstOutput(run + more, "\(out)/\(name)")
        }
    }

    /// Starts a program, and returns the seconds until there is a file.
    private func firstOutput(_ words: [String], _ file: String) throws -> Double {
        let begin = ContinuousClock.now
        let identifier = try Child.spawn(words)
        var status: CInt = 0
        while access(file, F_OK) != 0 {
            guard waitpid(identifier, &status, WNOHANG) == 0 else {
                throw BenchmarkError("\(words.joined(separator: " ")) ended without \(file)")
            }
            usleep(100)
        }
        let time = ContinuousClock.now - begin
        waitpid(identifier, &status, 0)
        return time / .seconds(1)
    }
}
