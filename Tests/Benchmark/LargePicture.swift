import Foundation
import TestSupport

/// A picture of 100 MP, sepia, through the whole daemon: from the manifest's rename into the inbox to
/// the final status, and how much memory it takes above the idle daemon.
struct LargePicture {
    let scratch: String
    let rounds: Int
    let peers: [Program]

    func compare(_ tile: Pictures.File) async throws {
        let input = "\(scratch)/100-megapixels-of-\(tile.name)"
        if !FileManager.default.fileExists(atPath: input) {
            try FileManager.default.createDirectory(
                atPath: scratch, withIntermediateDirectories: true)
            _ = try Execution([Program.peers, "tile", tile.path, "\(input).part", "100"])
            try FileManager.default.moveItem(atPath: "\(input).part", toPath: input)
        }
        let output = "\(scratch)/output.png"
        defer { try? FileManager.default.removeItem(atPath: output) }
        var names = ["Darkroom, whole daemon"]
        var series = [Series()]
        for peer in peers where peer != .magick {
            names.append(try peer.name())
            series.append(Series())
        }
        var idle = 0
        for _ in 0..<rounds {
            idle = try await measureDaemon(input, into: &series[0])
            for (index, peer) in peers.filter({ $0 != .magick }).enumerated() {
                try peer.measure(
                    .sepia, input: input, output: output, repeats: 1, into: &series[index + 1])
            }
        }
        var table = Table(job: "100 MP sepia", programs: names)
        table.add(tile.name, series)
        table.print()
        print(
            "The idle daemon: \(Table.mebibytes(idle)) MiB; the picture takes",
            String(format: "%.1f MiB above it.", Double(series[0].peak - idle) / 1_048_576))
        print("ImageMagick is left out: Debian's policy does not let it have so large a picture.")
    }

    /// Adds a daemon's run; returns the memory of the idle one in bytes.
    private func measureDaemon(_ input: String, into series: inout Series) async throws -> Int {
        let spool = try SpoolFixture()
        let file = URL(filePath: input).standardizedFileURL
        let daemon = try await DaemonProcess.run(
            spool: spool.path,
            settings: [
                "sources.roots": file.deletingLastPathComponent().path, "status.interval": "100ms",
            ])
        // A first small manifest has every part of the daemon in use before anything is measured.
        try spool.drop("first.json", Self.manifest("nothing-there.png"))
        _ = try await spool.finish("first", daemon)
        let idle = try memory(of: daemon, "VmRSS")
        let start = ContinuousClock.now
        try spool.drop("large.json", Self.manifest(file.lastPathComponent))
        let status = try await spool.finish("large", daemon)
        let time = (ContinuousClock.now - start) / .seconds(1)
        guard let bytes = status.images.first?.output?.bytes else {
            throw BenchmarkError("the daemon has not filtered the picture: \(status)")
        }
        series.add(times: [time], peak: try memory(of: daemon, "VmHWM"), bytes: bytes)
        _ = try await daemon.stop()
        return idle
    }

    private static func manifest(_ source: String) -> String {
        #"{"images": [{"name": "picture", "source": "\#(source)", "filters": ["sepia"]}]}"#
    }

    /// A figure of /proc/PID/status, in bytes.
    private func memory(of daemon: DaemonProcess, _ key: String) throws -> Int {
        let status = try String(
            contentsOfFile: "/proc/\(daemon.identifier)/status", encoding: .utf8)
        let line = status.split(separator: "\n").first { $0.hasPrefix("\(key):") }
        let number = line?.split(separator: " ").compactMap { Int($0) }.first
        guard let number else { throw BenchmarkError("no \(key) of the daemon") }
        return number * 1024
    }
}
