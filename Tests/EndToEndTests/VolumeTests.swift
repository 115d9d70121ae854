import Testing

/// Many images, many manifests.
@Suite(.fewAtATime) struct VolumeTests {
    @Test func twoThousandImages() async throws {
        let (fixture, daemon) = try await DaemonFixture.running(pictures: 2000)
        try fixture.drop(
            "large", images: (0..<2000).map { ("image-\($0)", fixture.url("\($0).png")) })
        let status = try await fixture.spool.finish("large", daemon)

        try fixture.checkCompleted(status)
        #expect(status.images.count == 2000)
        #expect(status.images.map(\.name) == (0..<2000).map { "image-\($0)" })
        let requests = try await fixture.logged(2000)
        #expect(requests.count == 2000)
        // downloads.concurrency is 16, and each connection is used again.
        #expect(Set(requests.map(\.connection)).count <= 16)
        #expect(try await daemon.stop() == .exited(0))
    }

    @Test func aThousandManifests() async throws {
        let (fixture, daemon) = try await DaemonFixture.running(pictures: 8)
        for index in 0..<1000 {
            try fixture.drop(
                "burst-\(index)", images: [("only", fixture.url("\(index % 8).png"))])
        }
        for index in 0..<1000 {
            let status = try await fixture.spool.finish(
                "burst-\(index)", daemon)
            #expect(status.state == .completed)
            #expect(status.images.first?.output != nil)
        }
        // Each became exactly one batch.
        #expect(fixture.spool.list("outbox").count == 1000)
        #expect(fixture.spool.list("inbox") == [])
        #expect(fixture.spool.list("active") == [])
        #expect(try await fixture.logged(1000).count == 1000)
    }
}
