import ArgumentParser
import Foundation

/// Three sizes of a JPEG as variants, beside the largest alone and beside separate images.
struct Variants: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Measure three sizes of a 12 MP JPEG beside the largest of them alone.",
        discussion: """
            Each is a whole darkroom run of the same pictures, with 1600, 800 and 400 pixels of width as variants, as \
            separate images, and with 1600 alone. The three take turns.
            """)

    @Option(help: "A JPEG; without it, one of 4000×3000 pixels is made.")
    var picture: String?

    @Option(help: "The number of pictures in a run.")
    var pictures = 32

    @Option(help: "How often each takes its turn.")
    var rounds = 7

    @Option(help: "Where pictures and results are made.")
    var scratch = ".build/benchmark"

    private static let widths = [1600, 800, 400]

    private enum Way: String, CaseIterable {
        case largest = "1600 alone"
        case variants = "1600, 800, 400 as variants"
        case separate = "1600, 800, 400 as separate images"
    }

    func run() throws {
        let work = try WorkFolder("variants", in: scratch)
        defer { work.remove() }
        let photo = try photograph(in: work)
        let names = (0..<pictures).map { "p\($0)" }
        for name in names {
            try FileManager.default.linkItem(at: photo, to: work.url("\(name).jpg"))
        }
        for way in Way.allCases { try work.write(manifest(way, names), to: "\(way).json") }
        Table.begin(
            "\(pictures) pictures", "jobs", "seconds", "processor", "ratio", "ratio of processor")
        for jobs in [1, 2] { try measure(jobs, work) }
    }

    private func measure(_ jobs: Int, _ work: WorkFolder) throws {
        var walls = Way.allCases.map { _ in Series() }
        var processors = walls
        for _ in 0..<rounds {
            for (index, way) in Way.allCases.enumerated() {
                let child = try Child.all([
                    [
                        Program.command, "run", work.path("\(way).json"), "-o", work.path("out"),
                        "--quiet", "--jobs", "\(jobs)",
                    ]
                ])
                try work.remove("out")
                walls[index].add(child.wall)
                processors[index].add(child.processor)
            }
        }
        for (index, way) in Way.allCases.enumerated() {
            print(
                String(
                    format: "| %@ | %d | %.3f | %.3f | %.3f | %.3f |", way.rawValue, jobs,
                    walls[index].median, processors[index].median,
                    walls[index].median / walls[0].median,
                    processors[index].median / processors[0].median))
        }
    }

    private func photograph(in work: WorkFolder) throws -> URL {
        if let picture { return URL(filePath: picture) }
        return URL(
            filePath: try work.makeJPEG(of: work.draw(.nebula, 4000, 3000, to: "sky.png")))
    }

    private func manifest(_ way: Way, _ names: [String]) -> String {
        let form = #""output": {"format": "jpeg", "quality": 82}"#
        func filters(_ width: Int) -> String { #""filters": {"resize": \#(width)}"# }
        func image(_ name: String, _ width: Int) -> String {
            #"{"name": "\#(name)-\#(width)", "source": "\#(name).jpg", \#(filters(width))}"#
        }
        switch way {
        case .largest:
            let images = names.map { image($0, Self.widths[0]) }
            return "{\(form), \"images\": [\(images.joined(separator: ",\n"))]}"
        case .separate:
            let images = names.flatMap { name in Self.widths.map { image(name, $0) } }
            return "{\(form), \"images\": [\(images.joined(separator: ",\n"))]}"
        case .variants:
            let variants = Self.widths.map { #"{"suffix": "-\#($0)", \#(filters($0))}"# }
            let images = names.map { "\"\($0).jpg\"" }
            return "{\(form), \"variants\": [\(variants.joined(separator: ", "))], "
                + "\"filters\": [], \"images\": [\(images.joined(separator: ", "))]}"
        }
    }
}
