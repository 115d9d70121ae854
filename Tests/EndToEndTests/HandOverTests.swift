import DarkroomAnswer
import Foundation
import TestPictures
import TestSupport
import Testing

/// Images made of others whose outputs are JPEG: they get the pixels, not what the JPEG has left of them.
@Suite(.fewAtATime) struct HandOverTests {
    /// A disc in the middle of nothing, so that its corners are transparent.
    private static let logo: [UInt8] = {
        let side = 24
        let samples = (0..<side * side).flatMap { pixel -> [UInt16] in
            let (x, y) = (pixel % side * 2 - side + 1, pixel / side * 2 - side + 1)
            return [60_000, 9000, 1000, x * x + y * y < side * side ? 50_000 : 0]
        }
        return PNGMaker(
            width: side, height: side, colourType: .rgba, depth: 16, samples: samples
        ).encoded
    }()

    /// A logo of the format, a picture that is marked with it, and others made of the logo and of each other. Their
    /// outputs are PNG where the pixels are compared, and of the format in between.
    private static func images(
        _ fixture: DaemonFixture, logo: String? = nil, base: String? = nil, format: String
    ) -> [[String: Any]] {
        let logo = logo ?? fixture.url("logo.png")
        let base = base ?? fixture.url("0.png")
        let lossless = ["format": "png"]
        let own = ["format": format]
        return [
            ["name": "logo", "source": logo, "filters": [], "output": own],
            [
                "name": "marked", "source": base, "output": lossless,
                "filters": [["watermark": ["from": "logo", "x": 3]]],
            ],
            [
                "name": "turned", "from": "logo", "filters": [["rotate": ["angle": 90]]],
                "output": own,
            ],
            ["name": "again", "from": "turned", "filters": ["flip"], "output": lossless],
            [
                "name": "both", "from": "turned", "output": lossless,
                "filters": [["overlay": ["from": "logo", "opacity": 0.5]]],
            ],
        ]
    }

    private static let compared = ["marked", "again", "both"]

    /// What the images are whose pixels come from PNG outputs.
    private static func expected(_ fixture: DaemonFixture, _ daemon: DaemonProcess) async throws
        -> [String]
    {
        try fixture.drop("reference", ["images": images(fixture, format: "png")])
        return try sums(try await fixture.complete("reference", daemon))
    }

    private static func sums(_ status: Status) throws -> [String] {
        try compared.map { try #require(try status.image($0).output).sha256 }
    }

    @Test func pixelsAreHandedOverWithAlphaAndDepth() async throws {
        let fixture = try DaemonFixture(pictures: 1)
        try fixture.documents.write(Self.logo, to: "logo.png")
        let daemon = try await fixture.run()
        let expected = try await Self.expected(fixture, daemon)
        try fixture.drop("x", ["images": Self.images(fixture, format: "jpeg")])
        let status = try await fixture.complete("x", daemon)
        #expect(try Self.sums(status) == expected)
        #expect(try status.image("logo").output?.format == .jpeg)
        // The corner of the mark is the picture's own.
        let marked = try PNGDecoder.decode(fixture.spool.bytes("outbox/x/marked.png"))
        let plain = try PNGDecoder.decode(DaemonFixture.picture)
        let corner =
            ((DaemonFixture.height - 24) * DaemonFixture.width + DaemonFixture.width - 27)
            * plain.layout.channels
        #expect(marked.samples[corner] == plain.samples[corner])
        #expect(try status.image("again").output?.depth == 16)
        #expect(try status.image("again").output?.channels == 4)
        #expect(status.images.compactMap(\.warnings) == [])
    }

    /// The profile, and Exif where the other image keeps it, come along as from a PNG.
    @Test func metadataIsHandedOver() async throws {
        let fixture = try DaemonFixture(pictures: 0)
        var maker = JPEGTests.photograph
        maker.early += JPEGSegment.profile(ICCProfileMaker.profile(space: "RGB ", padding: 300))
        try fixture.documents.write(maker.encoded, to: "photo.jpg")
        let daemon = try await fixture.run()
        for (id, format) in [("lossy", "jpeg"), ("lossless", "png")] {
            let output: [String: Any] = ["format": format, "exif": true]
            try fixture.drop(
                id,
                [
                    "output": ["format": "png", "exif": true],
                    "images": [
                        [
                            "name": "photo", "source": fixture.url("photo.jpg"), "filters": [],
                            "autoOrient": false, "output": output,
                        ],
                        ["name": "made", "from": "photo", "filters": ["flop"]],
                    ],
                ])
        }
        let lossy = try await fixture.spool.finish("lossy", daemon).image("made")
        let lossless = try await fixture.spool.finish("lossless", daemon).image("made")
        #expect(lossy.output?.sha256 == lossless.output?.sha256)
        #expect(lossy.metadata == lossless.metadata)
        // Turned now, as the camera has noted.
        #expect(lossy.output?.width == 32 && lossy.metadata?["iCCP"] == "kept")
        #expect(lossy.metadata?["eXIf"] == "converted")
    }

    // MARK: On the way

    /// A batch whose logo is filtered while what it is laid over is held back by its origin.
    private final class HandOverFixture {
        let fixture: DaemonFixture
        /// Of the logo; its second attempt is held.
        let logos: FlakyOrigin
        let bases: FlakyOrigin

        init(_ fixture: DaemonFixture, base: @escaping @Sendable (Int) -> FlakyOrigin.Fault?) throws
        {
            self.fixture = fixture
            logos = try FlakyOrigin(picture: HandOverTests.logo) { _, number in
                number == 2 ? .held : nil
            }
            bases = try FlakyOrigin(picture: DaemonFixture.picture) { _, number in base(number) }
        }

        /// Drops the batch `x` of three images: a logo, one that waits for its source, and one of the logo alone.
        func drop() throws {
            let images = HandOverTests.images(
                fixture, logo: logos.url("logo.png"), base: bases.url("base.png"), format: "jpeg")
            try fixture.drop("x", ["images": Array(images.prefix(2))])
        }

        func waitForTheLogo(_ daemon: DaemonProcess) async throws -> SpoolFixture.FileIdentity {
            _ = try await fixture.spool.waitForStatus(of: "x", daemon, "half done") {
                $0.counts.filtered == 1
            }
            try await daemon.waitUntil("the base to be asked for") { _ in !bases.requests.isEmpty }
            #expect(fixture.spool.exists("active/x/pixels-0"))
            return try fixture.spool.identity("outbox/x/logo.jpg")
        }

        func checkEnd(_ daemon: DaemonProcess, _ logo: SpoolFixture.FileIdentity) async throws {
            let status = try await fixture.spool.waitForStatus(of: "x", daemon, .completed)
            try await daemon.waitUntil("active/x to be cleared") { _ in
                !self.fixture.spool.exists("active/x")
            }
            try fixture.checkCompleted(status)
            #expect(try fixture.spool.identity("outbox/x/logo.jpg") == logo)
            #expect(try status.image("logo").attempts == 1)
            #expect(status.images.compactMap(\.warnings) == [])
            // The same in one go.
            try fixture.documents.write(HandOverTests.logo, to: "logo.png")
            let expected = try await HandOverTests.expected(fixture, daemon)
            #expect(try status.image("marked").output?.sha256 == expected[0])
        }
    }

    enum Left: CaseIterable, Sendable { case whole, none, halfOfTheNext }

    /// Between the logo's publication and the end of what is marked with it.
    @Test(arguments: Left.allCases) func aKillCostsNothing(left: Left) async throws {
        let handOver = try HandOverFixture(try DaemonFixture(pictures: 1)) { $0 == 1 ? .held : nil }
        let fixture = handOver.fixture
        let first = try await fixture.run(DaemonFixture.patient)
        try handOver.drop()
        let logo = try await handOver.waitForTheLogo(first)
        try await first.killAtOnce()
        if left != .whole { try fixture.spool.remove("active/x/pixels-0") }
        if left == .halfOfTheNext {
            for name in ["pixels-0.new", "again-0"] {
                try fixture.spool.write(Self.logo.prefix(100), to: "active/x/\(name)")
            }
        }
        let told = try fixture.spool.identity("outbox/x/status.json")
        let second = try await fixture.run(DaemonFixture.patient)
        if left == .whole {
            handOver.bases.release()
            try await handOver.checkEnd(second, logo)
            #expect(handOver.logos.requests.count == 1)
            return
        }
        // It is made again, and its users see nothing of that.
        try await second.waitUntil("the logo to be fetched again") { _ in
            handOver.logos.requests.count == 2
        }
        try await second.waitUntil("a status of that") { _ in
            (try? fixture.spool.identity("outbox/x/status.json")) ?? told != told
        }
        let status = try #require(try fixture.spool.status(of: "x"))
        #expect(status.counts.filtered == 1)
        #expect(try status.image("logo").state == .filtered)
        // Killed amid that, it is made again once more.
        try await second.killAtOnce()
        let third = try await fixture.run(DaemonFixture.patient)
        handOver.bases.release()
        try await handOver.checkEnd(third, logo)
        #expect(handOver.logos.requests.count == 3)
    }

    /// A batch that has ended has no pixels any more.
    @Test func aRetryMakesThemAgain() async throws {
        let handOver = try HandOverFixture(try DaemonFixture(pictures: 1)) {
            $0 == 1 ? .status(404) : nil
        }
        let fixture = handOver.fixture
        let daemon = try await fixture.run(DaemonFixture.patient)
        try handOver.drop()
        let failed = try await fixture.spool.finish("x", daemon)
        #expect(failed.counts.filtered == 1 && failed.counts.failed == 1)
        let logo = try fixture.spool.identity("outbox/x/logo.jpg")
        try fixture.spool.drop("x.retry", "")
        try await daemon.waitUntil("the logo to be fetched again") { _ in
            handOver.logos.requests.count == 2
        }
        handOver.logos.release()
        try await handOver.checkEnd(daemon, logo)
        #expect(
            fixture.spool.list("outbox/x") == [
                "logo.jpg", "manifest.json", "marked.png", "progress.json", "status.json",
            ])
    }

    /// There is room for all outputs, but not for the pixels beside them: the image waits.
    @Test(.enabled(if: SmallDisk.isAvailable, "only root can mount a small file system"))
    func aFullDiskIsWaitedFor() async throws {
        let disk = try SmallDisk(kilobytes: 8192)
        let fixture = try DaemonFixture(pictures: 1, spool: SpoolFixture(root: disk.root))
        let stars = Starfield.png(width: 700, height: 500, seed: 5)
        try fixture.documents.write(stars, to: "logo.png")
        let daemon = try await fixture.run()
        try disk.fill(butFor: stars.count / 1024 + 200)
        let images = Self.images(fixture, format: "jpeg")
        try fixture.drop("x", ["images": Array(images.prefix(2))])
        try await daemon.waitForStatusText("Waiting: ")
        #expect(!fixture.spool.exists("active/x/pixels-0"))
        disk.empty()
        try await fixture.complete("x", daemon)
    }
}
