import Foundation
import Testing

@testable import DarkroomCore

/// The way of a manifest through the targets, as etc/doc/architecture.md draws it.
struct ManifestWayTests {
    @Test func goesFromTargetToTarget() async throws {
        let result = await #expect(
            processExitsWith: .success, observing: [\.standardErrorContent]
        ) {
            setenv(FaultPoint.variable, "trace", 1)
            let fixture = try IntakeFixture()
            try fixture.start()
            try fixture.drop("a.json")
            try await fixture.wait(for: .batchClaimed)
            try await fixture.finish()
        }
        let output = String(decoding: try #require(result).standardErrorContent, as: UTF8.self)
        var points: [FaultPoint] = []
        var targets: [Substring] = []
        for line in output.split(separator: "\n") where !points.contains(.filterBegan) {
            let words = line.split(separator: " ")
            guard words.count == 2, let point = FaultPoint(rawValue: String(words[0])) else {
                continue
            }
            points.append(point)
            let target = words[1].dropFirst("Darkroom".count)
            if targets.last != target { targets.append(target) }
        }
        let stations: [FaultPoint] = [
            .manifestArrived, .manifestRead, .claimMoved, .receiptMoved, .submittedRemoved,
            .batchHandedOver, .batchBegun, .downloadBegan, .downloadEnded, .filterBegan,
        ]
        #expect(points.filter(stations.contains) == stations)
        #expect(
            targets == ["Daemon", "Manifest", "Spool", "Work", "Spool", "Work", "Board", "Work"])
    }
}
