import ArgumentParser
import DarkroomManifest
import Foundation
import TestSupport

/// Two shards on two cores beside one process with two threads.
struct Shards: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Measure two shards with one core each beside one process with two.",
        discussion: """
            The pictures' names are chosen so that both shards have the same number: what is measured is the cost of two \
            processes, and not the luck of the assignment. The two ways take turns.
            """)

    @Option(help: "The number of pictures of 768×512 pixels.")
    var pictures = 400

    @Option(help: "How often each way takes its turn.")
    var rounds = 7

    @Option(help: "Where pictures and results are made.")
    var scratch = ".build/benchmark"

    func run() throws {
        let folder = URL(filePath: scratch).appending(path: "shards-\(getpid())")
            .standardizedFileURL
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let sky = Starfield(scene: .galaxy, width: 768, height: 512, seed: 7)
        try Data(sky.maker().encoded).write(to: folder.appending(path: "sky.png"))
        let images = names().map {
            "{\"name\":\"\($0)\",\"source\":\"sky-\($0).png\",\"filters\":[{\"sepia\":{\"intensity\":0.8}}]}"
        }
        for name in names() {
            try FileManager.default.linkItem(
                at: folder.appending(path: "sky.png"), to: folder.appending(path: "sky-\(name).png")
            )
        }
        let file = folder.appending(path: "m.json").path
        try Data("{\"images\":[\(images.joined(separator: ","))]}".utf8).write(
            to: URL(filePath: file))
        var one = Series()
        var two = Series()
        var processors = [0.0, 0.0]
        for _ in 0..<rounds {
            let out = folder.appending(path: "out").path
            let command = [Program.command, "run", file, "-o", out, "--quiet", "--jobs"]
            let single = try Child.all([command + ["2"]])
            try FileManager.default.removeItem(atPath: out)
            let shards = try Child.all((1...2).map { command + ["1", "--shard", "\($0)/2"] })
            try FileManager.default.removeItem(atPath: out)
            one.add(times: [single.wall], peak: 0, bytes: 0)
            two.add(times: [shards.wall], peak: 0, bytes: 0)
            processors[0] += single.processor / Double(rounds)
            processors[1] += shards.processor / Double(rounds)
        }
        print("| \(pictures) pictures of 0.4 MP, sepia | seconds | processor | ratio |")
        print("|---|---|---|---|")
        print(
            String(format: "| one process, 2 jobs | %.2f | %.2f | 1 |", one.median, processors[0]))
        print(
            String(
                format: "| two shards, 1 job each | %.2f | %.2f | %.3f |", two.median,
                processors[1], two.median / one.median))
    }

    /// The same number for each of two shards.
    private func names() -> [String] {
        var names: [String] = []
        var counts = [0, 0]
        var number = 0
        while names.count < pictures {
            let name = "p\(number)"
            number += 1
            let manifest = Manifest(images: [
                Manifest.Image(name: .init(name), origin: .source(.init(.init(name))))
            ])
            let shard = ShardAssignment(of: manifest, count: 2)[0] - 1
            guard counts[shard] < (pictures + 1) / 2 else { continue }
            counts[shard] += 1
            names.append(name)
        }
        return names
    }
}
