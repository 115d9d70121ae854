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
        let (fixture, daemon) = try await DaemonFixture.running()
        let images = (0..<count).map { (name: "image \($0)", source: fixture.url("\($0).png")) }
        let manifest = try format.write(images)

        try fixture.spool.drop(Array("holiday.\(format.ending)".utf8), manifest)
        let status = try await fixture.complete("holiday", daemon)
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
}
