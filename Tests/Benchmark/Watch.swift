import ArgumentParser
import Foundation
import TestSupport

/// What `darkroom watch` costs the daemon and itself, with one batch of very many images.
struct Watch: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract:
            "Measure the cost of darkroom watch for a large batch, in turn with nobody watching.",
        discussion: """
            The processor time of the daemon is that of the whole batch. The client's part is its processor time by the \
            time of the batch.
            """)

    @Option(help: "Images of the manifest, each of 16×16 pixels.")
    var images = 100_000

    @Option(help: "How often each case takes its turn.")
    var rounds = 3

    @Option(help: "Where spools and pictures are made.")
    var scratch = ".build/benchmark"

    private struct Result {
        /// In seconds.
        var wall: Double
        var daemon: Double
        var client = 0.0
        /// How many events of progress there were.
        var events = 0
        /// The longest time between two of them, in seconds.
        var longestGap = 0.0
    }

    func run() async throws {
        let work = try WorkFolder("watch", in: scratch)
        defer { work.remove() }
        try work.draw(.galaxy, 16, 16, to: "pictures/a.png")
        Table.begin(
            "\(images) images", "batch, s", "daemon, s", "client, % of a core", "events a second",
            "longest gap, s")
        for round in 1...max(1, rounds) {
            let alone = try await measure(isWatched: false, work)
            let watched = try await measure(isWatched: true, work)
            Self.tell("\(round), nobody watches", alone)
            Self.tell("\(round), watched", watched)
        }
    }

    private static func tell(_ name: String, _ result: Result) {
        let share = result.client / result.wall * 100
        let rate = Double(result.events) / result.wall
        print(
            String(
                format: "| %@ | %.1f | %.2f | %.2f | %.1f | %.2f |", name, result.wall,
                result.daemon, share, rate, result.longestGap))
        fflush(nil)
    }

    private func measure(isWatched: Bool, _ work: WorkFolder) async throws -> Result {
        let measured = try await MeasuredDaemon(
            in: work, ["sources.roots": work.path("pictures")])
        defer { measured.remove() }
        let (spool, daemon) = (measured.spool, measured.process)
        let entries = (0..<images).map { #"{"name": "\#($0)", "source": "a.png"}"# }
        try spool.drop(
            "many.json",
            "{\"filters\": [\"sepia\"], \"images\": [\(entries.joined(separator: ",\n"))]}")
        let start = ContinuousClock.now
        try await until(daemon) { spool.exists("outbox/many/status.json") }
        var result = Result(wall: 0, daemon: 0)
        if isWatched {
            let log = work.path("events")
            // Waiting for a process blocks its thread.
            let words = [Program.command, "watch", "many", "--json", "--spool", spool.path]
            let child = try await Task.detached { try Child(words, output: log) }.value
            guard child.exit == 0 else {
                throw BenchmarkError("darkroom watch: status \(child.exit)")
            }
            result.client = child.processor
            (result.events, result.longestGap) = try Self.events(in: log)
        }
        try await until(daemon) { !spool.exists("active/many") }
        result.wall = (ContinuousClock.now - start) / .seconds(1)
        result.daemon = try Self.processorTime(of: daemon.identifier)
        _ = try await daemon.stop()
        return result
    }

    private func until(_ daemon: DaemonProcess, _ condition: () -> Bool) async throws {
        while !condition() {
            if let ending = daemon.currentEnding() { throw BenchmarkError("the daemon \(ending)") }
            try await Task.sleep(for: .milliseconds(5))
        }
    }

    /// The events that show movement: those with other counts than the one before.
    private static func events(in log: String) throws -> (count: Int, longestGap: Double) {
        struct Event: Decodable {
            struct Counts: Decodable, Equatable { var filtered: Int }
            var time: String?
            var written: String?
            var counts: Counts?
        }
        var last: (time: Date, counts: Event.Counts)?
        var (count, longestGap) = (0, 0.0)
        for line in try String(contentsOfFile: log, encoding: .utf8).split(separator: "\n") {
            let event = try JSONDecoder().decode(Event.self, from: Data(line.utf8))
            guard let counts = event.counts, let text = event.written ?? event.time,
                let time = try? Date(
                    text,
                    strategy: .iso8601.year().month().day().time(includingFractionalSeconds: true)),
                counts != last?.counts
            else { continue }
            if let last { longestGap = max(longestGap, time.timeIntervalSince(last.time)) }
            last = (time, counts)
            count += 1
        }
        return (count, longestGap)
    }

    /// In seconds, from proc(5).
    private static func processorTime(of process: pid_t) throws -> Double {
        let text = try String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8)
        // The second field is the name in parentheses; utime and stime are the fields 14 and 15.
        let fields = text.split(separator: ")").last?.split(separator: " ") ?? []
        let ticks = fields.dropFirst(11).prefix(2).compactMap { Double($0) }.reduce(0, +)
        return ticks / Double(sysconf(CInt(_SC_CLK_TCK)))
    }
}
