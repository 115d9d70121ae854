import Testing

@testable import DarkroomAnswer
@testable import DarkroomClient
@testable import DarkroomManifest

extension QueueReport.Limits {
    static func local(roots: [String]? = nil, readable: [String]) -> QueueReport.Limits {
        QueueReport.Limits(
            manifestBytes: 1 << 20, images: 100, filters: 64, defaultFilters: "[]",
            sourceRoots: roots ?? readable, readableRoots: readable, sourceBytes: 1 << 30,
            downloads: .init(), pictures: .init(pixels: 1 << 28, memory: 1 << 30, cores: 2))
    }
}

struct SourceRootsTests {
    @Test(arguments: [
        (["/srv/a"], ["/srv/a"], ["/srv/a/1.png", "/srv/a/b/2.png"], nil),
        (["/srv/a/"], ["/srv/a/"], ["/srv//a/1.png"], nil),
        (["/"], ["/"], ["/1.png"], nil),
        (
            ["/srv/a"], ["/srv/a"], ["/srv/ab/1.png"],
            "darkroomd cannot read /srv/ab/1.png: it is not in one of sources.roots (/srv/a)"
        ),
        (
            ["/home", "/srv"], ["/srv"], ["/srv/1.png", "/home/1.png", "/home/2.png"],
            "darkroomd cannot read /home/1.png and 1 more: its service does not see this folder"
        ),
        (
            [], [], ["/1.png"],
            "darkroomd cannot read /1.png: sources.roots allows no local pictures"
        ),
    ]) func tellsWhatTheDaemonCannotRead(
        roots: [String], readable: [String], paths: [String], message: String?
    ) {
        let limits = QueueReport.Limits.local(roots: roots, readable: readable)
        let obstacle = SourceRoots(limits).obstacle(among: paths)
        #expect(obstacle?.message == message)
        #expect(obstacle == nil || obstacle?.exit == .rejected)
    }

    /// Relative paths begin at any of the roots.
    @Test func knowsTheLocalFilesOfAManifest() throws {
        let text = """
            images: [/srv/a.png, b.png, "file:///srv/c%20d.png", "https://h/e.png", {name: f, from: a}]
            """
        let manifest = try ManifestReader.read(
            Array(text.utf8), format: .yaml, defaultFilters: [])
        #expect(manifest.absolutePaths == ["/srv/a.png", "/srv/c d.png"])
    }
}
