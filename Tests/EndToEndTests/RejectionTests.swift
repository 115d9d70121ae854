import Testing

/// Manifests that are refused for their size.
@Suite(.fewAtATime) struct RejectionTests {
    @Test func limitsHold() async throws {
        let (fixture, daemon) = try await DaemonFixture.running([
            "manifests.maxBytes": "1000", "manifests.maxImages": "3",
        ])
        let large = try DaemonFixture.json(["images": [String(repeating: "x", count: 1000)]])
        try fixture.spool.drop("large.json", large)
        let tooLarge = try await fixture.spool.finish("large", daemon)
        #expect(tooLarge.errors?.map(\.code) == ["too-large"])
        #expect(tooLarge.manifest.bytes == large.utf8.count)
        #expect(tooLarge.manifest.file == nil && tooLarge.manifest.sha256 == nil)
        try fixture.checkOutcome(tooLarge)
        // It is not lost: its submitter finds it where it came from.
        #expect(try fixture.spool.bytes("tmp/large.json") == Array(large.utf8))
        try await daemon.says("large: what was submitted was moved back to tmp/large.json")

        let tooMany = try await fixture.finish(
            "many", images: (0..<4).map { ("\($0)", fixture.url("\($0).png")) }, daemon)
        #expect(tooMany.errors?.map(\.code) == ["too-many-images"])
        try fixture.checkOutcome(tooMany)
        try await daemon.says("many.json rejected")

        try await fixture.complete(
            "few", images: (0..<3).map { ("\($0)", fixture.url("\($0).png")) }, daemon)
    }
}
