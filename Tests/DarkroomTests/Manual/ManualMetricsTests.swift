import TestSupport
import Testing

@testable import DarkroomCore
@testable import DarkroomDaemon

/// Holds darkroom-metrics(7) against what the daemon writes.
struct ManualMetricsTests {
    static let page = Result { try ManualPage("darkroom-metrics.7") }

    private static func families() throws -> [String: Exposition.Family] {
        let metrics = Metrics()
        // Families of failures have series, and so labels, once there is one.
        metrics.failures.add("http-status")
        metrics.downloadFailures.add("http-status")
        var moment = MetricsMoment()
        moment.queues = [("downloads", 0)]
        moment.hotFolders = [
            HotFolderMetrics(path: "/srv/scans", isUp: true, taken: 0, waiting: 0, refused: 0)
        ]
        return try Exposition(MetricsText.write(metrics, moment)).families
    }

    @Test func hasEveryMetricAndNoOther() throws {
        let names = try Self.page.get().items("METRICS").flatMap(\.names)
        #expect(names.sorted() == (try Self.families()).keys.sorted())
    }

    /// The first lines of each: its kind, and its label beside `spool`.
    @Test func saysKindAndLabelOfEach() throws {
        let families = try Self.families()
        for item in try Self.page.get().items("METRICS") {
            let family = try #require(families[item.names[0]])
            let sample = try #require(family.samples.first)
            let labels = Set(sample.labels.keys).subtracting(["spool", "le"])
            let kind = family.kind.prefix(1).uppercased() + family.kind.dropFirst()
            if let label = labels.first {
                #expect(labels.count == 1)
                #expect(item.lines[0] == "\(kind); label", "\(item.names)")
                #expect(item.lines[1] == ".Li \(label) .", "\(item.names)")
            } else {
                #expect(item.lines[0] == "\(kind).", "\(item.names)")
            }
        }
    }

    /// The words of the labels whose values are few.
    @Test func hasTheWordsOfTheLabels() throws {
        let page = try Self.page.get()
        func text(_ name: String) throws -> String {
            try #require(page.items("METRICS").first { $0.names == [name] }).text
        }
        for stage in Metrics.Stage.allCases {
            #expect(try text("darkroom_stage_seconds").contains(stage.rawValue))
        }
        for name in ["darkroom_batches", "darkroom_cache_lookups_total"] {
            for sample in try #require(try Self.families()[name]).samples {
                let label = try #require(sample.labels.first { $0.key != "spool" })
                #expect(try text(name).contains(label.value), "\(name): \(label.value)")
            }
        }
    }

    /// The queries name metrics, and labels that these have.
    @Test func itsQueriesNameMetrics() throws {
        let families = try Self.families()
        let suffixes = ["_sum", "_count", "_bucket"]
        var found = 0
        for example in try Self.page.get().examples("query") {
            for match in example.text.matches(of: /\b(darkroom_[a-z_]+)(?:\{([a-z]+)=)?/) {
                found += 1
                let name = String(match.1)
                let stem = suffixes.first(where: name.hasSuffix).map { name.dropLast($0.count) }
                let family = try #require(
                    families[name] ?? stem.flatMap { families[String($0)] }, "\(name)")
                guard let label = match.2 else { continue }
                #expect(family.samples.allSatisfy { $0.labels[String(label)] != nil }, "\(match.0)")
            }
        }
        #expect(found >= 5)
    }
}
