import Testing

/// Manifests that are refused, with all their errors and places.
@Suite(.fewAtATime) struct RejectionTests {
    @Test func allErrorsAreNamedWithTheirPlaces() async throws {
        let (fixture, daemon) = try await DaemonFixture.running()
        let manifest = """
            {
              "priorty": "high",
              "images": [
                {"name": "../escape", "source": "http://127.0.0.1/a.png"},
                {"name": "a", "source": 7},
                {"name": "b", "source": "http://127.0.0.1/b.png", "filters": ["sepai"]},
                {"name": "c", "source": "x", "filters": [{"sepia": {"intensity": 2}}]},
                {"name": "d", "from": "nobody"}
              ]
            }
            """
        try fixture.spool.drop("wrong.json", manifest)
        let status = try await fixture.spool.finish("wrong", daemon)

        #expect(status.state == .rejected)
        #expect(status.images == [])
        try fixture.checkOutcome(status)
        let errors = try #require(status.errors)
        #expect(
            errors.map(\.code) == [
                "unknown-key", "bad-name", "wrong-type", "unknown-filter", "out-of-range",
                "unknown-image",
            ])
        #expect(
            errors.map(\.path) == [
                "priorty", "images[0].name", "images[1].source", "images[2].filters[0]",
                "images[3].filters[0].sepia.intensity", "images[4].from",
            ])
        #expect(errors.map(\.line) == [2, 4, 5, 6, 7, 8])
        #expect(errors[0].column == 3)
        #expect(errors[0].suggestion == "priority")
        #expect(errors[3].suggestion == "sepia")
        #expect(try fixture.spool.bytes("outbox/wrong/manifest.json") == Array(manifest.utf8))
        try await daemon.says("wrong.json rejected")
    }

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

        try await fixture.complete(
            "few", images: (0..<3).map { ("\($0)", fixture.url("\($0).png")) }, daemon)
    }
}
