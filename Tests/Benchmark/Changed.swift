import ArgumentParser
import Foundation
import TestPictures

/// What it costs to find the few pictures that have changed, beside `make`.
struct Changed: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract:
            "Measure darkroom run again on many small pictures, of which few have changed, beside make.",
        discussion: """
            Both have the same pictures. make has one rule for each of them, and starts darkroom filter for those that have \
            changed. The programs take turns. The calls of the system are counted by strace, in rounds of their own.
            """)

    @Option(help: "The number of pictures.")
    var images = 100_000

    @Option(help: "How many of them change.")
    var changed = 5

    @Option(help: "How often each program takes its turn.")
    var rounds = 5

    @Option(help: "Where pictures and results are made.")
    var scratch = ".build/benchmark"

    private enum Tool: String, CaseIterable {
        case darkroom = "darkroom run"
        case make
    }

    private struct Figures {
        var walls: [Double] = []
        var processors: [Double] = []
        var peak = 0
        var calls = 0

        mutating func add(_ child: Child) {
            walls.append(child.wall)
            processors.append(child.processor)
            peak = max(peak, child.peak)
        }

        static func median(_ values: [Double]) -> Double { values.sorted()[values.count / 2] }
    }

    func run() throws {
        let work = try WorkFolder("changed", in: scratch)
        defer { work.remove() }
        for index in 0..<images { try makePicture(index, generation: 0, in: work) }
        try work.write(makefile, to: "Makefile")
        let first = try child(.darkroom, in: work)
        print(
            "The first run took \(String(format: "%.1f", first.wall)) s for \(images) pictures.\n")
        // What make would have made.
        try work.copy("out", to: "made")
        Table.begin(
            "\(images) pictures", "seconds", "of the processor", "peak memory",
            "calls of the system")
        var generation = 0
        for count in [0, changed] {
            var figures = [Tool: Figures](minimumCapacity: 2)
            for round in 0...rounds {
                generation += 1
                for index in 0..<count {
                    try makePicture(index * (images / count), generation: generation, in: work)
                }
                for tool in Tool.allCases {
                    if round < rounds {
                        figures[tool, default: Figures()].add(try child(tool, in: work))
                    } else {
                        figures[tool, default: Figures()].calls = try calls(tool, in: work)
                    }
                }
            }
            for tool in Tool.allCases { row(tool, count, figures) }
        }
    }

    private func row(_ tool: Tool, _ count: Int, _ figures: [Tool: Figures]) {
        guard let own = figures[tool], let least = figures[.darkroom] else { return }
        let wall = Figures.median(own.walls)
        print(
            String(
                format: "| %@, %d changed | %.2f (%.1f×) | %.2f | %d MiB | %d |", tool.rawValue,
                count, wall, wall / Figures.median(least.walls), Figures.median(own.processors),
                own.peak >> 20, own.calls))
        fflush(nil)
    }

    private func name(_ index: Int) -> String { "photo-\(index)" }

    /// Gray pictures of 8 × 8 pixels, each with other bytes.
    private func makePicture(_ index: Int, generation: Int, in work: WorkFolder) throws {
        let maker = PNGMaker.noise(
            width: 8, height: 8, colourType: .gray, depth: 8,
            seed: UInt64(index) << 16 | UInt64(generation))
        try work.write(maker.encoded, to: "photos/\(name(index)).png")
    }

    /// One rule for each picture.
    private var makefile: String {
        let results = (0..<images).map { "made/\(name($0)).png" }.joined(separator: " ")
        return """
            results = \(results)
            all: $(results)
            $(results): made/%.png: photos/%.png
            \t\(Program.command) filter $< --filter invert -o $@

            """
    }

    private func words(_ tool: Tool, in work: WorkFolder) -> [String] {
        switch tool {
        case .darkroom:
            [
                Program.command, "run", work.path("photos"), "-o", work.path("out"), "--filter",
                "invert", "-q", "--set", "manifests.maxImages=\(images)",
            ]
        case .make: ["/usr/bin/make", "-s", "-C", work.path]
        }
    }

    private func child(_ tool: Tool, in work: WorkFolder) throws -> Child {
        let child = try Child(words(tool, in: work))
        guard child.exit == 0 else {
            throw BenchmarkError("\(tool.rawValue) ended with \(child.exit)")
        }
        return child
    }

    private func calls(_ tool: Tool, in work: WorkFolder) throws -> Int {
        let log = work.path("calls")
        let child = try Child(
            ["/usr/bin/strace", "-f", "-c", "-o", log] + words(tool, in: work))
        guard child.exit == 0,
            let sum = try String(contentsOfFile: log, encoding: .utf8).split(separator: "\n").last,
            let calls = sum.split(separator: " ").dropFirst(3).first.flatMap({ Int($0) })
        else { throw BenchmarkError("strace of \(tool.rawValue) tells no sum") }
        return calls
    }
}
