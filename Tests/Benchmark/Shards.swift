import ArgumentParser
import DarkroomManifest
import Foundation

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
        let work = try WorkFolder("shards", in: scratch)
        defer { work.remove() }
        try work.draw(.galaxy, 768, 512, to: "sky.png")
        let images = names().map {
            "{\"name\":\"\($0)\",\"source\":\"sky-\($0).png\",\"filters\":[{\"sepia\":{\"intensity\":0.8}}]}"
        }
        for name in names() {
            try FileManager.default.linkItem(
                at: work.url("sky.png"), to: work.url("sky-\(name).png"))
        }
        try work.write("{\"images\":[\(images.joined(separator: ","))]}", to: "m.json")
        var one = Series()
        var two = Series()
        var processors = [0.0, 0.0]
        for _ in 0..<rounds {
            let command = [
                Program.command, "run", work.path("m.json"), "-o", work.path("out"), "--quiet",
                "--jobs",
            ]
            let single = try Child.all([command + ["2"]])
            try work.remove("out")
            let shards = try Child.all((1...2).map { command + ["1", "--shard", "\($0)/2"] })
            try work.remove("out")
            one.add(single.wall)
            two.add(shards.wall)
            processors[0] += single.processor / Double(rounds)
            processors[1] += shards.processor / Double(rounds)
        }
        Table.begin("\(pictures) pictures of 0.4 MP, sepia", "seconds", "processor", "ratio")
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
