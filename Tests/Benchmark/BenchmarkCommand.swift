import ArgumentParser
import Glibc

/// Darkroom beside its peers, on the jobs of the performance goals, in turn in one run.
@main
struct BenchmarkCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "benchmark",
        abstract: "Measure Darkroom beside libvips, ImageMagick and libpng.",
        discussion: """
            Each measurement is a process of its own that does its job a few times and tells the time of \
            each; the programs take turns, and the medians are printed. ImageMagick's times are those of \
            the whole process.
            """,
        subcommands: [
            Changed.self, Compare.self, Durability.self, Estimate.self, Fetch.self, FetchWork.self,
            Frontier.self, Merge.self, Pages.self,
            Shards.self, Start.self, Variants.self, Watch.self, WholeDaemon.self, Work.self,
        ],
        defaultSubcommand: Compare.self)
}

/// One job done by Darkroom in this process: what `Compare` starts.
struct Work: ParsableCommand {
    static let configuration = CommandConfiguration(shouldDisplay: false)

    @Argument var job: Job
    @Argument var input: String
    @Argument var output: String
    @Argument var repeats: Int

    func run() throws {
        let clock = ContinuousClock()
        for _ in 0..<repeats {
            // Each writes a new file, as the daemon does: to empty one takes milliseconds.
            unlink(output)
            let time = try clock.measure { try job.run(input: input, output: output) }
            print(Int(time / .microseconds(1)))
        }
    }
}
