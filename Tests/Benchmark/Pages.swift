import ArgumentParser
import Foundation

struct Pages: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "page",
        abstract: "Measure what page: true costs, beside the same batches without it.",
        discussion: """
            One daemon does batches with a page and batches without one in turn. The pictures of a batch are links to \
            one file of 0.4 MP, each a source of its own. The processor's time is that of the whole daemon.
            """)

    @Option(help: "An RGB PNG; without it, one of 768×512 pixels is made.")
    var picture: String?

    @Option(help: "The number of pictures in a batch.")
    var images = 300

    @Option(help: "How often each takes its turn.")
    var rounds = 20

    @Option(help: "The setting of the daemon: full or process.")
    var durability = "full"

    @Option(help: "Where spools and pictures are made.")
    var scratch = ".build/benchmark"

    private static let jobs: [(name: String, isFromJPEG: Bool, filters: String, output: String)] = [
        ("sepia, PNG to PNG", false, #"["sepia"]"#, "{}"),
        ("sepia, JPEG to PNG", true, #"["sepia"]"#, "{}"),
        ("sepia, JPEG to JPEG", true, #"["sepia"]"#, #"{"format": "jpeg"}"#),
        ("JPEG to JPEG of 300", true, #"[{"resize": {"width": 300}}]"#, #"{"format": "jpeg"}"#),
    ]

    func run() async throws {
        let work = try WorkFolder("page", in: scratch)
        defer { work.remove() }
        let png =
            try picture.map { URL(filePath: $0).path }
            ?? work.draw(.nebula, 768, 512, to: "sky.png")
        let jpeg = try work.makeJPEG(of: png)
        Table.begin(
            "\(images) images", "processor, ms an image", "with a page", "time with a page")
        for job in Self.jobs {
            let run = try await DaemonRun(
                in: work, of: job.isFromJPEG ? jpeg : png, durability: durability)
            defer { run.remove() }
            var walls = [Series(), Series()]
            var processors = walls
            for round in -1..<rounds {
                for turn in 0...1 {
                    let hasPage = (round + turn) % 2 != 0
                    let before = run.processor
                    let (wall, _) = try await run.batch(
                        images, filters: job.filters, output: job.output, page: hasPage)
                    try await run.rest()
                    guard let before, let after = run.processor else {
                        throw BenchmarkError("the daemon's processor time cannot be read")
                    }
                    // The first ones only warm the daemon up.
                    if round < 0 { continue }
                    walls[hasPage ? 1 : 0].add(wall)
                    processors[hasPage ? 1 : 0].add(after - before)
                }
            }
            try await run.stop()
            print(
                String(
                    format: "| %@ | %.2f | %.3f | %.3f |", job.name,
                    processors[0].median * 1000 / Double(images),
                    processors[1].median / processors[0].median, walls[1].median / walls[0].median))
            fflush(nil)
        }
    }
}
