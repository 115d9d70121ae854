import ArgumentParser
import Foundation

/// The speed and the bytes of each compression beside those of libvips' levels: what etc/frontier.sh draws.
struct Frontier: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Measure speed and bytes of each compression beside libvips' levels.",
        discussion: """
            The whole daemon with durability full, beside libvips in process, as in `daemon`. The job is saturate on a \
            PNG. All take turns.
            """)

    @Option(help: "A Python with pyvips.")
    var python: String

    @Option(help: "A folder of RGB PNG files of 8 bits: the one in the middle is used.")
    var pictures: String?

    @Option(help: "How often each takes its turn.")
    var rounds = 3

    @Option(help: "How many pictures each has in a turn.")
    var count = 16

    @Option(help: "Where spools, pictures and results are made.")
    var scratch = ".build/benchmark"

    private static let filters = #"[{"saturate": {"amount": 1.3}}]"#

    func run() async throws {
        let work = try WorkFolder("frontier", in: scratch)
        defer { work.remove() }
        let files = try Pictures(folder: pictures, scratch: scratch).files
        let file = files[files.count / 2]
        let cores = ProcessInfo.processInfo.activeProcessorCount
        let run = try await DaemonRun(
            in: work, of: URL(filePath: file.path).standardizedFileURL.path)
        defer { run.remove() }
        let compressions = ["fast", "balanced", "small"]
        let levels = [1, 2, 3, 4, 5, 6, 7, 8, 9]
        let forms = ["png", "filtered"].flatMap { form in levels.map { "\(form):\($0)" } }
        var own = compressions.map { _ in Series() }
        var peers = forms.map { _ in Series() }
        for _ in 0..<rounds {
            for (index, compression) in compressions.enumerated() {
                let output = #"{"format": "png", "compression": "\#(compression)"}"#
                let batch = try await run.batch(count, filters: Self.filters, output: output)
                own[index].add(batch.seconds, bytes: batch.bytes)
            }
            for (index, form) in forms.enumerated() {
                let batch = try run.peer(python, "saturate", form, cores, count)
                peers[index].add(batch.seconds, bytes: batch.bytes)
            }
        }
        try await run.stop()
        let version = try Execution([python, DaemonRun.peer, "version"]).output
        print(
            "Saturate, \(file.name), \(String(format: "%.1f", file.megapixels)) MP: medians of",
            rounds)
        print("rounds on \(cores) cores, libvips \(version).")
        print()
        Table.begin("program", "setting", "pictures a second", "kB a picture")
        for (compression, series) in zip(compressions, own) {
            tell("Darkroom", compression, series)
        }
        for (form, series) in zip(forms, peers) {
            let parts = form.split(separator: ":")
            let program = parts[0] == "png" ? "libvips" : "libvips, filtered"
            tell(program, "\(parts[1])", series)
        }
    }

    private func tell(_ program: String, _ setting: String, _ series: Series) {
        let speed = String(format: "%.2f", Double(count) / series.median)
        print("| \(program) | \(setting) | \(speed) | \(Table.kilobytes(series.bytes / count)) |")
    }
}
