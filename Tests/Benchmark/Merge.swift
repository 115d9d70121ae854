import ArgumentParser
import DarkroomAnswer
import DarkroomCore
import DarkroomManifest
import DarkroomSpool
import Foundation

/// How long `darkroom merge` takes, and how much memory, for statuses that are made for it.
struct Merge: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Measure darkroom merge of many shards, whose statuses are made.",
        discussion: """
            Every output is a link to one of a few small files, so that the time is that of the statuses, the names and \
            the digests of small files in memory.
            """)

    @Option(help: "The number of images.")
    var images = 1_000_000

    @Option(help: "The number of shards.")
    var shards = 1000

    @Option(help: "Where the folder is made.")
    var scratch = ".build/benchmark"

    /// ext4 permits 65,000 links to a file.
    private static let mostLinks = 50_000

    func run() throws {
        let work = try WorkFolder("merge", in: scratch)
        defer { work.remove() }
        let text = manifest()
        try work.write(text, to: "m.json")
        let (file, out) = (work.path("m.json"), work.path("out"))
        // The plan is made by the program. The sources of its shard do not exist.
        let first = try Child([
            Program.command, "run", file, "-o", out, "--shard", "1/\(shards)", "-q", "--set",
            "manifests.maxImages=\(images)",
        ])
        guard first.exit == 3 || first.exit == 0 else {
            throw BenchmarkError("run ended with \(first.exit)")
        }
        try fill(out, text)
        Table.begin("\(images) images in \(shards) shards", "seconds", "peak memory")
        print("| darkroom run, 1 shard, its images fail | \(first.figures) |")
        for (name, options) in [("merge", []), ("merge again", []), ("merge --quick", ["--quick"])]
        {
            let child = try Child([Program.command, "merge", out] + options)
            guard child.exit == 0 else { throw BenchmarkError("merge ended with \(child.exit)") }
            print("| \(name) | \(child.figures) |")
        }
        let verify = try Child([Program.command, "verify", out])
        guard verify.exit == 0 else { throw BenchmarkError("verify ended with \(verify.exit)") }
        print("| verify | \(verify.figures) |")
        let status = try FileManager.default.attributesOfItem(atPath: "\(out)/status.json")
        print("\nstatus.json has \((status[.size] as? Int ?? 0) / 1_000_000) MB.")
    }

    private func manifest() -> [UInt8] {
        var text = Array("{\"images\":[".utf8)
        for index in 0..<images {
            text += Array("\(index == 0 ? "" : ",")\n\"photo-\(index).png\"".utf8)
        }
        return text + Array("]}\n".utf8)
    }

    /// Writes the statuses, and links the outputs.
    private func fill(_ out: String, _ text: [UInt8]) throws {
        let manifest = try ManifestReader.read(text, format: .json, defaultFilters: [])
        let assignment = ShardAssignment(of: manifest, count: shards)
        var parts = [[Int]](repeating: [], count: shards)
        for index in manifest.images.indices { parts[assignment[index] - 1].append(index) }
        let root = try Directory(path: "\(out)/.darkroom")
        guard
            let frame = try Status(
                frameIn: Directory(path: "\(out)/.darkroom/shard-1-of-\(shards)"))
        else { throw BenchmarkError("the first shard has no status") }
        let content = Array("the content of an output".utf8)
        let digest = SHA256Digest.hex(of: content)
        for (number, part) in parts.enumerated() {
            var status = frame
            status.shards = Status.Shards(count: shards, number: number + 1)
            status.state = .completed
            status.images = part.map { index in
                var image = ImageStatus(
                    name: manifest.images[index].name.string,
                    source: "\(manifest.images[index].name).png",
                    state: .filtered,
                    output: .init(
                        file: manifest.images[index].outputFile, format: .png, sha256: digest,
                        bytes: content.count, width: 768, height: 512, depth: 8, channels: 3),
                    attempts: 1)
                image.sourceSHA256 = digest
                image.metadata = ["gAMA": "kept"]
                return image
            }
            status.counts = Status.Counts(of: status.images)
            let name = FileName("shard-\(number + 1)-of-\(shards)")
            if try !root.exists(name) { try root.makeDirectory(name) }
            try Directory(name, in: root).write(
                status.encoded(), to: BatchFile.status, replacing: true, durably: false)
        }
        let outputs = try Directory(path: out)
        for index in manifest.images.indices {
            let first = index / Self.mostLinks * Self.mostLinks
            let name = FileName(manifest.images[index].outputFile)
            if index == first {
                try outputs.write(content, to: name, durably: false)
            } else {
                try outputs.link(
                    FileName(manifest.images[first].outputFile), to: outputs, as: name)
            }
        }
    }
}
