import ArgumentParser
import DarkroomCore
import DarkroomFetch
import Foundation
import TestSupport

/// The downloads beside `curl --parallel`: the same list of files from the same nginx, in turn.
struct Fetch: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Compare the downloads with those of curl --parallel, in turn.",
        discussion: """
            Each run is a process of its own that fetches a list of files from an nginx on this machine and writes \
            each to a file. Its time and its processor time are those of the whole process.
            """)

    @Option(help: "How often each program takes its turn.")
    var rounds = 7

    @Option(help: "Transfers in one run, at most; fewer of large files.")
    var transfers = 2000

    @Option(help: "Transfers at once.")
    var parallel = 64

    @Option(help: "Where the files are made and fetched to.")
    var scratch = ".build/benchmark"

    private static let sizes = [1 << 10, 16 << 10, 128 << 10, 1 << 20]

    func run() async throws {
        let work = try WorkFolder("fetch", in: scratch)
        defer { work.remove() }
        let folder = work.root
        for size in Self.sizes {
            // Bytes that begin like a picture; nothing here decodes them.
            let bytes = Data([0x89, 0x50, 0x4E, 0x47]) + Data(repeating: 7, count: size - 4)
            try work.write(bytes, to: "documents/\(size).png")
        }
        print("Medians of \(rounds) rounds in turn, \(parallel) transfers at once.")
        print()
        Table.begin("", "transfers/s", "curl's", "ratio", "CPU µs a transfer", "curl's", "ratio")
        let documents = work.path("documents")
        let origins = [
            ("HTTP/1.1", try NginxOrigin(documentRoot: documents)),
            ("HTTPS/1.1", try NginxOrigin(documentRoot: documents, tls: true, http2: false)),
            ("HTTP/2", try NginxOrigin(documentRoot: documents, tls: true)),
        ]
        for (name, origin) in origins {
            for size in Self.sizes {
                try compare("\(name), \(size >> 10) KiB", origin, size, folder)
            }
        }
        try await tellLatency(folder)
        try await tellCancellation(folder)
    }

    private func compare(
        _ name: String, _ origin: NginxOrigin, _ size: Int, _ folder: URL
    ) throws {
        let count = max(parallel, min(transfers, 200 << 20 / size))
        var walls = [Series(), Series()]
        var processors = [Series(), Series()]
        for round in 0..<rounds {
            for index in round % 2 == 0 ? [0, 1] : [1, 0] {
                let output = folder.appending(path: "fetched")
                try FileManager.default.createDirectory(
                    at: output, withIntermediateDirectories: false)
                defer { try? FileManager.default.removeItem(at: output) }
                let url = "\(origin.baseURL)/\(size).png"
                let words =
                    try index == 0
                    ? ownWords(url, count, output, origin.caFile)
                    : curlWords(url, count, output, origin.caFile, folder)
                let child = try Child(words)
                guard child.exit == 0 else { throw BenchmarkError("\(words[0]) failed") }
                try check(output, count, size)
                walls[index].add(child.wall)
                processors[index].add(child.processor)
            }
        }
        let rates = walls.map { Double(count) / $0.median }
        let costs = processors.map { $0.median / Double(count) * 1e6 }
        print(
            "| \(name) |", String(format: "%.0f | %.0f |", rates[0], rates[1]),
            String(format: "%.2f |", rates[0] / rates[1]),
            String(format: "%.0f | %.0f |", costs[0], costs[1]),
            String(format: "%.2f |", costs[0] / costs[1]))
        fflush(nil)
    }

    private func ownWords(
        _ url: String, _ count: Int, _ output: URL, _ caFile: String?
    ) -> [String] {
        ["/proc/self/exe", "fetch-work", url, "\(count)", output.path, "\(parallel)"]
            + (caFile.map { ["--ca-file", $0] } ?? [])
    }

    private func curlWords(
        _ url: String, _ count: Int, _ output: URL, _ caFile: String?, _ folder: URL
    ) throws -> [String] {
        let list = folder.appending(path: "list")
        let lines = (0..<count).map { "url = \"\(url)\"\noutput = \"\(output.path)/\($0)\"\n" }
        try Data(lines.joined().utf8).write(to: list)
        return [
            "/usr/bin/env", "curl", "--parallel", "--parallel-max", "\(parallel)",
            "--no-progress-meter",
            "--show-error", "--fail", "--config", list.path,
        ] + (caFile.map { ["--cacert", $0] } ?? [])
    }

    private func check(_ folder: URL, _ count: Int, _ size: Int) throws {
        for index in 0..<count {
            let path = folder.appending(path: "\(index)").path
            let attributes = try FileManager.default.attributesOfItem(atPath: path)
            guard attributes[.size] as? Int == size else {
                throw BenchmarkError("\(path) is not whole")
            }
        }
    }

    /// How long as many transfers as run at once take from an origin that answers after 50 ms, where 50 ms
    /// would be ideal.
    private func tellLatency(_ folder: URL) async throws {
        let origin = try ScriptedOrigin { _ in
            usleep(50_000)
            return ScriptedOrigin.Reply(["HTTP/1.1 200 OK", "Content-Length: 1"], body: [1])
        }
        defer { origin.stop() }
        var times = Series()
        for _ in 0..<rounds * 3 {
            let downloads = try Downloads(parallel: parallel, caFile: nil)
            let output = folder.appending(path: "fetched")
            try FileManager.default.createDirectory(at: output, withIntermediateDirectories: false)
            defer { try? FileManager.default.removeItem(at: output) }
            let time = try ContinuousClock().measure {
                try downloads.fetch(origin.baseURL, count: parallel, to: output.path)
            }
            times.add(time / .milliseconds(1))
        }
        print()
        print(
            "\(parallel) transfers with 50 ms of latency:",
            String(
                format: "%.1f ms, %.2f times the ideal; the fastest of %d %.1f ms", times.median,
                times.median / 50, times.times.count, times.times.min() ?? 0))
    }

    private func tellCancellation(_ folder: URL) async throws {
        let origin = try MisbehavingOrigin()
        defer { origin.stop() }
        let downloads = try Downloads(parallel: parallel, caFile: nil)
        var times = Series()
        for index in 0..<50 {
            let output = try TransferOutput(
                creating: folder.appending(path: "stalled-\(index)").path)
            let request = TransferRequest(
                url: try RemoteURL(ByteString(origin.url(.stalled))), output: output)
            let time = await downloads.cancel(request)
            times.add(time / .milliseconds(1))
        }
        print(
            "Cancelling a stalled transfer:",
            String(
                format: "%.2f ms, the slowest of 50 %.2f ms", times.median, times.times.max() ?? 0))
    }
}

/// The downloads of one run, in this process: what `Fetch` starts.
struct FetchWork: ParsableCommand {
    static let configuration = CommandConfiguration(shouldDisplay: false)

    @Argument var url: String
    @Argument var count: Int
    @Argument var output: String
    @Argument var parallel: Int
    @Option var caFile: String?

    func run() throws {
        try Downloads(parallel: parallel, caFile: caFile).fetch(url, count: count, to: output)
    }
}

/// The engine with its queue, as the daemon has them.
private final class Downloads {
    private let engine: TransferEngine
    private let queue = OperationQueue()

    init(parallel: Int, caFile: String?) throws {
        let loopback = FetchRules(
            addresses: AddressRules(allowNetworks: [
                IPNetwork(base: IPAddress(v4: 0x7F00_0000), prefix: 8)
            ]))
        engine = try TransferEngine(
            settings: TransferSettings(
                connections: parallel, caFile: caFile, rules: loopback,
                userAgent: TransferSettings.userAgent(version: "benchmark")))
        queue.maxConcurrentOperationCount = parallel
    }

    /// Fetches a file a number of times, into files of their own.
    func fetch(_ url: String, count: Int, to folder: String) throws {
        let remote = try RemoteURL(ByteString(url))
        let failures = Failures()
        let operations = (0..<count).map { index in
            TransferOperation(engine: engine, url: remote) {
                do throws(FetchError) {
                    let output = try TransferOutput(creating: "\(folder)/\(index)")
                    return .transfer(TransferRequest(url: remote, output: output))
                } catch {
                    return .failed(error)
                }
            } completion: { outcome in
                if case .failed(let error) = outcome { failures.add(error) }
            }
        }
        queue.addOperations(operations, waitUntilFinished: true)
        if let first = failures.first { throw first }
    }

    /// How long a transfer that has begun takes to end after it was cancelled.
    func cancel(_ request: TransferRequest) async -> Duration {
        await withCheckedContinuation { continuation in
            let clock = ContinuousClock()
            let moment = Moment()
            let id = engine.start(request) { _ in
                continuation.resume(returning: clock.now - moment.value)
            }
            // Long enough for the request to be answered and the body to stall.
            usleep(20_000)
            moment.value = clock.now
            engine.cancel(id)
        }
    }
}

/// Written before the transfer is cancelled, read after it has ended for that.
private final class Moment: @unchecked Sendable {
    var value = ContinuousClock.now
}

private final class Failures: @unchecked Sendable {
    // Rule: only the engine's thread adds, and it is read after the queue has emptied.
    private(set) var first: FetchError?

    func add(_ error: FetchError) {
        if first == nil { first = error }
    }
}
