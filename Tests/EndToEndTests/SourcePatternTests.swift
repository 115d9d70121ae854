import Foundation
import TestSupport
import Testing

/// Patterns and folders as sources, with the real daemon and the real command.
@Suite(.fewAtATime) struct SourcePatternTests {
    private let fixture: DaemonFixture
    private let roots: ScratchDirectory

    init() throws {
        fixture = try DaemonFixture(pictures: 1)
        roots = try ScratchDirectory()
        try roots.makeFolder("photos/sub.png")
        for name in ["b.png", "a.png", "c.jpg", ".hidden.png"] { try add(name) }
        try "text".write(
            to: roots.url.appending(path: "photos/note.txt"), atomically: false, encoding: .utf8)
    }

    private func add(_ name: String) throws {
        let bytes = name.hasSuffix("jpg") ? JPEGTests.photograph.encoded : DaemonFixture.picture
        try roots.write(bytes, to: "photos/\(name)")
    }

    private func run() async throws -> DaemonProcess {
        try await fixture.run(["sources.roots": "[\(roots.path)]"])
    }

    @Test func aFolderIsLookedIntoOnce() async throws {
        var daemon = try await run()
        try fixture.spool.drop("x.hold", "")
        try fixture.spool.drop(
            "x.yaml",
            "filters: []\nimages: [photos/, {source: 'photos/b*', filters: mono}, {name: l, from: c}]\n"
        )
        let held = try await fixture.spool.waitForStatus(of: "x", daemon, .held)
        let names = ["a", "b", "c", "b-2", "l"]
        #expect(held.images.map(\.name) == names)
        let path = "\(roots.path)/photos"
        #expect(
            held.images.map(\.source)
                == ["\(path)/a.png", "\(path)/b.png", "\(path)/c.jpg", "\(path)/b.png", nil])
        // Other files later, a restart, and a retry make no other images.
        try add("0.png")
        try add("b2.png")
        try await daemon.killAtOnce()
        daemon = try await run()
        try fixture.spool.drop("x.release", "")
        var status = try await fixture.spool.finish("x", daemon)
        #expect(status.state == .completed && status.images.map(\.name) == names)
        try add("b3.png")
        try fixture.spool.remove("outbox/x/b.png")
        #expect(try await fixture.client("retry", "x", "--wait").exit == 0)
        status = try await fixture.spool.finish("x", daemon)
        #expect(status.state == .completed && status.images.map(\.name) == names)
        #expect(status.retries == 1)
        let kept = status.images.compactMap { $0.output?.file }
        #expect(
            fixture.spool.list("outbox/x")
                == (kept + ["manifest.yaml", "progress.json", "sources.json", "status.json"])
                .sorted())
        // A new manifest finds them.
        try fixture.spool.drop("y.yaml", "filters: []\nimages: [photos/b*.png]\n")
        let answer = try await fixture.spool.finish("y", daemon)
        #expect(answer.images.map(\.name) == ["b", "b2", "b3"])
        #expect(try await daemon.stop() == .exited(0))
    }

    @Test func theRulesForFilesHold() async throws {
        let outside = try ScratchDirectory()
        try outside.write(DaemonFixture.picture, to: "secret.png")
        let photos = roots.url.appending(path: "photos").path
        try FileManager.default.createSymbolicLink(
            atPath: "\(photos)/out.png", withDestinationPath: "\(outside.path)/secret.png")
        try FileManager.default.createSymbolicLink(
            atPath: "\(photos)/in.png", withDestinationPath: "a.png")
        try roots.link("far", to: outside.path)
        let daemon = try await run()
        try fixture.spool.drop("x.yaml", "filters: []\nimages: [photos/*.png]\n")
        let status = try await fixture.spool.finish("x", daemon)
        #expect(status.images.map(\.name) == ["a", "b", "in", "out"])
        #expect(
            status.images.map { $0.error?.code } == [nil, nil, nil, "source-forbidden"])
        for (id, source) in [
            ("far", "far/"), ("up", "../"), ("absolute", "\(outside.path)/"),
            ("none", "photos/*.gif"),
            ("middle", "*/a.png"),
        ] {
            try fixture.spool.drop("\(id).yaml", "images: ['\(source)']\n")
            let rejected = try await fixture.spool.finish(id, daemon)
            #expect(
                rejected.errors?.map(\.code) == [id == "middle" ? "bad-source" : "no-pictures"],
                "\(id): \(String(describing: rejected.errors))")
        }
        // A star in a URL, and in the name of a file.
        try add("s*.png")
        try fixture.spool.drop(
            "star.yaml",
            "filters: []\nimages: ['file://\(roots.path)/photos/s%2A.png', '\(fixture.url("*.png"))']\n"
        )
        let star = try await fixture.spool.finish("star", daemon)
        #expect(star.images.map { $0.error?.code } == [nil, "http-status"])
        #expect(try await daemon.stop() == .exited(0))
    }

    /// A submitted folder has its own files, and `--copy` sends what a pattern means.
    @Test func picturesAreSentAlong() async throws {
        let daemon = try await fixture.run()
        let folder = fixture.documents.url.appending(path: "trip/photos")
        try FileManager.default.makeFolder(at: folder)
        for name in ["b.png", "a.png"] {
            try Data(DaemonFixture.picture).write(to: folder.appending(path: name))
        }
        try fixture.write("filters: []\nimages: [photos/*.png]\n", to: "trip/all.yaml")
        try await fixture.client("submit", "trip/all.yaml", "--copy", "--wait").expect(
            exit: 0, output: "all\n")
        let status = try await fixture.spool.finish("all", daemon)
        #expect(status.state == .completed && status.manifest.isFolder == true)
        #expect(status.images.map(\.source) == ["photos/a.png", "photos/b.png"])
        try await fixture.client("submit", "trip/all.yaml", "--wait").shows(exit: 65)
        #expect(try await daemon.stop() == .exited(0))
    }

    /// A run in the same folder looks again.
    @Test func eachRunLooks() async throws {
        let text = "filters: []\nimages: [\(roots.path)/photos/*.png]\n"
        try fixture.write(text, to: "m.yaml")
        try await fixture.client("run", "m.yaml", "-o", "out", "--quiet").expect(exit: 0)
        func outputs() throws -> [String] {
            try FileManager.default.contentsOfDirectory(
                atPath: fixture.documents.url.appending(path: "out").path
            ).filter { $0.hasSuffix(".png") }.sorted()
        }
        #expect(try outputs() == ["a.png", "b.png"])
        try add("z.png")
        try fixture.documents.remove("out/b.png")
        try await fixture.client("run", "m.yaml", "-o", "out", "--quiet").shows(exit: 0)
        #expect(try outputs() == ["a.png", "b.png", "z.png"])
        try await fixture.client("check", "m.yaml").expect(
            exit: 0,
            output: "m.yaml: only the daemon can look up 1 pattern or folder\n")
    }
}
