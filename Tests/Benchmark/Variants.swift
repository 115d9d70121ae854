import ArgumentParser
import Foundation
import TestSupport

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
        let folder = URL(filePath: scratch).appending(path: "variants-\(getpid())")
            .standardizedFileURL
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let photo = try photograph(in: folder)
        let names = (0..<pictures).map { "p\($0)" }
        for name in names {
            try FileManager.default.linkItem(
                at: photo, to: folder.appending(path: "\(name).jpg"))
        }
        for way in Way.allCases {
            try Data(manifest(way, names).utf8).write(to: file(way, folder))
        }
        print("| \(pictures) pictures | jobs | seconds | processor | ratio | ratio of processor |")
        print("|---|---|---|---|---|---|")
        for jobs in [1, 2] { try measure(jobs, folder) }
    }

    private func measure(_ jobs: Int, _ folder: URL) throws {
        var walls = Way.allCases.map { _ in Series() }
        var processors = walls
        for _ in 0..<rounds {
            for (index, way) in Way.allCases.enumerated() {
                let out = folder.appending(path: "out").path
                let child = try Child.all([
                    [
                        Program.command, "run", file(way, folder).path, "-o", out, "--quiet",
                        "--jobs", "\(jobs)",
                    ]
                ])
                try FileManager.default.removeItem(atPath: out)
                walls[index].add(times: [child.wall], peak: 0, bytes: 0)
                processors[index].add(times: [child.processor], peak: 0, bytes: 0)
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

    private func file(_ way: Way, _ folder: URL) -> URL {
        folder.appending(path: "\(way).json")
    }

    private func photograph(in folder: URL) throws -> URL {
        if let picture { return URL(filePath: picture) }
        let sky = Starfield(scene: .nebula, width: 4000, height: 3000, seed: 7)
        let png = folder.appending(path: "sky.png")
        let jpeg = folder.appending(path: "sky.jpg")
        try Data(sky.maker().encoded).write(to: png)
        let manifest = #"{"output": {"format": "jpeg", "quality": 90}, "images": ["sky.png"]}"#
        let file = folder.appending(path: "sky.json")
        try Data(manifest.utf8).write(to: file)
        let out = folder.appending(path: "made").path
        _ = try Child.all([[Program.command, "run", file.path, "-o", out, "--quiet"]])
        try FileManager.default.moveItem(atPath: "\(out)/sky.jpg", toPath: jpeg.path)
        return jpeg
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
