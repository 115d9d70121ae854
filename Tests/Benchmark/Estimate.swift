import ArgumentParser
import DarkroomAnswer
import DarkroomCore
import Foundation
import TestPictures

/// How good the estimate of the time left is: a batch of mixed pictures, with what progress.json said on the way beside
/// what was true in the end.
struct Estimate: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Compare the time left in progress.json with the time that it really took.",
        discussion: """
            Each batch has pictures of 0.05 to 12 megapixels, PNG and JPEG, with several filters. The progress is read \
            ten times a second. An error is given in percent of the time that was really left when it was written.
            """)

    @Option(help: "How many images each batch has.")
    var images = 2000

    @Option(help: "How many batches in random order are measured.")
    var rounds = 3

    @Option(help: "Where spools and pictures are made.")
    var scratch = ".build/benchmark"

    private enum Order {
        case random(seed: UInt64)
        /// The hardest: the small pictures come first, so nothing that has ended tells of what comes.
        case sorted

        var name: String {
            switch self {
            case .random(let seed): "random order \(seed)"
            case .sorted: "small ones first"
            }
        }
    }

    private struct Reading {
        /// When it was written, in seconds since the manifest was dropped.
        var time: Double
        /// The part of the images that has ended.
        var part: Double
        var secondsLeft: Double?
    }

    func run() async throws {
        let work = try WorkFolder("estimate", in: scratch)
        defer { work.remove() }
        for kind in Self.kinds {
            try work.draw(
                kind.scene, kind.width, kind.height, to: "pictures/\(kind.width).png")
        }
        print("Errors of the time left, in percent of the time really left, by the part of the")
        print("images that has ended: the largest, and the median.")
        print()
        Table.begin(["\(images) mixed images", "s"] + Self.ranges.map(\.name))
        let orders = (1...UInt64(max(1, rounds))).map { Order.random(seed: $0) } + [.sorted]
        for order in orders {
            let (readings, end) = try await measure(order, work)
            let cells = Self.ranges.map { Self.errors(readings, end, $0.range) }
            print(
                "| \(order.name) | \(String(format: "%.0f", end)) |",
                cells.joined(separator: " | "),
                "|")
            fflush(nil)
        }
    }

    // MARK: The pictures

    private struct Kind {
        let scene: Starfield.Scene
        let width: Int
        let height: Int
        /// Of a hundred images, how many are of this kind.
        let share: Int
    }

    private static let kinds = [
        Kind(scene: .comet, width: 256, height: 192, share: 25),
        Kind(scene: .galaxy, width: 768, height: 512, share: 40),
        Kind(scene: .nebula, width: 2048, height: 1536, share: 25),
        Kind(scene: .moon, width: 4288, height: 2848, share: 10),
    ]

    private static let ranges: [(name: String, range: Range<Double>)] = [
        ("5 to 20 %", 0.05..<0.2), ("20 to 40 %", 0.2..<0.4), ("40 to 60 %", 0.4..<0.6),
        ("60 to 80 %", 0.6..<0.8), ("80 to 95 %", 0.8..<0.95),
    ]

    private func manifest(_ order: Order) -> String {
        let filters = [
            #"["sepia"]"#, #"[{"resize": {"width": 800}}]"#, #"["mono", {"blur": {"sigma": 2}}]"#,
            #"[{"thumbnail": {"size": 200}}]"#,
        ]
        var widths: [Int] = []
        for kind in Self.kinds {
            widths += Array(repeating: kind.width, count: images * kind.share / 100)
        }
        var generator = SplitMix64(seed: 1)
        if case .random(let seed) = order {
            generator = SplitMix64(seed: seed)
            widths.shuffle(using: &generator)
        }
        let entries = widths.enumerated().map { index, width in
            let filter = filters[Int.random(in: 0..<filters.count, using: &generator)]
            let format = Bool.random(using: &generator) ? "png" : "jpeg"
            return """
                {"name": "\(index)", "source": "\(width).png", "filters": \(filter), \
                "output": {"format": "\(format)"}}
                """
        }
        return "{\"images\": [\n\(entries.joined(separator: ",\n"))\n]}"
    }

    // MARK: One batch

    private func measure(
        _ order: Order, _ work: WorkFolder
    ) async throws -> (readings: [Reading], end: Double) {
        let measured = try await MeasuredDaemon(
            in: work, ["sources.roots": work.path("pictures")])
        defer { measured.remove() }
        let (spool, daemon) = (measured.spool, measured.process)
        try spool.drop("mixed.json", manifest(order))
        let start = Date.now
        var readings: [Reading] = []
        while true {
            if let ending = daemon.currentEnding() { throw BenchmarkError("the daemon \(ending)") }
            try await Task.sleep(for: .milliseconds(100))
            let file = "outbox/mixed/\(BatchProgress.fileName.text)"
            guard let bytes = try? spool.bytes(file) else { continue }
            let progress = try JSONDecoder().decode(BatchProgress.self, from: Data(bytes))
            let part = Double(progress.counts.finished) / Double(max(1, progress.counts.total))
            if progress.state.isFinal {
                guard progress.state == .completed else {
                    throw BenchmarkError("the batch is \(progress.state.rawValue)")
                }
                _ = try await daemon.stop()
                return (readings, try Self.seconds(progress.times.finished, since: start))
            }
            let time = try Self.seconds(progress.written, since: start)
            guard readings.last?.time != time else { continue }
            readings.append(Reading(time: time, part: part, secondsLeft: progress.secondsLeft))
        }
    }

    private static func seconds(_ timestamp: String?, since start: Date) throws -> Double {
        guard let time = timestamp.flatMap(Clock.date) else {
            throw BenchmarkError("\(timestamp ?? "nothing") is not a time")
        }
        return time.timeIntervalSince(start)
    }

    /// The largest and the median error in a range of the way.
    private static func errors(
        _ readings: [Reading], _ end: Double, _ range: Range<Double>
    ) -> String {
        let errors = readings.filter { range.contains($0.part) }.compactMap { reading in
            reading.secondsLeft.map { abs($0 - (end - reading.time)) / (end - reading.time) }
        }.sorted()
        guard let largest = errors.last else { return "none" }
        return String(format: "%.0f, %.0f", largest * 100, errors[errors.count / 2] * 100)
    }
}
