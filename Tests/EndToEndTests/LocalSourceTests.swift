import DarkroomBatch
import DarkroomManifest
import DarkroomPicture
import DarkroomSelfTest
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
