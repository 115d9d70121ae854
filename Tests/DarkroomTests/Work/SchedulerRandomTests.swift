import TestPictures
import TestSupport
import Testing

@testable import DarkroomAnswer
@testable import DarkroomBoard
@testable import DarkroomCore
@testable import DarkroomDaemon
@testable import DarkroomFetch
@testable import DarkroomManifest
@testable import DarkroomWork

/// The real scheduler in random sequences of what may happen to it.
struct SchedulerRandomTests {
    /// With operations at work in several threads, sources, pictures and tries that fail, pictures of all sizes, images
    /// that a process has died with, suspensions, commands and less memory: each image ends, once, and nothing is left.
    @Test(.tags(.concurrency), arguments: 0..<36)
    func endsEverythingExactlyOnce(seed: UInt64) async throws {
        var random = SplitMix64(seed: seed)
        let fixture = try SchedulerFixture(
            window: Int.random(in: 1...9, using: &random),
            board: seed % 2 == 0
                ? Board.Bounds() : Board.Bounds(imageBudget: 60, preparedBudget: 40)
        ) {
            $0.filterConcurrency = 1 + Int(seed % 5)
            if seed % 3 == 0 { $0.memory = 60 << 20 }
        }
        let origin = try fixture.origin { path, number in
            number % 3 == 0 ? nil : path.hashValue % 2 == 0 ? .status(503) : .reset
        }
        try fixture.setSource("s5", Array(SchedulerFixture.picture.dropLast(30)))
        for number in 10..<16 {
            let side = Int.random(in: 100...8000, using: &random)
            try fixture.setSource(
                "s\(number)" as ByteString, PNGMaker.interlacedHeader(side: side))
        }
        let ids = (0..<12).map { "b\($0)" }
        var totals: [String: Int] = [:]
        for id in ids {
            let images = Self.images(of: origin, using: &random)
            totals[id] = images.count
            let priority = Priority.allCases.randomElement(using: &random) ?? .normal
            let suspect = Int.random(in: 0..<images.count, using: &random)
            try fixture.accept(
                id, Manifest(images: images, priority: priority),
                journal: suspect % 3 == 0 ? [.crashed(index: suspect, number: 1, .killed)] : [],
                missing: ["s1"])
            for _ in 0..<4 {
                try await fixture.goOn(Int.random(in: 0..<20, using: &random))
                if Int.random(in: 0..<6, using: &random) == 0 {
                    fixture.scheduler.suspend()
                    fixture.scheduler.resume()
                }
                guard let other = ids.randomElement(using: &random),
                    let command = ControlCommand.allCases.randomElement(using: &random),
                    command != .cancel || Int.random(in: 0..<4, using: &random) == 0
                else { continue }
                fixture.obey(other, command)
            }
        }
        var settings = fixture.scheduler.settings
        settings.memory = 40 << 20
        fixture.scheduler.update(settings)
        try await fixture.finish()
        for id in ids { fixture.obey(id, .release) }
        try await fixture.finish()
        #expect(try fixture.finished.keys.sorted() == ids.sorted())
        for (id, total) in totals {
            let counts = try #require(try fixture.status(id)).counts
            #expect(counts.finished == total && counts.total == total)
        }
        let ended = zip(fixture.filteredBatches, fixture.filtered).map { "\($0)/\($1)" }
        #expect(Set(ended).count == ended.count)
        let summary = fixture.scheduler.summary
        #expect(summary.unfinished == 0 && summary.retrying == 0)
        #expect(fixture.board { $0.admission.isEmpty && $0.imagesPrepared == 0 })
        #expect(fixture.board { $0.pool.memory.held == 0 && $0.pool.memory.waitingCount == 0 })
        #expect(fixture.board { ($0.pool.places + $0.pool.waitingPlaces).allSatisfy { $0 == 0 } })
    }

    private static func images(
        of origin: FlakyOrigin, using random: inout SplitMix64
    ) -> [Manifest.Image] {
        (0..<Int.random(in: 1...40, using: &random)).map { index in
            let isMade = index > 0 && Int.random(in: 0..<4, using: &random) == 0
            let other = index > 0 ? Int.random(in: 0..<index, using: &random) : 0
            let number = Int.random(in: 0..<28, using: &random)
            let source = number < 16 ? "s\(number)" : origin.source("late\(number)")
            return Manifest.Image(
                name: "i\(index)", origin: isMade ? .image(other) : .source(source),
                after: index > 2 && index % 5 == 0 ? [index - 2] : [])
        }
    }
}
