import DarkroomCore
import Foundation
import Glibc
import TestSupport
import Testing

/// Hot folders whose daemon is killed, or gets more than it can see.
@Suite(.fewAtATime) struct HotFolderKillTests {
    /// Each step, with the daemon killed when it has done it, in the second life for the second time: lost 0, twice 0,
    /// differing 0.
    @Test(arguments: FaultPoint.allCases.filter { [.hotFolder, .delivery].contains($0.need) })
    func aKillAtEachStepLosesNothing(point: FaultPoint) async throws {
        let fixture = try HotFolderFixture(
            originals: "move", options: ", within: 100ms, batch: 3", delivers: true)
        var delivered: [String] = []
        func listDelivered() throws -> [String] {
            try FileManager.default.contentsOfDirectory(atPath: fixture.delivered)
                .filter { !$0.hasPrefix(".") }
        }
        /// Somebody takes each file away that is delivered.
        func takeDelivered() throws {
            for name in try listDelivered() {
                delivered.append(name)
                try FileManager.default.removeItem(atPath: "\(fixture.delivered)/\(name)")
            }
        }
        /// The place of each is the seed of its picture.
        var sources: [String] = []
        func put(_ count: Int) throws {
            for seed in sources.count..<(sources.count + count) {
                try fixture.put("sub/\(seed).png", seed)
                sources.append("sub-\(seed).png")
            }
        }
        for passing in 1...2 {
            try put(4)
            // On a slow disk all that is there is delivered in one go. What comes after a delivery is in another one.
            try await fixture.die(at: "\(point.rawValue):\(passing)") { daemon in
                try await eventually("a delivery or its end", context: { daemon.describe() }) {
                    try daemon.currentEnding() != nil || !listDelivered().isEmpty ? () : nil
                }
                try put(1)
            }
            try takeDelivered()
        }
        try put(1)
        let daemon = try await fixture.run()
        let answers = try await fixture.expectAnswers(sources, daemon)
        #expect(answers.allSatisfy { $0.state == .filtered })
        try await fixture.waitForNoRecords(daemon)
        #expect(fixture.left == ["sub"])
        try takeDelivered()
        #expect(delivered.sorted() == sources.sorted())
        #expect(try FileManager.default.contentsOfDirectory(atPath: fixture.delivered) == [])
        for answer in answers {
            let file = try #require(answer.image.output?.file)
            #expect(answer.image.deliveredTo == "\(fixture.delivered)/\(file)")
        }
        for answer in answers {
            let seed = try #require(sources.firstIndex(of: answer.source))
            let original = try fixture.spool.bytes(
                "outbox/\(answer.id)/\(answer.image.name).original.png")
            #expect(Data(original) == HotFolderFixture.picture(seed))
            // One copy of each original.
            let files = fixture.spool.list("outbox/\(answer.id)")
            #expect(files.filter { $0.hasPrefix("\(answer.image.name).original") }.count == 1)
        }
        #expect(try await daemon.stop() == .exited(0))
    }

    /// At random moments, with pictures that come meanwhile.
    @Test func killsAtRandomLoseNothing() async throws {
        let fixture = try HotFolderFixture(originals: "keep", options: ", within: 50ms, batch: 5")
        var sources: [String] = []
        var random = SystemRandomNumberGenerator()
        for life in 0..<12 {
            let daemon = try await fixture.run(["durability": "process"])
            for index in 0..<10 {
                let name = "\(life)-\(index).png"
                sources.append(name)
                try fixture.put(name, sources.count)
                if index % 3 == 0 {
                    try await Task.sleep(for: .milliseconds(Int.random(in: 0..<60, using: &random)))
                }
            }
            try await daemon.killAtOnce()
        }
        let daemon = try await fixture.run()
        let answers = try await fixture.expectAnswers(sources, daemon)
        #expect(answers.allSatisfy { $0.state == .filtered })
        #expect(Set(answers.map(\.image.sourceSHA256)).count == sources.count)
        #expect(try await daemon.stop() == .exited(0))
    }

    /// 10,000 pictures at once, written in place while the daemon does not read its events, so that inotify loses some.
    @Test func aBurstAndAnOverflowLoseNothing() async throws {
        let fixture = try HotFolderFixture(options: ", within: 1s, batch: 1000")
        let daemon = try await fixture.run(["durability": "process"])
        try await fixture.waitForReport(daemon, "a watch") { $0.state == .watching }
        daemon.send(SIGSTOP)
        let picture = HotFolderFixture.picture(1)
        var sources: [String] = []
        // Three events each, and inotify keeps 16384.
        let count = 10_000
        for index in 0..<count {
            sources.append("\(index).png")
            try picture.write(to: URL(filePath: fixture.path("\(index).png")))
        }
        daemon.send(SIGCONT)
        try await daemon.says("inotify lost events of \(fixture.folder); scanning it")
        let answers = try await fixture.expectAnswers(sources, daemon)
        #expect(answers.allSatisfy { $0.state == .filtered })
        // The report is written at intervals.
        try await fixture.waitForReport(daemon, "all pictures") { $0.remembered == count }
        #expect(try await daemon.stop() == .exited(0))
    }
}
