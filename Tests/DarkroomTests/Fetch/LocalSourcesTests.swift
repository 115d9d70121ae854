import DarkroomCore
import Foundation
import Glibc
import TestPictures
import TestSupport
import Testing

@testable import DarkroomFetch
@testable import DarkroomPicture

@Suite(.tags(.concurrency)) struct LocalSourcesTests {
    /// Two roots, something forbidden beside them, and what may lie in a folder.
    let scratch: ScratchDirectory

    init() throws {
        scratch = try ScratchDirectory()
        let files = [
            "one/a.png": "one", "one/deep/b.png": "deep", "two/a.png": "two", "two/c.png": "c",
            "two/100%?.png": "odd", "outside/secret.png": "secret", "one-more/x.png": "x",
            "one/large.png": String(repeating: "x", count: 1001),
            "one/full.png": String(repeating: "x", count: 1000), "one/empty.png": "",
        ]
        for (path, content) in files { try scratch.write(content, path) }
        let links = [
            "one/out.png": "../outside/secret.png", "one/out": "../outside",
            "one/absolute.png": scratch.path + "/one/a.png",
            "one/within.png": "deep/../a.png", "one/dangling.png": "nowhere.png",
            "one/loop.png": "loop.png", "one/magic.png": "/proc/self/fd/0",
            "root-link": "one",
        ]
        for (path, target) in links { try scratch.link(path, to: target) }
        mkfifo(scratch.path + "/one/fifo.png", 0o600)
    }

    private func sources(_ resolution: PathResolution = .kernel) -> LocalSources {
        LocalSources(
            roots: [scratch.path + "/one", scratch.path + "/two/"], maximumBytes: 1000,
            resolution: resolution)
    }

    /// `BASE` in a path stands for the scratch folder.
    private func path(_ text: String) -> String {
        text.replacingOccurrences(of: "BASE", with: scratch.path)
    }

    static let good = [
        ("a.png", "one", "BASE/one/a.png"),
        ("c.png", "c", "BASE/two/c.png"),
        ("deep/b.png", "deep", "BASE/one/deep/b.png"),
        ("deep/../a.png", "one", "BASE/one/deep/../a.png"),
        ("./a.png", "one", "BASE/one/./a.png"),
        ("within.png", "one", "BASE/one/within.png"),
        ("100%?.png", "odd", "BASE/two/100%?.png"),
        ("empty.png", "", "BASE/one/empty.png"),
        ("BASE/one/a.png", "one", "BASE/one/a.png"),
        ("BASE//one/./a.png", "one", "BASE/one/a.png"),
        ("BASE/two/a.png", "two", "BASE/two/a.png"),
    ]

    @Test(arguments: good, PathResolution.allCases)
    func opens(
        _ row: (source: String, content: String, place: String),
        resolution: PathResolution
    ) throws {
        let (source, expected, place) = row
        let file = try sources(resolution).open(path(source))
        #expect(file.content == expected)
        #expect(file.path == path(place).replacingOccurrences(of: "two//", with: "two/"))
        #expect(file.bytes == Int64(expected.utf8.count))
    }

    static let bad: [(code: FetchError.Code, sources: [String])] = [
        (
            .sourceMissing,
            [
                "missing.png", "deep/missing.png", "a.png/b", "a.png/", "a.png/../a.png",
                "dangling.png", "BASE/one/missing.png",
            ]
        ),
        (
            .sourceForbidden,
            [
                "../one/a.png", "../outside/secret.png", "deep/../../outside/secret.png", "out.png",
                "out/secret.png", "absolute.png", "magic.png", "BASE/outside/secret.png",
                "BASE/one-more/x.png", "BASE/one/../outside/secret.png", "BASE", "/", "/etc/passwd",
                "/proc/self/environ", "/dev/stdin",
            ]
        ),
        (.notAFile, ["deep", ".", "BASE/one", "fifo.png"]),
        (.sourceUnreadable, ["loop.png", String(repeating: "x", count: 300)]),
        (.tooLarge, ["large.png"]),
        (.badURL, ["", "a\0.png"]),
    ]

    @Test(arguments: bad, PathResolution.allCases)
    func refuses(
        _ row: (code: FetchError.Code, sources: [String]), resolution: PathResolution
    ) {
        for source in row.sources {
            let error = #expect(throws: FetchError.self, "\(source)") {
                _ = try sources(resolution).open(path(source)).bytes
            }
            #expect(error?.kind == row.code && error?.isTransient == false, "\(source)")
        }
    }

    /// Pages are counted by the rules for sources; a pipe keeps nobody waiting.
    @Test(
        arguments: [
            ("pages.tif", .pages(3, copies: 0)), ("a.png", .one),
            ("within.tif", .pages(3, copies: 0)), ("out.png", nil), ("../outside/secret.png", nil),
            ("fifo.png", nil), ("large.png", nil), ("nowhere.tif", nil), ("deep", nil),
            ("dangling.png", nil),
        ] as [(String, TIFFPages.Count?)])
    func countsPages(name: String, expected: TIFFPages.Count?) throws {
        try Data(TIFFMaker(pages: 3).bytes).write(
            to: scratch.url.appending(path: "one/pages.tif"))
        try scratch.link("one/within.tif", to: "pages.tif")
        let limit = TIFFPages.Limit(pages: 10, copies: 10)
        #expect(sources().pages(of: name, limit) == expected)
    }

    @Test func takesAFileOfJustTheLimit() throws {
        #expect(try sources().open("full.png").bytes == 1000)
    }

    @Test func namesTheRule() {
        let message =
            "../a.png: is not beneath one of sources.roots (\(scratch.path)/one, "
            + "\(scratch.path)/two/), or leads out of it by .. or a symbolic link; an absolute symbolic link always leads out"
        #expect(throws: FetchError(.sourceForbidden, message)) {
            _ = try sources().open("../a.png").bytes
        }
        #expect(
            throws: FetchError(
                .sourceForbidden, "a.png: local sources are not allowed: sources.roots is empty")
        ) {
            _ = try LocalSources(roots: []).open("a.png").bytes
        }
    }

    @Test func passesOverARootThatIsNotThere() throws {
        let roots = LocalSources(roots: ["\(scratch.path)/none", "\(scratch.path)/root-link"])
        #expect(try roots.open("a.png").content == "one")
    }

    /// With everything as root, the kernel's files are still none to be fetched.
    @Test(
        arguments: ["/proc/self/environ", "/sys/kernel/notes", "proc/version"],
        PathResolution.allCases)
    func refusesTheKernelsFiles(path: String, resolution: PathResolution) {
        let error = #expect(throws: FetchError.self) {
            _ = try LocalSources(roots: ["/"], resolution: resolution).open(path).bytes
        }
        #expect(error?.kind == .sourceForbidden)
    }

    @Test(arguments: ["/dev/null", "/dev/zero"])
    func refusesDevices(path: String) {
        #expect(throws: FetchError(.notAFile, "\(path): a device, not a file")) {
            _ = try LocalSources(roots: ["/dev"]).open(path).bytes
        }
    }

    /// Opening a device can already do something, rewind a tape say; so what is no file is never opened.
    @Test(arguments: PathResolution.allCases)
    func looksBeforeItOpens(resolution: PathResolution) throws {
        let watch = inotify_init1(CInt(IN_NONBLOCK | IN_CLOEXEC))
        defer { close(watch) }
        let folder = scratch.path + "/one"
        for name in ["fifo.png", "a.png"] {
            try #require(inotify_add_watch(watch, "\(folder)/\(name)", UInt32(IN_OPEN)) >= 0)
        }
        func wasOpened() -> Bool {
            var buffer = [UInt8](repeating: 0, count: 4096)
            return read(watch, &buffer, buffer.count) > 0
        }
        #expect(throws: FetchError(.notAFile, "fifo.png: a fifo, not a file")) {
            _ = try sources(resolution).open("fifo.png").bytes
        }
        #expect(!wasOpened())
        #expect(try sources(resolution).open("a.png").bytes == 3)
        #expect(wasOpened())
    }

    @Test func tellsMagicLinks() throws {
        let error = #expect(throws: FetchError.self) {
            _ = try LocalSources(roots: ["/"]).open("proc/self/fd/0").bytes
        }
        #expect(error?.message.contains("a special link of /proc") == true)
    }

    @Test func tellsAnUnreadableFile() throws {
        // Others may pass the folder, which a scratch folder does not allow, but not read the file.
        chmod(scratch.path, 0o755)
        chmod(scratch.path + "/one/a.png", 0)
        let error = #expect(throws: FetchError.self) {
            try Self.withoutRoot { _ = try sources().open("a.png").bytes }
        }
        #expect(error?.kind == .sourceUnreadable)
        #expect(error?.message.contains("Permission denied") == true)
    }

    /// A root that may not be entered is no reason to leave out the next one.
    @Test func passesOverARootThatIsClosed() throws {
        chmod(scratch.path, 0o755)
        chmod(scratch.path + "/one", 0)
        defer { chmod(scratch.path + "/one", 0o755) }
        var bytes: Int64?
        try Self.withoutRoot { bytes = try sources().open("a.png").bytes }
        #expect(bytes == 3)
        let error = #expect(throws: FetchError.self) {
            try Self.withoutRoot { _ = try sources().open("none.png").bytes }
        }
        #expect(error?.kind == .sourceUnreadable)
    }

    /// Runs `body`, which does not leave the thread, with a user's rights to files, for root may read
    /// everything. setfsuid(2) is the thread's alone; Swift's Glibc module leaves it out.
    private static func withoutRoot(_ body: () throws -> Void) throws {
        guard geteuid() == 0 else { return try body() }
        let symbol = try #require(dlsym(nil, "setfsuid"))
        let setUser = unsafeBitCast(symbol, to: (@convention(c) (uid_t) -> CInt).self)
        _ = setUser(65_534)
        defer { _ = setUser(0) }
        try body()
    }
}
