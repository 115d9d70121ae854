import Foundation
import TestSupport

/// A daemon and its peer, which do the same with links to one picture, each a source of its own.
final class DaemonRun {
    /// libvips in process.
    static let peer = "Tests/Benchmark/peer.py"

    private let source: String
    private let work: WorkFolder
    private let measured: MeasuredDaemon
    private var spool: SpoolFixture { measured.spool }
    private var daemon: DaemonProcess { measured.process }
    private var batches = 0

    /// Starts the daemon.
    ///
    /// - Parameter work: where the spool, the links and the results are made.
    init(in work: WorkFolder, of source: String, durability: String = "full") async throws {
        self.source = source
        self.work = work
        for name in ["links", "out"] { try work.makeFolder(name) }
        measured = try await MeasuredDaemon(
            in: work, ["sources.roots": work.path("links"), "durability": durability])
    }

    func stop() async throws { _ = try await daemon.stop() }

    func remove() {
        for name in ["links", "out"] { try? work.remove(name) }
        measured.remove()
    }

    /// How many pictures take so many seconds, if some took as long.
    func count(taking seconds: Double, as time: Double, for pictures: Int) -> Int {
        max(pictures, min(2000, Int(seconds * Double(pictures) / max(0.001, time))))
    }

    /// Drops a manifest and waits for its end.
    ///
    /// - Returns: the seconds from the one to the other, and the bytes of all outputs.
    func batch(
        _ count: Int, filters: String, output: String, page: Bool = false
    ) async throws -> (seconds: Double, bytes: Int) {
        let images = try sources(count).enumerated().map {
            #"{"name": "\#($0)", "source": "\#($1)"}"#
        }
        let manifest = """
            {"filters": \(filters), "output": \(output), "page": \(page), "images": [\(images.joined(separator: ",\n"))]}
            """
        batches += 1
        let id = "batch-\(batches)"
        let start = ContinuousClock.now
        try spool.drop("\(id).json", manifest)
        let status = try await spool.finish(id, daemon, within: .seconds(600))
        let seconds = (ContinuousClock.now - start) / .seconds(1)
        guard status.counts.filtered == count else {
            throw BenchmarkError("the daemon has not filtered all pictures: \(status.counts)")
        }
        try spool.remove("outbox/\(id)")
        return (seconds, status.images.reduce(0) { $0 + ($1.output?.bytes ?? 0) })
    }

    /// The processor's time of the daemon so far, in seconds; nil if it cannot be told.
    var processor: Double? {
        // The clock of a process (clock_getcpuclockid(3), and include/linux/posix-timers.h of Linux).
        var time = timespec()
        guard clock_gettime(clockid_t(~daemon.identifier << 3 | 2), &time) == 0 else { return nil }
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }

    /// Waits until the daemon has cleared away the last batch.
    func rest() async throws {
        while spool.exists("active/batch-\(batches)") {
            try await Task.sleep(for: .milliseconds(5))
        }
        try await Task.sleep(for: .milliseconds(200))
    }

    /// The same by libvips.
    func peer(
        _ python: String, _ job: String, _ form: String, _ processes: Int, _ count: Int
    ) throws -> (seconds: Double, bytes: Int) {
        let words = [python, Self.peer, "run", job, "\(processes)", form, work.path("out")]
        let figures = try Execution(words + sources(count)).output.split(separator: " ")
            .compactMap { Double($0) }
        guard figures.count == 2 else { throw BenchmarkError("\(Self.peer) told no figures") }
        return (figures[0], Int(figures[1]))
    }

    private func sources(_ count: Int) throws -> [String] {
        let ending = URL(filePath: source).pathExtension
        return try (0..<count).map { number in
            let path = work.path("links/\(number).\(ending)")
            if !FileManager.default.fileExists(atPath: path) {
                // On another file system a link is not possible.
                do {
                    try FileManager.default.linkItem(atPath: source, toPath: path)
                } catch {
                    try FileManager.default.copyItem(atPath: source, toPath: path)
                }
            }
            return path
        }
    }
}
