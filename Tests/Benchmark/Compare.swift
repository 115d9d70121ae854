import ArgumentParser
import Foundation

/// Runs the jobs and prints a table.
struct Compare: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Run jobs by all programs in turn and print medians and ratios.")

    @Option(help: "A folder of RGB PNG files of 8 bits. Without it pictures are made.")
    var pictures: String?

    @Option(help: "How often each program takes its turn.")
    var rounds = 3

    @Option(help: "A further libvips to compare with, by its library's path. Can be repeated.")
    var vips: [String] = []

    @Option(help: "Where made pictures are kept.")
    var scratch = ".build/benchmark"

    @Flag(help: "Also a picture of 100 MP through the whole daemon; some minutes.")
    var large = false

    @Flag(help: "Leave out the jobs on the single pictures.")
    var onlyLarge = false

    @Argument(
        help:
            "Which jobs; all where none is named: \(Job.allCases.map(\.rawValue).joined(separator: " "))."
    )
    var jobs: [Job] = []

    func run() async throws {
        let cores = ProcessInfo.processInfo.activeProcessorCount
        print("Medians of \(rounds) rounds in turn on \(cores) cores.")
        print("Of Darkroom: milliseconds, output in kB, peak memory in MiB.")
        print("Of the others: how many times Darkroom's time they take, how much larger or smaller")
        print("Darkroom's output is than theirs, their peak memory in MiB.")
        print()
        let pictures = try Pictures(folder: pictures, scratch: scratch)
        let libraries: [String?] = [nil] + vips
        let peers: [Program] =
            libraries.flatMap { [.vips($0, filtered: false), .vips($0, filtered: true)] }
            + [.magick, .libpng]
        if !onlyLarge {
            for job in jobs.isEmpty ? Job.allCases : jobs {
                try compare(job, pictures.files, peers)
            }
        }
        if large || onlyLarge {
            try await LargePicture(scratch: scratch, rounds: rounds, peers: peers)
                .compare(pictures.largest)
        }
    }

    private func compare(_ job: Job, _ files: [Pictures.File], _ peers: [Program]) throws {
        let programs = [.darkroom] + peers.filter { $0.canDo(job) }
        var table = Table(job: job.rawValue, programs: try programs.map { try $0.name() })
        let output = FileManager.default.temporaryDirectory
            .appending(path: "benchmark-output-\(getpid()).png").path
        defer { try? FileManager.default.removeItem(atPath: output) }
        for file in files {
            var series = programs.map { _ in Series() }
            for _ in 0..<rounds {
                for (index, program) in programs.enumerated() {
                    // Small pictures are done more often, for their times vary more.
                    let repeats = program == .darkroom ? 7 : file.megapixels < 2 ? 4 : 1
                    try program.measure(
                        job, input: file.path, output: output, repeats: repeats,
                        into: &series[index])
                }
            }
            table.add(file.name, series)
        }
        table.print()
    }
}
