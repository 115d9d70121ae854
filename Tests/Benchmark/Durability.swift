import ArgumentParser
import CDarkroomShims
import Foundation
import TestSupport

/// What `durability: full` costs against `process`: the throughput of the whole daemon with many small pictures,
/// the two settings in turn.
struct Durability: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Compare the throughput of durability full and process, in turn.",
        discussion: """
            Each run has a daemon and a spool of its own, in a folder of the scratch folder's file system. Its time is \
            from the rename of the first manifest into the inbox until nothing is left in inbox and active.
            """)

    @Option(help: "How often each setting takes its turn.")
    var rounds = 7

    @Option(help: "Images of the manifest that is measured, each of 64×64 pixels.")
    var images = 2000

    @Option(help: "Manifests of one image each.")
    var manifests = 1000

    @Option(help: "Where spools and pictures are made; not on a tmpfs, where a sync costs nothing.")
    var scratch = ".build/benchmark"

    @Argument(help: "What is measured: \(Load.allCases.map(\.rawValue).joined(separator: ", ")).")
    var loads: [Load] = Load.allCases

    enum Load: String, CaseIterable, ExpressibleByArgument {
        /// One manifest, the pictures in a folder of the machine.
        case local
        /// One manifest, the pictures from an nginx on the machine.
        case http
        /// Many manifests of one local picture.
        case manifests
    }

    func run() async throws {
        let work = try WorkFolder("durability", in: scratch)
        defer { work.remove() }
        guard try fileSystemType(of: work.root) != Self.tmpfs else {
            throw BenchmarkError("\(scratch) is on a tmpfs, where a sync costs nothing")
        }
        for index in 0..<max(images, manifests) {
            try work.draw(
                .galaxy, 64, 64, seed: UInt64(index % 64), to: "pictures/\(index).png")
        }
        let origin = try NginxOrigin(documentRoot: work.path("pictures"))
        print("Medians of \(rounds) rounds in turn, in images a second.")
        print()
        Table.begin(
            "\(images) images in one manifest, or \(manifests) manifests", "process", "full", "lost"
        )
        for load in loads { try await compare(load, work, origin) }
    }

    private func compare(
        _ load: Load, _ work: WorkFolder, _ origin: NginxOrigin
    ) async throws {
        let settings = ["process", "full"]
        var times = settings.map { _ in Series() }
        for round in 0..<rounds {
            // The one that goes first changes, should the disk still be busy with the run before.
            for index in round % 2 == 0 ? [0, 1] : [1, 0] {
                let time = try await measure(load, settings[index], work, origin)
                times[index].add(time)
            }
        }
        let count = Double(load == .manifests ? manifests : images)
        let rates = times.map { count / $0.median }
        print(
            "| \(load.rawValue) |",
            rates.map { String(format: "%.0f", $0) }.joined(separator: " | "),
            String(format: "| %.1f %% |", (1 - rates[1] / rates[0]) * 100))
        fflush(nil)
    }

    /// Returns the seconds of one run.
    private func measure(
        _ load: Load, _ durability: String, _ work: WorkFolder, _ origin: NginxOrigin
    ) async throws -> Double {
        let daemon = try await MeasuredDaemon(
            in: work, ["sources.roots": work.path("pictures"), "durability": durability])
        defer { daemon.remove() }
        let spool = daemon.spool
        let sources = (0..<(load == .manifests ? manifests : images)).map { index in
            load == .http ? "\(origin.baseURL)/\(index).png" : "\(index).png"
        }
        let parts = load == .manifests ? sources.map { [$0] } : [sources]
        let names = parts.indices.map { "m\($0)" }
        for (name, part) in zip(names, parts) {
            try spool.write(Self.manifest(part), to: "tmp/\(name).json")
        }
        // Nothing of what was written before is on this run's bill.
        sync()
        let start = ContinuousClock.now
        for name in names {
            try spool.move("tmp/\(name).json", to: "inbox/\(name).json")
        }
        try await waitUntilEmpty(spool, names, daemon.process)
        let time = (ContinuousClock.now - start) / .seconds(1)
        var filtered = 0
        for name in names { filtered += try spool.status(of: name)?.counts.filtered ?? 0 }
        guard filtered == sources.count else {
            throw BenchmarkError("only \(filtered) images filtered: \(daemon.process.describe())")
        }
        _ = try await daemon.process.stop()
        return time
    }

    /// Waits for the last step of each batch, the end of `active/ID`, without reading anything meanwhile.
    private func waitUntilEmpty(
        _ spool: SpoolFixture, _ names: [String], _ daemon: DaemonProcess
    ) async throws {
        let deadline = ContinuousClock.now + .seconds(600)
        var rest = names[...]
        while let name = rest.last {
            if !spool.exists("inbox/\(name).json"), !spool.exists("active/\(name)"),
                spool.exists("outbox/\(name)/status.json")
            {
                rest.removeLast()
                continue
            }
            if let ending = daemon.currentEnding() { throw BenchmarkError("the daemon \(ending)") }
            guard ContinuousClock.now < deadline else {
                throw BenchmarkError("it takes too long: \(daemon.describe())")
            }
            try await Task.sleep(for: .milliseconds(2))
        }
    }

    private static func manifest(_ sources: [String]) -> String {
        let images = sources.enumerated().map { #"{"name": "\#($0)", "source": "\#($1)"}"# }
        return #"{"filters": ["sepia"], "images": [\#n\#(images.joined(separator: ",\n"))\#n]}"#
    }

    private static let tmpfs: Int64 = 0x0102_1994

    private func fileSystemType(of folder: URL) throws -> Int64 {
        let number = open(folder.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard number >= 0 else { throw POSIXError(.init(rawValue: errno) ?? .EIO) }
        defer { close(number) }
        return darkroom_filesystem_type(number)
    }
}
