import Foundation
import Glibc
import TestSupport
import Testing

@testable import DarkroomCore
@testable import DarkroomFetch

/// Listings of folders: they hold the rules for single files, by the kernel and by the walk.
struct LocalListingTests {
    let scratch: ScratchDirectory

    /// Two roots, and a folder outside of them.
    init() throws {
        scratch = try ScratchDirectory()
        for folder in ["one/empty", "two/photos/sub.png"] {
            try FileManager.default.makeFolder(at: scratch.url.appending(path: folder))
        }
        for file in [
            "one/photos/b.png", "one/photos/a.png", "one/photos/é.png", "one/photos/Z.png",
            "one/photos/.a.png", "one/photos/note.txt", "two/photos/c.png", "two/only/d.png",
            "two/only/x:y.png", "outside/secret.png", "one/top.png",
        ] {
            try scratch.write("", file)
        }
        try scratch.link("two/only/link.png", to: "../../outside/secret.png")
        try scratch.link("one/out", to: "../outside")
        try scratch.link("one/far", to: scratch.path + "/outside")
        try scratch.link("one/in", to: "photos")
        try scratch.link("one/loop", to: "loop")
        #expect(mkfifo("\(scratch.path)/two/only/fifo.png", 0o600) == 0)
    }

    private func sources(_ resolution: PathResolution) -> LocalSources {
        LocalSources(
            roots: ["\(scratch.path)/one", "\(scratch.path)/two/"], resolution: resolution,
            view: nil
        )
    }

    private func list(
        _ folder: String, _ resolution: PathResolution = .kernel, limit: Int = 100
    ) -> LocalSources.Listing {
        let folder = folder.replacing("@", with: scratch.path)
        return sources(resolution).list(folder, limit: limit) {
            $0.bytes.first != UInt8(ascii: ".") && $0.hasSuffix(".png")
        }
    }

    private func found(_ files: String...) -> LocalSources.Listing {
        .sources(files.map { ByteString($0.replacing("@", with: scratch.path)) })
    }

    @Test(arguments: PathResolution.allCases)
    func findsFilesInTheFirstRootThatHasAny(resolution: PathResolution) {
        let expected = found(
            "@/one/photos/Z.png", "@/one/photos/a.png", "@/one/photos/b.png", "@/one/photos/é.png")
        #expect(list("photos", resolution) == expected)
        #expect(list("@/one/photos", resolution) == expected)
        #expect(list("@/one//./photos", resolution) == expected)
        #expect(list("@/two/photos", resolution) == found("@/two/photos/c.png"))
        #expect(list("", resolution) == found("@/one/top.png"))
        #expect(list("@/one", resolution) == found("@/one/top.png"))
        // A link within the root, a link and a file; neither the fifo nor the folder.
        let linked = found("@/one/in/Z.png", "@/one/in/a.png", "@/one/in/b.png", "@/one/in/é.png")
        #expect(list("in", resolution) == linked)
        let only = found("@/two/only/d.png", "@/two/only/link.png", "@/two/only/x:y.png")
        #expect(list("only", resolution) == only)
    }

    @Test(arguments: PathResolution.allCases)
    func staysBeneathTheRoots(resolution: PathResolution) {
        let roots = "\(scratch.path)/one, \(scratch.path)/two/"
        let outside = LocalSources.Listing.nothing(
            "its folder is not beneath one of sources.roots, or leads out of it by .. or a symbolic link"
        )
        let none = LocalSources.Listing.nothing("there is no such file in sources.roots (\(roots))")
        for folder in [
            "..", "../outside", "photos/../../outside", "out", "far", "in/../../outside",
        ] {
            #expect(list(folder, resolution) == outside, "\(folder)")
        }
        for folder in ["@/outside", "/", "/etc", "empty", "nowhere", "photos/a.png", "@"] {
            #expect(list(folder, resolution) == none, "\(folder)")
        }
        #expect(
            list("loop", resolution)
                == .nothing("the symbolic links form a loop, or one is a special link of /proc"))
    }

    @Test func holdsTheLimit() {
        #expect(list("photos", limit: 3) == .tooMany)
        #expect(list("photos", limit: 4) == list("photos"))
    }

    @Test func refusesNamesThatNoManifestCanHave() throws {
        let folder = "\(scratch.path)/two/only"
        try "".write(toFile: "\(folder)/new\nline.png", atomically: false, encoding: .utf8)
        #expect(
            list("only")
                == .nothing(
                    "the name of new\u{FFFD}line.png contains a control character; rename it"))
        try FileManager.default.removeItem(atPath: "\(folder)/new\nline.png")
        let name: [CChar] =
            Array("\(folder)/".utf8.map { CChar(bitPattern: $0) }) + [-1, 46, 112, 110, 103, 0]
        close(open(name, O_CREAT | O_WRONLY, 0o600))
        #expect(
            list("only") == .nothing("the name of \u{FFFD}.png is not UTF-8; rename it"))
    }

    @Test func needsARoot() {
        let listing = LocalSources(roots: [], view: nil).list("a", limit: 9) { _ in true }
        #expect(
            listing == .nothing("there is no such file in sources.roots, which is empty"))
    }

    /// What was sent along comes first, and no link in it is followed.
    @Test func looksIntoTheSubmittedFolderFirst() throws {
        let sent = "\(scratch.path)/sent"
        for name in ["s.png", "photos/t.png", "x:y.png"] { try scratch.write("", "sent/\(name)") }
        try scratch.link("sent/out", to: "../outside")
        let pictures = SentPictures.here(.init(try Directory(path: sent), owner: geteuid()))
        func list(_ folder: String) -> LocalSources.Listing {
            sources(.kernel).list(folder, sent: pictures, limit: 9) { $0.hasSuffix(".png") }
        }
        #expect(list("photos") == found("photos/t.png"))
        #expect(list("/photos") == found("/photos/t.png"))
        #expect(list("") == found("s.png", "./x:y.png"))
        #expect(list("/") == found("/s.png", "/x:y.png"))
        #expect(list(".") == found("./s.png", "./x:y.png"))
        #expect(list("./photos") == found("./photos/t.png"))
        // From the roots, because the folder has none; but not what begins with `./`.
        #expect(
            list("./only") == .nothing("there is no such file in the submitted folder"))
        #expect(
            list("only") == found("@/two/only/d.png", "@/two/only/link.png", "@/two/only/x:y.png"))
        #expect(
            list("out")
                == .nothing(
                    "its folder is a symbolic link; links in a submitted folder are not followed"))
    }

    /// A person who works on pictures of their own.
    @Test func listsAnyFolder() {
        let sources = LocalSources(relativeTo: scratch.path, maximumBytes: 9)
        func list(_ folder: String) -> LocalSources.Listing {
            sources.list(folder.replacing("@", with: scratch.path), limit: 9) {
                $0.hasSuffix("secret.png")
            }
        }
        #expect(list("outside") == found("outside/secret.png"))
        #expect(list("one/out") == found("one/out/secret.png"))
        #expect(list("@/outside") == found("@/outside/secret.png"))
        #expect(list("one") == .nothing("there is no such file in \(scratch.path)/one"))
        #expect(
            list("nowhere") == .nothing("\(scratch.path)/nowhere: No such file or directory"))
    }

    /// What machines put beside pictures is no picture, unless its path is written.
    @Test func leavesOutWhatIsNotTheUsers() throws {
        let root = "\(scratch.path)/sent"
        for file in [
            "a.png", "@eaDir/b.png", "#recycle/c.png", "sub/d.png", "sub/@eaDir/e.png",
            "sub/old/f.png", "g-draft.png", "Thumbs.db",
        ] {
            try scratch.write("", "sent/\(file)")
        }
        let directory = try Directory(path: root)
        let sent = SentPictures.Folder(directory, owner: geteuid())
        var sources = LocalSources(roots: [root], view: nil)
        func listings() -> [LocalSources.Listing] {
            [
                sources.list("", limit: 9) { _ in true },
                sources.list(".", sent: .here(sent), limit: 9) { _ in true },
                sources.list(allOf: sent, limit: 9) { _ in true },
            ]
        }
        #expect(
            listings() == [
                .sources(["\(root)/a.png", "\(root)/g-draft.png"].map { ByteString($0) }),
                .sources(["./a.png", "./g-draft.png"]),
                .sources(["./a.png", "./g-draft.png", "./sub/d.png", "./sub/old/f.png"]),
            ])
        #expect(
            sources.list("@eaDir", limit: 9) { _ in true }
                == .sources([ByteString("\(root)/@eaDir/b.png")]))
        sources.ignored = IgnoredNames(adding: ["*-draft.*", "old"])
        #expect(
            listings() == [
                .sources([ByteString("\(root)/a.png")]), .sources(["./a.png"]),
                .sources(["./a.png", "./sub/d.png"]),
            ])
    }
}
