import ArgumentParser
import Foundation
import Glibc
import TestSupport

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
        let folder = URL(filePath: scratch).appending(path: "start-\(getpid())").standardizedFileURL
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        print("| one picture | \(Case.allCases.map(\.rawValue).joined(separator: " | ")) |")
        print(String(repeating: "|---", count: Case.allCases.count + 1) + "|")
        for (width, height) in [(64, 64), (320, 240), (800, 500)] {
            let picture = folder.appending(path: "\(width).png")
            let sky = Starfield(scene: .galaxy, width: width, height: height, seed: 7)
            try Data(sky.maker().encoded).write(to: picture)
            var times = Case.allCases.map { _ in Series() }
            for _ in 0..<rounds {
                for (index, item) in Case.allCases.enumerated() {
                    let time = try measure(item, picture.path, in: folder)
                    times[index].add(times: [time], peak: 0, bytes: 0)
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
    private func measure(_ item: Case, _ picture: String, in folder: URL) throws -> Double {
        let out = folder.appending(path: "out").path
        let name = URL(filePath: picture).lastPathComponent
        let sepia = ["--filter", "sepia=0.8"]
        let run = [Program.command, "run", picture] + sepia + ["-o", out, "--quiet"]
        switch item {
        case .convert:
            return try Execution([
                "convert", picture, "-sepia-tone", "80%", "png:\(folder.path)/convert.png",
            ]).wall
        case .filter:
            return try Execution(
                [Program.command, "filter", picture] + sepia + ["-o", "\(folder.path)/filter.png"]
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
        var argv = words.map { strdup($0) } + [nil]
        defer { argv.forEach { free($0) } }
        var identifier: pid_t = 0
        let begin = ContinuousClock.now
        let error = posix_spawn(&identifier, words[0], nil, nil, &argv, environ)
        guard error == 0 else { throw POSIXError(.init(rawValue: error) ?? .EIO) }
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
