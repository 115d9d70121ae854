import DarkroomCore
import Foundation
import Testing

/// Manifests in each of the formats, from the inbox to the outbox over a real origin.
@Suite(.fewAtATime) struct FormatTests {
    /// The same manifest, sepia for every image, in one of the formats.
    struct Case: Sendable, CustomTestStringConvertible {
        let ending: String
        let write: @Sendable ([(name: String, source: String)]) throws -> [UInt8]

        var testDescription: String { ending }
    }

    static let cases: [Case] = [
        Case(ending: "json") { images in
            let list = images.map { ["name": $0.name, "source": $0.source] }
            return Array(try DaemonFixture.json(["images": list, "filters": ["sepia"]]).utf8)
        },
        Case(ending: "yaml") { images in
            let list = images.map { "  - name: \"\($0.name)\"\n    source: \($0.source)\n" }
            return Array("filters: [sepia]\nimages:\n\(list.joined())".utf8)
        },
        Case(ending: "yml") { images in
            let list = images.map { "  \"\($0.name)\": \($0.source)\n" }
            return Array("images:\n\(list.joined())filters: [{sepia: {intensity: 1}}]\n".utf8)
        },
        Case(ending: "plist") { try propertyList($0, .xml) },
        Case(ending: "PLIST") { try propertyList($0, .binary) },
    ]

    /// A plain dictionary, as the tutorials have it: its filters are the configuration's.
    static func propertyList(
        _ images: [(name: String, source: String)],
        _ format: PropertyListSerialization.PropertyListFormat
    ) throws -> [UInt8] {
        let dictionary = Dictionary(uniqueKeysWithValues: images.map { ($0.name, $0.source) })
        return Array(
            try PropertyListSerialization.data(
                fromPropertyList: dictionary, format: format, options: 0))
    }

    @Test(arguments: cases, [1, 12]) func completes(format: Case, count: Int) async throws {
        let fixture = try DaemonFixture()
        let daemon = try await fixture.run()
        let images = (0..<count).map { (name: "image \($0)", source: fixture.url("\($0).png")) }
        let manifest = try format.write(images)

        try fixture.spool.drop(Array("holiday.\(format.ending)".utf8), manifest)
        let status = try await fixture.spool.finish("holiday", daemon)

        try fixture.checkCompleted(status)
        #expect(status.id == "holiday")
        #expect(status.schemaVersion == 1)
        #expect(status.manifest.name == "holiday.\(format.ending)")
        #expect(status.manifest.bytes == manifest.count)
        let file = try #require(status.manifest.file)
        // The bytes of a binary property list do not tell that it has no secrets, so it is written anew.
        let isExact = status.manifest.redacted == nil
        #expect(isExact == (format.ending != "PLIST"))
        #expect((try fixture.spool.bytes("outbox/holiday/\(file)") == manifest) == isExact)
        #expect(Set(status.images.map(\.name)) == Set(images.map(\.name)))
        for image in status.images {
            let output = try #require(image.output)
            #expect(output.file == image.name + ".png")
            #expect(output.width == DaemonFixture.width && output.height == DaemonFixture.height)
            #expect(output.depth == 8)
            #expect(image.attempts == 1)
        }
        let started = try #require(status.times.started)
        let finished = try #require(status.times.finished)
        // RFC 3339 in UTC with as many digits each: the order of the texts is that of the moments.
        #expect(status.times.received <= started && started <= finished)
        let (first, last) = try (#require(Moment(started)), #require(Moment(finished)))
        for image in status.images {
            let times = try #require(image.times)
            let moments = [times.downloading, times.downloaded, times.filtering].compactMap(\.self)
            #expect(moments.count == 3 && moments == moments.sorted())
            // One is rounded and the other one is not.
            #expect(first.milliseconds <= moments[0].milliseconds + 1)
            #expect(moments[2].milliseconds <= last.milliseconds + 1)
        }
        #expect(try await daemon.stop() == .exited(0))
    }

    @Test func appliesTheFiltersThatAreAskedFor() async throws {
        let fixture = try DaemonFixture(pictures: 1)
        let daemon = try await fixture.run()
        try fixture.drop(
            "filters",
            [
                "filters": ["invert"],
                "images": [
                    ["name": "own", "source": fixture.url("0.png"), "filters": ["mono"]],
                    ["name": "shared", "source": fixture.url("0.png")],
                    ["name": "none", "source": fixture.url("0.png"), "filters": []],
                    [
                        "name": "twice", "source": fixture.url("0.png"),
                        "filters": ["invert", "invert"],
                    ],
                    [
                        "name": "small", "source": fixture.url("0.png"),
                        "filters": [["resize": ["width": 20]]],
                    ],
                ],
            ])
        let status = try await fixture.spool.finish("filters", daemon)

        try fixture.checkCompleted(status)
        let sums = try status.images.map { try #require($0.output).sha256 }
        // Inverting twice gives the picture that no filter gives; all others differ.
        #expect(sums[2] == sums[3])
        #expect(Set(sums).count == 4)
        let small = try #require(try status.image("small").output)
        #expect(small.width == 20 && small.height == 16)
    }

    @Test func hidesCredentialsAndQueries() async throws {
        let fixture = try DaemonFixture(pictures: 1)
        let daemon = try await fixture.run()
        let secret = fixture.url("0.png").replacing("http://", with: "http://user:secret@")
        try fixture.drop("redacted", images: [("a", secret + "?token=secret")])
        let status = try await fixture.spool.finish("redacted", daemon)

        try fixture.checkCompleted(status)
        let text = String(
            decoding: try fixture.spool.bytes("outbox/redacted/status.json"), as: UTF8.self)
        #expect(!text.contains("secret"))
        #expect(text.contains("/0.png"))
        #expect(!daemon.outputText.contains("secret"))
    }
}
