import Foundation
import Glibc
import TestSupport
import Testing

@testable import DarkroomCore
@testable import DarkroomFetch

@Suite(.tags(.concurrency)) struct SentPicturesTests {
    let scratch: ScratchDirectory
    let sent: SentPictures

    init() throws {
        scratch = try ScratchDirectory()
        let files = [
            "sent/a.png": "sent", "sent/home/me/a.png": "home", "sent/large.png": "123456789",
            "root/a.png": "root", "root/b.png": "b", "secret.png": "secret",
        ]
        for (path, content) in files { try scratch.write(content, path) }
        let links = [
            "sent/link.png": "a.png", "sent/linked": "home", "sent/out.png": "../secret.png",
            "sent/absolute.png": "/etc/passwd",
        ]
        for (path, target) in links { try scratch.link(path, to: target) }
        for name in ["twice.png", "again.png"] {
            try FileManager.default.linkItem(
                atPath: scratch.path + "/secret.png", toPath: "\(scratch.path)/sent/\(name)")
        }
        #expect(mkfifo(scratch.path + "/sent/fifo.png", 0o600) == 0)
        sent = .here(.init(try Directory(path: scratch.path + "/sent"), owner: geteuid()))
    }

    private func sources(_ resolution: PathResolution) -> LocalSources {
        LocalSources(roots: [scratch.path + "/root"], maximumBytes: 8, resolution: resolution)
    }

    /// `BASE` stands for the scratch folder.
    private func path(_ text: String) -> String { text.replacing("BASE", with: scratch.path) }

    static let good = [
        ("a.png", "sent"), ("./a.png", "sent"), ("/a.png", "sent"), ("//a.png", "sent"),
        ("/home/me/a.png", "home"), ("home/me/../me/a.png", "home"), ("b.png", "b"),
        ("BASE/root/a.png", "root"),
    ]

    @Test(arguments: good, PathResolution.allCases)
    func comeFirst(
        _ row: (source: String, content: String), resolution: PathResolution
    ) throws {
        let file = try sources(resolution).open(path(row.source), sent: sent)
        #expect(file.content == row.content)
    }

    static let bad: [(String, FetchError.Code)] = [
        ("link.png", .sourceForbidden), ("linked/me/a.png", .sourceForbidden),
        ("out.png", .sourceForbidden), ("/absolute.png", .sourceForbidden),
        ("fifo.png", .notAFile), ("home", .notAFile), ("large.png", .tooLarge),
        ("../secret.png", .sourceMissing), ("/../secret.png", .sourceMissing),
        ("BASE/secret.png", .sourceMissing), ("none.png", .sourceMissing),
        ("/", .sourceMissing), ("a.png/b", .sourceMissing),
        // The root has b.png. The two last ones are links to one file.
        ("./b.png", .sourceMissing), ("twice.png", .sourceForbidden),
        ("./again.png", .sourceForbidden),
    ]

    @Test(arguments: bad, PathResolution.allCases)
    func pointNowhereElse(
        _ row: (source: String, code: FetchError.Code), resolution: PathResolution
    ) throws {
        let error = #expect(throws: FetchError.self) {
            _ = try sources(resolution).open(path(row.source), sent: sent)
        }
        #expect(error?.kind == row.code)
    }

    @Test(arguments: PathResolution.allCases)
    func belongToTheOwnerOfTheFolder(resolution: PathResolution) throws {
        let folder = try Directory(path: scratch.path + "/sent")
        let foreign = SentPictures.here(.init(folder, owner: geteuid() + 1))
        let error = #expect(throws: FetchError.self) {
            _ = try sources(resolution).open("a.png", sent: foreign)
        }
        #expect(
            error
                == FetchError(
                    .sourceForbidden,
                    "a.png: it belongs to user \(geteuid()), but the folder in which it was submitted belongs to user \(geteuid() + 1)"
                ))
    }

    @Test func areGoneAfterTheEnd() throws {
        let sources = sources(.kernel)
        // The root has another picture b.png. Only the absolute path means it.
        let root = try #require(sources.roots.first)
        #expect(try sources.open("\(root)/b.png", sent: .gone).content == "b")
        for source in ["none.png", "/home/me/a.png", "./b.png", "b.png", "x/../b.png"] {
            let error = #expect(throws: FetchError.self) {
                _ = try sources.open(source, sent: .gone)
            }
            #expect(
                error
                    == FetchError(
                        .sourceGone,
                        "\(source): the pictures that came with the manifest were removed when the batch ended; submit them again"
                    ))
        }
    }
}
