import TestSupport
import Testing

/// Which image comes before which: priorities, dependencies, shared sources.
@Suite(.fewAtATime) struct OrderTests {
    @Test func aHigherPriorityOvertakes() async throws {
        let many = DaemonFixture.many
        let fixture = try DaemonFixture(pictures: many + 10)
        let daemon = try await fixture.run(["downloads.concurrency": "2"])
        try fixture.drop("low", images: fixture.slowImages(), priority: .low)
        _ = try await fixture.spool.waitForStatus(of: "low", daemon, "under way") {
            $0.counts.filtered >= 1
        }
        try fixture.drop(
            "high", images: fixture.slowImages(many..<many + 10), priority: .veryHigh)
        let high = try await fixture.spool.finish("high", daemon)
        #expect(try fixture.spool.status(of: "low")?.state == .processing)
        try fixture.checkCompleted(high)
        #expect(high.priority == .veryHigh)

        // From its first image on nothing else began: at most what was under way ended beside it.
        let order = try await fixture.logged(10) { fixture.isSlow($0.path, many..<many + 10) }
            .map(\.path)
        let highs = order.indices.filter { fixture.isSlow(order[$0], many..<many + 10) }
        #expect(highs.count == 10)
        let span = try #require(highs.last) - (try #require(highs.first)) + 1
        #expect(span <= highs.count + 2, "\(order)")
        try fixture.spool.drop("low.cancel", "")
        #expect(try await fixture.spool.finish("low", daemon).state == .cancelled)
    }

    @Test func batchesOfOnePriorityShare() async throws {
        let many = DaemonFixture.many
        let fixture = try DaemonFixture(pictures: many + 4)
        let daemon = try await fixture.run(["downloads.concurrency": "2", "batches.window": "4"])
        try fixture.drop("long", images: fixture.slowImages())
        _ = try await fixture.spool.waitForStatus(of: "long", daemon, "under way") {
            $0.counts.filtered >= 1
        }
        try fixture.drop("short", images: fixture.slowImages(many..<many + 4))
        try fixture.checkCompleted(try await fixture.spool.finish("short", daemon))
        #expect(try fixture.spool.status(of: "long")?.state == .processing)
        // Its images come between the other's, not behind them.
        let order = try await fixture.logged(4) { fixture.isSlow($0.path, many..<many + 4) }
            .map(\.path)
        let shorts = order.indices.filter { fixture.isSlow(order[$0], many..<many + 4) }
        #expect(shorts.count == 4)
        let between = try #require(shorts.last) - (try #require(shorts.first)) + 1 - shorts.count
        #expect(between <= 12, "\(order)")
        try fixture.spool.drop("long.cancel", "")
        #expect(try await fixture.spool.finish("long", daemon).state == .cancelled)
    }

    /// What is fetched and waits to be filtered takes turns by batch.
    @Test func aSmallBatchDoesNotWaitForAllThatAnotherHasReady() async throws {
        let fixture = try DaemonFixture(pictures: 2)
        let daemon = try await fixture.run(["filters.concurrency": "1"])
        let long = (0..<200).map { index -> [String: Any] in
            [
                "name": "\(index)", "source": fixture.url("0.png"),
                "filters": [["resize": ["width": 1200]], ["blur": ["sigma": 4]]],
            ]
        }
        try fixture.drop("long", ["images": long])
        _ = try await fixture.spool.waitForStatus(of: "long", daemon, "under way") {
            $0.counts.filtered >= 1 && $0.counts.downloaded >= 60
        }
        try fixture.drop("small", images: [("a", fixture.url("1.png"))])
        try fixture.checkCompleted(try await fixture.spool.finish("small", daemon))
        // 64 of them stood in line before it came.
        #expect(try #require(try fixture.spool.status(of: "long")).counts.filtered < 60)
        try fixture.spool.drop("long.cancel", "")
        #expect(try await fixture.spool.finish("long", daemon).state == .cancelled)
    }

    @Test func dependenciesAreKept() async throws {
        let fixture = try DaemonFixture(pictures: 4)
        let daemon = try await fixture.run()
        try fixture.drop(
            "chain",
            [
                "images": [
                    // Named before what it is made from.
                    ["name": "thumb", "from": "gray", "filters": [["resize": ["width": 12]]]],
                    ["name": "gray", "from": "base", "filters": ["grayscale"]],
                    ["name": "base", "source": fixture.slowURL("0.png"), "filters": []],
                    [
                        "name": "last", "source": fixture.url("1.png"), "after": ["thumb", "base"],
                        "filters": [],
                    ],
                ]
            ])
        let status = try await fixture.spool.finish("chain", daemon)

        try fixture.checkCompleted(status)
        #expect(try status.image("thumb").output?.width == 12)
        #expect(try status.image("thumb").from == "gray")
        #expect(try status.image("thumb").source == nil)
        #expect(try await fixture.logged(2).map(\.path) == ["/slow/0.png", "/1.png"])
        func written(_ name: String) throws -> SpoolFixture.FileIdentity {
            try fixture.spool.identity("outbox/chain/\(name).png")
        }
        #expect(try written("base") <= written("gray"))
        #expect(try written("gray") <= written("thumb"))
        #expect(try written("thumb") <= written("last"))
    }

    @Test func whatIsMadeFromAFailedImageFails() async throws {
        let fixture = try DaemonFixture(pictures: 1)
        let daemon = try await fixture.run()
        try fixture.drop(
            "broken",
            [
                "images": [
                    ["name": "absent", "source": fixture.url("no-such.png")],
                    ["name": "derived", "from": "absent"],
                    ["name": "second", "from": "derived"],
                    // `after` asks only that the other has ended.
                    ["name": "later", "source": fixture.url("0.png"), "after": ["absent"]],
                ]
            ])
        let status = try await fixture.spool.finish("broken", daemon)

        #expect(status.state == .completedWithErrors)
        #expect(try status.image("absent").error?.code == "http-status")
        #expect(try status.image("derived").error?.code == "dependency-failed")
        #expect(try status.image("second").error?.code == "dependency-failed")
        #expect(try status.image("later").state == .filtered)
        try fixture.checkOutcome(status)
    }

    @Test func aSharedSourceIsFetchedOnce() async throws {
        let fixture = try DaemonFixture(pictures: 2)
        let daemon = try await fixture.run()
        let shared = fixture.url("0.png")
        let filters = ["mono", "sepia", "invert", "flip", "flop"]
        try fixture.drop(
            "shared",
            [
                "images": filters.map { ["name": $0, "source": shared, "filters": [$0]] }
                    + (0..<200).map {
                        ["name": "\($0)", "source": shared, "filters": ["grayscale"]]
                    }
                    + [["name": "other", "source": fixture.url("1.png"), "filters": []]]
            ])
        let status = try await fixture.spool.finish("shared", daemon)

        try fixture.checkCompleted(status)
        #expect(Set(try await fixture.logged(2).map(\.path)) == ["/0.png", "/1.png"])
        #expect(try fixture.origin.requests().count == 2)
    }

    @Test func aWatermarkIsLaidOverTheOthers() async throws {
        let fixture = try DaemonFixture(pictures: 3)
        let daemon = try await fixture.run()
        try fixture.drop(
            "marked",
            [
                "filters": [
                    ["watermark": ["from": "logo", "x": 4, "y": 3]], ["grayscale": ["amount": 1]],
                ],
                "images": [
                    ["name": "a", "source": fixture.url("0.png")],
                    ["name": "b", "source": fixture.url("1.png")],
                    [
                        "name": "logo", "source": fixture.slowURL("2.png"),
                        "filters": [["thumbnail": ["size": 10, "fit": "cover"]], "invert"],
                    ],
                    // One laid over itself, and over what it is made from.
                    [
                        "name": "c", "from": "a",
                        "filters": [["overlay": ["from": "a"]], ["overlay": ["from": "b"]]],
                    ],
                ],
            ])
        let status = try await fixture.spool.finish("marked", daemon)

        try fixture.checkCompleted(status)
        let plain = try PNGDecoder.decode(DaemonFixture.picture).gray
        let logo = try PNGDecoder.decode(fixture.spool.bytes("outbox/marked/logo.png")).gray
        let a = try PNGDecoder.decode(fixture.spool.bytes("outbox/marked/a.png")).gray
        let (width, height) = (DaemonFixture.width, DaemonFixture.height)
        #expect(logo.count == 100 && a.count == width * height)
        for y in 0..<height {
            for x in 0..<width {
                let (u, v) = (x - (width - 14), y - (height - 13))
                let isCovered = (0..<10).contains(u) && (0..<10).contains(v)
                let expected = isCovered ? logo[v * 10 + u] : plain[y * width + x]
                if a[y * width + x] != expected {
                    Issue.record("(\(x), \(y)): \(a[y * width + x]), not \(expected)")
                    return
                }
            }
        }
        #expect(
            try fixture.spool.identity("outbox/marked/logo.png")
                <= fixture.spool.identity("outbox/marked/a.png"))
    }

    @Test func whatAFailedImageWasToBeLaidOverFails() async throws {
        let fixture = try DaemonFixture(pictures: 2)
        let daemon = try await fixture.run()
        try fixture.drop(
            "unmarked",
            [
                "images": [
                    [
                        "name": "marked", "source": fixture.url("0.png"),
                        "filters": [["watermark": ["from": "logo"]]],
                    ],
                    ["name": "derived", "from": "marked", "filters": []],
                    ["name": "logo", "source": fixture.url("no-such.png"), "filters": []],
                    ["name": "other", "source": fixture.url("1.png"), "filters": []],
                ]
            ])
        let status = try await fixture.spool.finish("unmarked", daemon)

        #expect(status.state == .completedWithErrors)
        #expect(try status.image("logo").error?.code == "http-status")
        let error = try #require(try status.image("marked").error)
        #expect(error.code == "dependency-failed")
        #expect(
            error.message == "marked has the overlay logo, which has failed (http-status)")
        #expect(try status.image("derived").error?.code == "dependency-failed")
        #expect(try status.image("other").state == .filtered)
        try fixture.checkOutcome(status)
    }
}

extension ReferencePicture {
    /// The luminance of an opaque picture of 8 bits, rounded, pixel by pixel.
    fileprivate var gray: [UInt16] {
        stride(from: 0, to: samples.count, by: layout.channels).map { at in
            if layout.channels < 3 { return samples[at] }
            let (r, g, b) = (Int(samples[at]), Int(samples[at + 1]), Int(samples[at + 2]))
            return UInt16((2126 * r + 7152 * g + 722 * b + 5000) / 10_000)
        }
    }
}
