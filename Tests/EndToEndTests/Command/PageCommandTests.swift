import Foundation
import TestSupport
import Testing

/// `darkroom page`, on the folder of a run and on an answer in the outbox.
@Suite(.fewAtATime) struct PageCommandTests {
    private let fixture: RunFixture

    init() throws {
        fixture = try RunFixture()
        try fixture.write(
            """
            images:
              a: {source: small.png, filters: [{sepia: 0.8}]}
              b: {from: a, filters: flip, output: {format: jpeg}}
              c: {source: alpha.png, filters: [{resize: 9}]}
              "<b>d": {source: "no<i>where.png"}

            """, to: "m.yaml")
    }

    private func run() async throws {
        #expect(try await fixture.darkroom("run", "m.yaml", "-o", "out", "--quiet").exit == 3)
    }

    private func page(_ name: String = "out-page/index.html") throws -> String {
        String(decoding: try fixture.bytes(name), as: UTF8.self)
    }

    @Test func showsEachPicture() async throws {
        try await run()
        let result = try await fixture.darkroom("page", "out")
        #expect(result.exit == 0 && result.errors == "", "\(result)")
        #expect(result.output == "./out-page/index.html\n", "\(result)")
        #expect(fixture.list("out-page") == ["index.html", "page.json", "previews"])
        // Only a and c have sources; those of c and its result differ in size.
        #expect(
            fixture.list("out-page/previews") == [
                "1-after-small.jpg", "1-after.jpg", "1-before-small.jpg", "1-before.jpg",
                "1-difference.jpg", "2-after-small.jpg", "2-after.jpg", "3-after-small.png",
                "3-after.png", "3-before-small.png", "3-before.png",
            ])
        let html = try page()
        #expect(html.contains("<li>sepia, intensity 0.8</li>"))
        #expect(html.contains("href=\"../out/a.png\""))
        #expect(html.contains("<h2>1 failure</h2>"))
        #expect(html.contains("<dt>Made from</dt><dd><a href=\"#view-1\"><bdi>a</bdi></a></dd>"))
        #expect(html.contains("repeat the command with <code>--retry</code>"))
        #expect(html.contains("in the folder <bdi>../out</bdi>"))
        // Markup of names, sources and messages is text.
        #expect(html.contains("&lt;b&gt;d") && !html.contains("<b>d"))
        #expect(html.contains("no&lt;i&gt;where") && !html.contains("<i>where"))
        // Each file that the page names is there.
        for match in html.matches(of: /(?:src|href)="([^"#]+)"/) {
            #expect(fixture.exists("out-page/\(match.1)"), "\(match.1)")
        }
        let pictures = html.matches(of: #/<img [^>]*>/#).map { String($0.output) }
        #expect(pictures.count == 9)
        for picture in pictures {
            #expect(
                picture.contains(#/ width="[0-9]+" height="[0-9]+" loading="lazy"/#), "\(picture)")
            #expect(picture.contains(#/ alt="[^"]+"/#), "\(picture)")
        }
        // Those beside their names are not read aloud.
        #expect(pictures.count { $0.contains(" aria-hidden=\"true\"") } == 3)
    }

    @Test func replacesAPageAndNothingElse() async throws {
        try await run()
        #expect(try await fixture.darkroom("page", "out", "-o", "p").exit == 0)
        let before = fixture.identities(of: ["index.html"], in: "p")
        let again = try await fixture.darkroom("page", "out", "-o", "p", "--json")
        #expect(again.exit == 0)
        let report = try jsonObject(again.output.utf8)
        #expect(report["images"] as? Int == 4 && report["pages"] as? Int == 1)
        #expect(fixture.identities(of: ["index.html"], in: "p") != before)
        #expect(!fixture.list(".").contains { $0.hasPrefix(".p.") })
    }

    /// A source that has changed is not shown as what was filtered.
    @Test func showsNoOtherSource() async throws {
        try await run()
        try FileManager.default.removeItem(at: fixture.url("small.png"))
        try FileManager.default.copyItem(
            at: fixture.url("large.png"), to: fixture.url("small.png"))
        try FileManager.default.removeItem(at: fixture.url("out/b.jpg"))
        let result = try await fixture.darkroom("page", "out")
        #expect(result.exit == 0)
        #expect(result.errors == "darkroom: 1 result cannot be shown; the page says why\n")
        #expect(!fixture.exists("out-page/previews/1-before.jpg"))
        let html = try page()
        #expect(html.contains("The source cannot be read any more, or has changed since then."))
        #expect(html.contains("The file of the result cannot be shown: "))
        #expect(!html.contains("href=\"../out/b.jpg\""))
    }

    @Test func makesPagesOf500() async throws {
        let images = (0..<501).map { "  i\($0): {source: small.png, filters: [{resize: 4}]}" }
        try fixture.write("images:\n" + images.joined(separator: "\n") + "\n", to: "many.yaml")
        #expect(try await fixture.darkroom("run", "many.yaml", "-o", "out", "--quiet").exit == 0)
        // Without the sources, which are not in the current folder or beside the results.
        try fixture.write("", to: "a/b/empty")
        try FileManager.default.moveItem(at: fixture.url("out"), to: fixture.url("a/b/out"))
        let result = try await fixture.darkroom("page", "a/b/out", "-o", "a/b/p")
        #expect(result.exit == 0, "\(result)")
        #expect(fixture.list("a/b/p") == ["index.html", "page-2.html", "page.json", "previews"])
        #expect(try page("a/b/p/index.html").contains(">i499</bdi>"))
        #expect(try page("a/b/p/page-2.html").contains("Images, page 2 of 2"))
        #expect(try page("a/b/p/page-2.html").contains(">i500</bdi>"))
        for name in ["index.html", "page-2.html"] {
            #expect(try page("a/b/p/\(name)").utf8.count < 1_000_000)
        }
    }

    /// `run --page-dir`: after the work, also if there was nothing to do.
    @Test(arguments: [[], ["--json"]]) func aRunMakesItsPage(options: [String]) async throws {
        let command = ["run", "m.yaml", "-o", "out", "--page-dir", "p"] + options
        for _ in 0..<2 {
            let result = try await fixture.darkroom(command)
            #expect(result.exit == 3)
            if options.isEmpty {
                #expect(result.output.hasSuffix("\n./p/index.html\n"), "\(result)")
            } else {
                let report = try jsonObject(result.output.utf8)
                #expect(report["page"] as? String == "./p/index.html")
            }
            let html = try page("p/index.html")
            #expect(html.contains("<h2>Timeline</h2>") && html.contains("Filters of 3 images"))
            // The sources are local.
            #expect(!html.contains(" downloads</text>"))
            try FileManager.default.removeItem(at: fixture.url("p/index.html"))
        }
        // Its folder is examined before anything is done, and it changes nothing else.
        let refused = try await fixture.darkroom(
            "run", "m.yaml", "-o", "other", "--page-dir", "out")
        #expect(refused.exit == 73 && !fixture.exists("other"), "\(refused)")
    }

    @Test func aMergeMakesThePageOfAllShards() async throws {
        for shard in ["1/2", "2/2"] {
            #expect(
                try await fixture.darkroom(
                    "run", "m.yaml", "-o", "out", "--quiet", "--shard", shard
                ).exit != 64)
        }
        let result = try await fixture.darkroom("merge", "out", "--page", "p")
        #expect(result.exit == 3)
        #expect(result.output.hasSuffix("\n./p/index.html\n"), "\(result)")
        #expect(try page("p/index.html").matches(of: /<li id="image-/).count == 4)
        let alone = try await fixture.darkroom(
            "run", "m.yaml", "-o", "new", "--shard", "1/2", "--page-dir", "q")
        #expect(alone.exit == 64 && alone.errors.contains("use it with darkroom merge"), "\(alone)")
        // The page of a picture has another option.
        let number = try await fixture.darkroom("run", "m.yaml", "-o", "more", "--page", "2")
        #expect(number.exit == 64 && number.errors.contains("write --source-page 2"), "\(number)")
    }

    @Test func saysThatThereIsNoSuchBatch() async throws {
        let result = try await fixture.darkroom("page", "./nowhere")
        #expect(result.exit == 66)
        #expect(result.errors.contains("nowhere"), "\(result)")
    }

    private static let form =
        "It is damaged, or a newer version has written it. A retry alone does not help."
    /// Why no page could be made, with the code of the exit.
    private static let refusals: [(words: String, exit: Int32, code: String, message: String)] = [
        ("out -o ..", 64, "bad-folder", "-o ..: name a folder for the pages"),
        (
            "out -o out", 73, "not-pages",
            "./out: it is not a folder of pages. Name another one with -o"
        ),
        ("./empty", 66, "no-status", "./empty: there is no status.json in this folder"),
        (
            "./broken", 74, "unreadable-file",
            "./broken/status.json: it is not what this version of darkroom can read"
        ),
        ("out -o no/such", 66, "file-missing", "./no: cannot open: No such file or directory"),
        (
            "--all --spool spool -o p", 74, "unreadable-file",
            "spool/outbox/bad/status.json: it is not what this version of darkroom can read"
        ),
        (
            "--all --spool spool -o out", 73, "not-pages",
            "./out: it is not a folder of pages. Name another one with -o"
        ),
    ]

    @Test func saysWhyThereIsNoPage() async throws {
        try await run()
        for name in ["broken", "spool/outbox/bad"] {
            try fixture.write("{", to: "\(name)/status.json")
        }
        try fixture.write("", to: "empty/notes.txt")
        for refusal in Self.refusals {
            let words = ["page"] + refusal.words.split(separator: " ").map(String.init)
            let remedy = refusal.code == "unreadable-file" ? Self.form : nil
            let result = try await fixture.darkroom(words)
            #expect(result.exit == refusal.exit && result.output == "", "\(result)")
            let lines = [refusal.message, remedy].compactMap { $0 }
            #expect(result.errors == lines.map { "darkroom: \($0)\n" }.joined(), "\(words)")
            let again = try await fixture.darkroom(words + ["--json"])
            let error = try jsonObject(again.output.utf8)
            #expect(again.exit == refusal.exit && again.errors == result.errors, "\(words)")
            #expect(error["type"] as? String == "error" && error["code"] as? String == refusal.code)
            #expect(error["message"] as? String == refusal.message)
            #expect(error["remedy"] as? String == remedy)
            #expect(error["retryable"] as? Bool == false)
            #expect(error["exit"] as? Int == Int(refusal.exit))
        }
        #expect(!fixture.exists("p") && !fixture.list(".").contains { $0.hasPrefix(".") })
        #expect(try fixture.status() != nil)
    }

    @Test func showsAnAnswerInTheOutbox() async throws {
        let daemon = try DaemonFixture(pictures: 2)
        let process = try await daemon.run()
        try daemon.drop(
            "holiday", images: [("a", daemon.url("0.png")), ("b", daemon.url("1.png"))])
        _ = try await daemon.spool.finish("holiday", process)
        let result = try await ClientProcess.end(
            ["page", "holiday", "-o", "p"], spool: daemon.spool.path,
            folder: fixture.scratch.path)
        #expect(result.exit == 0, "\(result)")
        #expect(try page("p/index.html").contains("The source is not on this machine."))
        #expect(fixture.list("p/previews").count == 4)
        // All batches, of which one was rejected.
        try daemon.spool.drop("bad.json", "{\"imagse\": []}")
        _ = try await daemon.spool.finish("bad", process)
        let all = try await ClientProcess.end(
            ["page", "--all", "-o", "all"], spool: daemon.spool.path, folder: fixture.scratch.path)
        #expect(all.exit == 0 && all.errors == "", "\(all)")
        #expect(fixture.list("all") == ["batch-1", "batch-2", "index.html", "page.json"])
        let overview = try page("all/index.html")
        for match in overview.matches(of: /href="([^"#]+)"/) {
            #expect(fixture.exists("all/\(match.1)"), "\(match.1)")
            #expect(try page("all/\(match.1)").contains("href=\"../index.html\""))
        }
        #expect(overview.matches(of: /href="/).count == 2)
        let rejected = try page("all/batch-1/index.html") + page("all/batch-2/index.html")
        #expect(rejected.contains("The manifest was rejected") && rejected.contains("unknown-key"))
        // It has no images, and no numbers of them.
        for html in [overview, rejected] {
            #expect(!html.contains(">0 images") && !html.contains(">0 bytes"))
        }
        #expect(try await process.stop() == .exited(0))
    }
}
