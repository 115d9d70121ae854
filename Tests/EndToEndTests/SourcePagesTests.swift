import Foundation
import Glibc
import TestPictures
import TestSupport
import Testing

/// `pages: all` and the page of a source: with the real daemon, in runs and shards, in hot folders and in a pipe.
@Suite(.fewAtATime) struct SourcePagesTests {
    private let fixture: DaemonFixture
    private let roots: ScratchDirectory

    init() throws {
        fixture = try DaemonFixture(pictures: 1)
        roots = try ScratchDirectory()
        try Self.write(3, to: "scan.tif", in: roots)
        try Self.write(1, to: "note.tif", in: roots)
        try roots.write(DaemonFixture.picture, to: "photo.png")
    }

    private static func write(_ pages: Int, to name: String, in folder: some TestFolder) throws {
        try folder.write(TIFFMaker(pages: pages).bytes, to: name)
    }

    /// The gray values of the only pixel of pictures.
    private func grays(_ files: [String], in folder: some TestFolder) throws -> [UInt8] {
        try files.map { try #require(try PNGDecoder.decode(folder.bytes($0)).bytes.first) }
    }

    private func run() async throws -> DaemonProcess {
        try await fixture.run(["sources.roots": "[\(roots.path)]"])
    }

    private static let manifest =
        "filters: []\npages: all\nimages: [scan.tif, note.tif, photo.png]\n"
    private static let names = ["scan-1", "scan-2", "scan-3", "note", "photo"]

    /// A restart and a retry make the same images, whatever has become of the file.
    @Test func theDaemonCountsOnce() async throws {
        var daemon = try await run()
        try fixture.spool.drop("x.hold", "")
        try fixture.spool.drop("x.yaml", Self.manifest)
        let held = try await fixture.spool.waitForStatus(of: "x", daemon, .held)
        #expect(held.images.map(\.name) == Self.names)
        try roots.remove("scan.tif")
        try await daemon.killAtOnce()
        daemon = try await run()
        try fixture.spool.drop("x.release", "")
        var status = try await fixture.spool.finish("x", daemon)
        #expect(status.images.map(\.name) == Self.names)
        #expect(
            status.images.map { $0.error?.code }
                == ["source-missing", "source-missing", "source-missing", nil, nil])
        // Two of the three pages come back, and another two of a file that had one.
        for name in ["scan.tif", "note.tif"] { try Self.write(2, to: name, in: roots) }
        try fixture.spool.remove("outbox/x/note.png")
        _ = try await fixture.client("retry", "x", "--wait")
        status = try await fixture.spool.finish("x", daemon)
        #expect(status.retries == 1 && status.images.map(\.name) == Self.names)
        #expect(
            status.images.map { $0.error?.code } == [nil, nil, "page-missing", nil, nil])
        #expect(
            status.images[3].warnings == [
                "it has 2 pages: page 1 is used; pages: all uses each"
            ])
        let files = ["scan-1.png", "scan-2.png", "note.png"].map { "outbox/x/\($0)" }
        #expect(try grays(files, in: fixture.spool) == [10, 20, 10])
        #expect(
            fixture.spool.list("outbox/x").contains("sources.json")
                && fixture.spool.list("active").allSatisfy { $0.hasPrefix(".") })
        #expect(try await daemon.stop() == .exited(0))
    }

    @Test func whatCannotBeOpenedFailsAsAnImage() async throws {
        #expect(mkfifo("\(roots.path)/pipe.tif", 0o600) == 0)
        let daemon = try await run()
        try fixture.spool.drop(
            "x.yaml",
            "filters: []\npages: all\nimages: [pipe.tif, gone.tif, ../up.tif, '\(fixture.url("0.png"))']\n"
        )
        let status = try await fixture.spool.finish("x", daemon)
        #expect(status.images.map(\.name) == ["pipe", "gone", "up", "0"])
        #expect(
            status.images.map { $0.error?.code }
                == ["not-a-file", "source-missing", "source-forbidden", nil])
        try fixture.spool.drop(
            "y.yaml", "filters: []\nimages: [{source: '\(fixture.url("0.png"))', pages: all}]\n")
        let refused = try await fixture.spool.finish("y", daemon)
        #expect(refused.state == .rejected && refused.errors?.map(\.code) == ["conflicting-keys"])
        #expect(try await daemon.stop() == .exited(0))
    }

    /// Pictures on a command line, with and without being sent along.
    @Test func submitsAllPages() async throws {
        let daemon = try await run()
        let scan = "\(roots.path)/scan.tif"
        for (name, words) in [("a", ["--pages", "all"]), ("b", ["--pages", "all", "--copy"])] {
            let result = try await fixture.begin(
                ["submit", scan, "\(roots.path)/photo.png", "--name", name, "--wait"] + words
            ).result()
            result.expect(exit: 0, output: "\(name)\n")
            let status = try await fixture.spool.finish(name, daemon)
            #expect(status.images.map(\.name) == ["scan-1", "scan-2", "scan-3", "photo"])
        }
        let one = try await fixture.client(
            "submit", scan, "--name", "c", "--wait", "--source-page", "2")
        one.expect(exit: 0, output: "c\n")
        let files = ["a/scan-3.png", "b/scan-3.png", "c/scan.png"].map { "outbox/\($0)" }
        #expect(try grays(files, in: fixture.spool) == [30, 30, 20])
        // What the command says beforehand.
        try fixture.write(Self.manifest, to: "pages.yaml")
        try await fixture.client("check", "pages.yaml").shows(
            exit: 0, output: "pages.yaml: 5 images\n")
        #expect(try await daemon.stop() == .exited(0))
    }

    /// A scanner's folder.
    @Test func aHotFolderMakesAnImageOfEachPage() async throws {
        let hot = try HotFolderFixture()
        try hot.recipe("filters: []\npages: all\n")
        let daemon = try await hot.run()
        try hot.put("scan.tif", Data(TIFFMaker(pages: 3).bytes))
        let answers = try await hot.expectAnswers(["scan.tif", "scan.tif", "scan.tif"], daemon)
        #expect(answers.map(\.image.name).sorted() == ["scan-1", "scan-2", "scan-3"])
        #expect(answers.allSatisfy { $0.state == .filtered })
        #expect(try await daemon.stop() == .exited(0))
    }

    // MARK: Without a daemon

    private static func runFixture() throws -> RunFixture {
        let fixture = try RunFixture()
        try write(3, to: "scan.tif", in: fixture)
        try fixture.write(
            "filters: []\npages: all\nimages: [scan.tif, small.png, {name: book, source: scan.tif}]\n",
            to: "m.yaml")
        return fixture
    }

    private static let runNames = [
        "scan-1", "scan-2", "scan-3", "small", "book-1", "book-2", "book-3",
    ]

    @Test func aRunMakesAnImageOfEachPage() async throws {
        let fixture = try Self.runFixture()
        let result = try await fixture.begin(["m.yaml", "-o", "out", "--quiet"]).result()
        #expect(result.exit == 0, "\(result)")
        #expect(try fixture.status()?.images.map(\.name) == Self.runNames)
        let files = ["scan-1.png", "scan-2.png", "book-3.png"].map { "out/\($0)" }
        #expect(try grays(files, in: fixture) == [10, 20, 30])
        try fixture.checkOutcome(and: ["sources.json"])
        // The next run counts again.
        try fixture.remove("out/book-2.png")
        try Self.write(2, to: "scan.tif", in: fixture)
        try await fixture.begin(["m.yaml", "-o", "out", "--quiet", "--prune"]).result().shows(
            exit: 0)
        #expect(
            try fixture.status()?.images.map(\.name) == [
                "scan-1", "scan-2", "small", "book-1", "book-2",
            ])
        #expect(try grays(["out/book-2.png"], in: fixture) == [20])
        #expect(!fixture.exists("out/book-3.png"))
        try await fixture.end("verify out").shows(exit: 0)
        let pictures = try await fixture.end("run scan.tif --pages all -o pictures --quiet")
        #expect(pictures.exit == 0, "\(pictures)")
        #expect(try fixture.status("pictures")?.images.map(\.name) == ["scan-1", "scan-2"])
    }

    @Test func shardsShareWhatOneHasCounted() async throws {
        let fixture = try Self.runFixture()
        #expect(try await fixture.begin(["m.yaml", "-o", "whole", "--quiet"]).result().exit == 0)
        for number in [3, 1, 2] {
            let result = try await fixture.begin(
                ["m.yaml", "-o", "out", "--quiet", "--shard", "\(number)/3"]
            ).result()
            // Later ones find fewer pages in the file, which is their images' trouble only.
            #expect(number == 3 ? result.exit == 0 : [0, 3].contains(result.exit), "\(result)")
            try Self.write(2, to: "scan.tif", in: fixture)
        }
        try Self.write(3, to: "scan.tif", in: fixture)
        for number in 1...3 {
            try await fixture.begin([
                "m.yaml", "-o", "out", "--quiet", "--retry", "--shard", "\(number)/3",
            ]).result().shows(exit: 0)
        }
        try await fixture.end("merge out").shows(exit: 0)
        #expect(try fixture.status()?.images.map(\.name) == Self.runNames)
        #expect(fixture.list("out") == fixture.list("whole"))
        #expect(try fixture.bytes("out/sources.json") == fixture.bytes("whole/sources.json"))
        for words in [["verify", "out"], ["verify", "whole", "--again"]] {
            try await fixture.end(words).shows(exit: 0)
        }
        // Without the record, nobody knows what the images are.
        try fixture.remove("out/.darkroom/sources.json")
        try await fixture.end("merge out").shows(exit: 65, errors: .has("sources.json is gone"))
    }

    /// In the next night, the file has other pages: the first shard that is run again counts for all.
    @Test(arguments: [2, 4]) func shardsCountAgain(pages: Int) async throws {
        let fixture = try Self.runFixture()
        func night() async throws {
            for number in [2, 1, 3] {
                try await fixture.begin([
                    "m.yaml", "-o", "out", "--quiet", "--shard", "\(number)/3",
                ]).result().shows(exit: 0)
            }
            try await fixture.end("merge out --prune").shows(exit: 0)
        }
        try await night()
        try Self.write(pages, to: "scan.tif", in: fixture)
        try await night()
        #expect(try await fixture.begin(["m.yaml", "-o", "whole", "--quiet"]).result().exit == 0)
        #expect(try fixture.digests("out") == fixture.digests("whole"))
        #expect(fixture.list("out") == fixture.list("whole"))
        #expect(try fixture.bytes("out/sources.json") == fixture.bytes("whole/sources.json"))
        try await fixture.end("verify out").shows(exit: 0)
    }

    @Test func firstShardsHaveOneRecord() async throws {
        let fixture = try Self.runFixture()
        let runs = try (1...6).map {
            try fixture.begin(["m.yaml", "-o", "out", "--quiet", "--shard", "\($0)/6"])
        }
        for run in runs {
            try await run.result().shows(exit: 0)
        }
        let left = fixture.list("out/.darkroom").filter { !$0.hasPrefix("shard-") }
        #expect(left == ["manifest.yaml", "plan.json", "plan.lock", "sources.json"])
        try await fixture.end("merge out").shows(exit: 0)
    }

    @Test func filterTakesAPage() async throws {
        let fixture = try Self.runFixture()
        for page in 1...3 {
            let result = try await fixture.darkroom(
                "filter", "--source-page", "\(page)", "scan.tif", "-o", "p.png")
            result.expect(exit: 0)
            #expect(try grays(["p.png"], in: fixture) == [UInt8(10 * page)])
        }
        let first = try await fixture.end("filter scan.tif -o p.png")
        first.expect(
            exit: 0,
            errors: "scan.tif: warning: it has 3 pages: page 1 is used; pages: all uses each\n")
    }

    static let refusals = [
        CommandLineCase(
            words: "filter --source-page 4 scan.tif -o p.png", exit: 3,
            errors:
                "darkroom: scan.tif: reading the header: the file has 3 pages, and no page 4 [page-missing]\n"
        ),
        CommandLineCase(
            words: "filter --pages all scan.tif -o p.png", exit: 64,
            errors:
                "darkroom: --pages all makes several pictures, and filter writes one. Choose a page with --source-page, or let darkroom run write all of them\n"
        ),
        CommandLineCase(
            words: "filter --source-page 0 scan.tif -o p.png", exit: 64,
            errors: "darkroom: --source-page 0: write a number from 1 to 65535\n"),
        CommandLineCase(
            words: "run --pages 2 scan.tif -o out", exit: 64,
            errors: "darkroom: --pages 2: write --source-page 2 for one page\n"),
        CommandLineCase(
            words: "run --pages every scan.tif -o out", exit: 64,
            errors: "darkroom: --pages every: unknown: write first or all\n"),
        CommandLineCase(
            words: "run --pages all --source-page 2 scan.tif -o out", exit: 64,
            errors: "darkroom: --source-page and --pages exclude each other\n"),
        CommandLineCase(
            words: "run --pages all m.yaml -o out", exit: 64,
            errors:
                "darkroom: --pages is for pictures; m.yaml is a manifest and says itself what to do\n"
        ),
    ]

    @Test(arguments: refusals) func refuses(line: CommandLineCase) async throws {
        let fixture = try Self.runFixture()
        let result = try await fixture.end(line.words)
        result.expect(exit: line.exit, errors: line.errors)
        #expect(!fixture.exists("out") && !fixture.exists("p.png"))
    }
}
