import Foundation
import TestPictures
import TestSupport
import Testing

/// JPEG in and out, by a daemon at work.
@Suite(.fewAtATime) struct JPEGTests {
    /// A photograph of one colour, 48 × 32, taken with the camera on its side.
    static var photograph: JPEGMaker {
        let samples = (0..<48 * 32).flatMap { _ in [200, 150, 100] as [UInt8] }
        var maker = JPEGMaker(width: 48, height: 32, channels: 3, samples: samples)
        maker.early = [.jfif(unit: 1, x: 72, y: 72), .exif(orientation: 6)]
        return maker
    }

    static func write(_ bytes: [UInt8], _ name: String, _ fixture: DaemonFixture) throws {
        try fixture.documents.write(bytes, to: name)
    }

    @Test func photographsAreFilteredToEitherFormat() async throws {
        let fixture = try DaemonFixture(pictures: 0)
        try Self.write(Self.photograph.encoded, "photo.jpg", fixture)
        try Self.write(Array(Self.photograph.encoded.dropLast(100)), "torn.jpg", fixture)
        let ink = JPEGMaker.noise(width: 8, height: 8, channels: 4)
        try Self.write(ink.encoded, "ink.jpg", fixture)
        let daemon = try await fixture.run()
        try fixture.drop(
            "photos",
            [
                "filters": [["sepia": ["intensity": 0.8]]],
                "output": ["format": "jpeg", "quality": 95],
                "images": [
                    ["source": fixture.url("photo.jpg")],
                    [
                        "name": "lossless", "source": fixture.url("photo.jpg"),
                        "output": ["format": "png"],
                    ],
                    [
                        "name": "small", "from": "photo", "filters": [["resize": ["width": 8]]],
                        "output": ["progressive": true],
                    ],
                    [
                        "name": "as-it-lies.jpg", "source": fixture.url("photo.jpg"),
                        "autoOrient": false,
                    ],
                    ["source": fixture.url("torn.jpg")],
                    ["source": fixture.url("ink.jpg")],
                ],
            ])
        let status = try await fixture.spool.finish("photos", daemon)

        #expect(status.state == .completedWithErrors)
        try fixture.checkOutcome(status)
        #expect(
            status.images.map(\.output?.file) == [
                "photo.jpg", "lossless.png", "small.jpg", "as-it-lies.jpg", nil, "ink.jpg",
            ])
        #expect(
            status.images.map(\.output?.format) == [.jpeg, .png, .jpeg, .jpeg, nil, .jpeg])
        let widths: [Int?] = [32, 32, 8, 48, nil, 8]
        let heights: [Int?] = [48, 48, 12, 32, nil, 8]
        #expect(status.images.map(\.output?.width) == widths)
        #expect(status.images.map(\.output?.height) == heights)
        #expect(try status.image("torn").error?.code == "jpeg-truncated")
        #expect(
            try status.image("photo").metadata == [
                "JFIF": "kept", "Exif": "dropped", "orientation": "converted",
            ])
        #expect(
            try status.image("lossless").metadata == [
                "JFIF": "converted", "Exif": "dropped", "orientation": "converted",
            ])
        #expect(
            try status.image("as-it-lies.jpg").metadata == [
                "JFIF": "kept", "Exif": "dropped", "orientation": "dropped",
            ])
        let picture = try PNGDecoder.decode(fixture.spool.bytes("outbox/photos/lossless.png"))
        #expect(zip(picture.samples, [210, 182, 138]).allSatisfy { abs(Int($0) - $1) <= 2 })
        let segments = try #require(
            JPEGSegment.all(in: fixture.spool.bytes("outbox/photos/small.jpg")))
        #expect(segments.contains { $0.marker == 0xC2 })
    }

    /// The options are read again from the manifest.
    @Test func aRestartKnowsTheFormats() async throws {
        let fixture = try DaemonFixture(pictures: 0)
        // Some 10 KiB, of which the origin sends 4 at a time.
        let photograph = JPEGMaker.noise(width: 64, height: 64, channels: 3).encoded
        let count = 120
        for index in 0..<count { try Self.write(photograph, "\(index).jpg", fixture) }
        let first = try await fixture.run(["downloads.concurrency": "1"])
        try fixture.drop(
            "trip",
            [
                "output": ["format": "jpeg"],
                "images": (0..<count).map { ["source": fixture.slowURL("\($0).jpg")] },
            ])
        _ = try await fixture.spool.waitForStatus(of: "trip", first, filtered: 2)
        try await first.killAtOnce()
        let done = fixture.spool.list("outbox/trip").filter { $0.hasSuffix(".jpg") }
        #expect(done.count >= 2 && done.count < count)
        let identities = try done.map { try fixture.spool.identity("outbox/trip/\($0)") }
        let second = try await fixture.run()
        let status = try await fixture.spool.finish("trip", second)
        try fixture.checkCompleted(status)
        #expect(status.images.map(\.output?.file) == (0..<count).map { "\($0).jpg" })
        #expect(try done.map { try fixture.spool.identity("outbox/trip/\($0)") } == identities)
        #expect(Set(status.images.compactMap(\.output?.sha256)).count == 1)
    }
}
