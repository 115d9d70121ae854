import DarkroomPicture
import Foundation
import TestPictures
import TestSupport
import Testing

/// Sources in the file system. Which ones may be read is in `LocalSourcesTests`.
@Suite(.fewAtATime) struct LocalSourceTests {
    /// A manifest's author learns nothing of where the server keeps its files.
    @Test func messagesNameTheSourceAsTheManifestDoes() async throws {
        let fixture = try DaemonFixture(pictures: 0)
        try fixture.write("<html></html>", to: "p.png")
        try fixture.write("%PDF-1.7", to: "g.png")
        let daemon = try await fixture.run(fixture.readsDocuments)
        let status = try await fixture.finish(
            "local", images: [("page", "p.png"), ("film", "g.png")], daemon)
        for (name, source) in [("page", "p.png"), ("film", "g.png")] {
            let message = try #require(try status.image(name).error?.message)
            #expect(message.hasPrefix("\(source): this is "), "\(message)")
        }
    }

    /// Neither a small one, which is read when it is found, nor a large one, however its image ends.
    @Test func noneStaysOpen() async throws {
        let fixture = try DaemonFixture(pictures: 0)
        let large = PNGMaker.noise(width: 200, height: 200, colourType: .rgb, depth: 8).encoded
        let small = DaemonFixture.picture
        try #require(small.count <= PictureInput.mostBytes && large.count > PictureInput.mostBytes)
        let files = [
            ("small", small), ("large", large), ("broken", Array(small.dropLast(20))),
            ("cut", Array(large.dropLast(20))), ("text", Array("text".utf8)), ("empty", []),
        ]
        for (name, content) in files {
            try fixture.documents.write(content, to: "\(name).png")
        }
        let before = try FileManager.default.attributesOfItem(
            atPath: fixture.documents.path + "/small.png")
        let daemon = try await fixture.run(fixture.readsDocuments)
        let sources = ["small", "large", "broken", "cut", "text", "empty", "absent"]
        for round in 0..<3 {
            let images = (0..<10).flatMap { number in
                sources.map { ("\($0)\(number)", "\($0).png") }
            }
            try fixture.drop("work\(round)", images: images)
            try fixture.drop("cancelled\(round)", images: images)
            try fixture.spool.drop("cancelled\(round).cancel", "")
            let status = try await fixture.spool.finish("work\(round)", daemon)
            for (number, code) in [
                nil, nil, "png-truncated", "png-truncated", "not-a-picture", "not-a-picture",
                "source-missing",
            ].enumerated() {
                #expect(try status.image(sources[number] + "0").error?.code == code)
            }
            _ = try await fixture.spool.finish("cancelled\(round)", daemon)
        }
        let open = "/proc/\(daemon.identifier)/fd"
        let names = try FileManager.default.contentsOfDirectory(atPath: open).compactMap {
            try? FileManager.default.destinationOfSymbolicLink(atPath: "\(open)/\($0)")
        }
        // It sees the files of the daemon, among them the spool.
        #expect(names.contains { $0.hasPrefix(fixture.spool.path) })
        #expect(names.filter { $0.hasPrefix(fixture.documents.path) } == [])
        // Sources are read, nothing else.
        let after = try FileManager.default.attributesOfItem(
            atPath: fixture.documents.path + "/small.png")
        for key in [FileAttributeKey.systemFileNumber, .modificationDate] {
            #expect(before[key] as? NSObject == after[key] as? NSObject)
        }
    }
}
