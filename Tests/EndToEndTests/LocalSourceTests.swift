import DarkroomPicture
import Foundation
import TestSupport
import Testing

/// Sources in the file system, which must lie beneath the configured roots.
@Suite(.fewAtATime) struct LocalSourceTests {
    /// Two roots and a secret beside them.
    struct Folders {
        let scratch: ScratchDirectory
        var first: String { scratch.path + "/first" }
        var second: String { scratch.path + "/second" }

        init() throws {
            scratch = try ScratchDirectory()
            let files = FileManager.default
            for folder in ["first/sub", "second", "outside", "first/folder.png"] {
                try files.createDirectory(
                    at: scratch.url.appending(path: folder), withIntermediateDirectories: true)
            }
            for file in ["first/a.png", "first/sub/b c.png", "second/c.png", "outside/secret.png"] {
                try Data(DaemonFixture.picture).write(to: scratch.url.appending(path: file))
            }
            try files.createSymbolicLink(
                atPath: first + "/escape.png", withDestinationPath: "../outside/secret.png")
            try files.createSymbolicLink(atPath: first + "/inner.png", withDestinationPath: "a.png")
            guard mkfifo(first + "/fifo.png", 0o644) == 0 else { throw POSIXError(.EIO) }
        }
    }

    /// `@` stands for the folder that holds the roots.
    static let sources: [(source: String, code: String?)] = [
        ("a.png", nil),
        ("sub/b c.png", nil),
        ("c.png", nil),
        ("@/first/a.png", nil),
        ("@/second/c.png", nil),
        ("file://@/first/sub/b%20c.png", nil),
        ("file://localhost@/first/a.png", nil),
        ("inner.png", nil),
        ("absent.png", "source-missing"),
        ("@/outside/secret.png", "source-forbidden"),
        ("../outside/secret.png", "source-forbidden"),
        ("file://@/outside/secret.png", "source-forbidden"),
        ("@/first/../outside/secret.png", "source-forbidden"),
        ("escape.png", "source-forbidden"),
        ("/etc/passwd", "source-forbidden"),
        ("folder.png", "not-a-file"),
        ("fifo.png", "not-a-file"),
    ]

    @Test func areReadBeneathTheRootsOnly() async throws {
        let folders = try Folders()
        let fixture = try DaemonFixture(pictures: 0)
        let daemon = try await fixture.run([
            "sources.roots": "[\(folders.first), \(folders.second)]"
        ])
        let original = try FileManager.default.attributesOfItem(atPath: folders.first + "/a.png")
        try fixture.drop(
            "local",
            images: Self.sources.enumerated().map { index, entry in
                ("\(index)", entry.source.replacing("@", with: folders.scratch.path))
            })
        let status = try await fixture.spool.finish("local", daemon)

        for (index, entry) in Self.sources.enumerated() {
            let image = try status.image("\(index)")
            #expect(image.error?.code == entry.code, "\(entry.source)")
            #expect(image.state == (entry.code == nil ? .filtered : .failed), "\(entry.source)")
        }
        try fixture.checkOutcome(status)
        // Sources are read, nothing else.
        let now = try FileManager.default.attributesOfItem(atPath: folders.first + "/a.png")
        #expect(now[.systemFileNumber] as? Int == original[.systemFileNumber] as? Int)
        #expect(now[.modificationDate] as? Date == original[.modificationDate] as? Date)
    }

    /// A manifest's author learns nothing of where the server keeps its files.
    @Test func messagesNameTheSourceAsTheManifestDoes() async throws {
        let folders = try Folders()
        try Data("<html></html>".utf8).write(to: folders.scratch.url.appending(path: "first/p.png"))
        try Data("GIF89a".utf8).write(to: folders.scratch.url.appending(path: "first/g.png"))
        let fixture = try DaemonFixture(pictures: 0)
        let daemon = try await fixture.run(["sources.roots": "[\(folders.first)]"])
        try fixture.drop("local", images: [("page", "p.png"), ("film", "g.png")])
        let status = try await fixture.spool.finish("local", daemon)
        for (name, source) in [("page", "p.png"), ("film", "g.png")] {
            let message = try #require(try status.image(name).error?.message)
            #expect(message.hasPrefix("\(source): this is "), "\(message)")
        }
    }

    /// Neither a small one, which is read when it is found, nor a large one, however its image ends.
    @Test func noneStaysOpen() async throws {
        let folders = try Folders()
        let large = PNGMaker.noise(width: 200, height: 200, colourType: .rgb, depth: 8).encoded
        let small = DaemonFixture.picture
        try #require(small.count <= PictureInput.mostBytes && large.count > PictureInput.mostBytes)
        let files = [
            ("small", small), ("large", large), ("broken", Array(small.dropLast(20))),
            ("cut", Array(large.dropLast(20))), ("text", Array("text".utf8)), ("empty", []),
        ]
        for (name, content) in files {
            try Data(content).write(to: folders.scratch.url.appending(path: "first/\(name).png"))
        }
        let fixture = try DaemonFixture(pictures: 0)
        let daemon = try await fixture.run(["sources.roots": "[\(folders.first)]"])
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
        #expect(names.filter { $0.contains("/first") } == [])
    }

    @Test func noneIsReadWithoutRoots() async throws {
        let folders = try Folders()
        let fixture = try DaemonFixture(pictures: 0)
        let daemon = try await fixture.run()
        try fixture.drop(
            "local", images: [("relative", "a.png"), ("absolute", folders.first + "/a.png")])
        let status = try await fixture.spool.finish("local", daemon)
        #expect(status.images.map(\.error?.code) == ["source-forbidden", "source-forbidden"])
        let message = try #require(status.images.first?.error?.message)
        #expect(message.contains("sources.roots"))
    }
}
