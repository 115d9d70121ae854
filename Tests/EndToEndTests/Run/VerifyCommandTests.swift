import DarkroomAnswer
import Foundation
import TestPictures
import TestSupport
import Testing

/// `darkroom verify` on the folder of a run and on an answer in an outbox.
@Suite(.fewAtATime) struct VerifyCommandTests {
    private let fixture: RunFixture

    init() throws {
        fixture = try RunFixture()
        try fixture.write(
            """
            images:
              a: {source: small.png, filters: [sepia]}
              b: {from: a, output: {format: jpeg}}
              c: {source: gray.png}
              d: {source: nowhere.png}

            """, to: "m.yaml")
    }

    private func run() async throws {
        #expect(try await fixture.end("run m.yaml -o out --quiet").exit == 3)
    }

    private func copy(_ name: String, to other: String) throws {
        if fixture.exists(other) { try fixture.remove(other) }
        try fixture.copy(name, to: other)
    }

    @Test(arguments: [[], ["--again"]] as [[String]])
    func findsNothingInAWholeFolder(options: [String]) async throws {
        try await run()
        let before = fixture.identities(of: fixture.list("out"))
        let result = try await fixture.end(
            ["verify", "out"] + options, environment: ["TMPDIR": fixture.scratch.path])
        result.shows(exit: 0, output: .begins("m: 3 outputs, "))
        #expect(result.output.hasSuffix(", all as they were written\n"))
        #expect(result.errors == "")
        #expect(fixture.identities(of: fixture.list("out")) == before)
        #expect(!fixture.list(".").contains { $0.hasPrefix(".darkroom-") })
    }

    @Test func findsEachDifference() async throws {
        try await run()
        try copy("out/c.png", to: "out/a.png")
        try fixture.remove("out/b.jpg")
        try fixture.write("x", to: "out/d.png")
        let result = try await fixture.end("verify out --json")
        #expect(result.exit == 65 && result.errors == "")
        let lines = try result.output.split(separator: "\n").map {
            try jsonObject($0.utf8)
        }
        #expect(lines.compactMap { $0["kind"] as? String } == ["differs", "missing", "extra"])
        #expect(lines.compactMap { $0["file"] as? String } == ["a.png", "b.jpg", "d.png"])
        #expect(lines.last?["findings"] as? Int == 3)
        #expect(lines.last?["exit"] as? Int == 65)
    }

    /// The status of the run is changed, so that the digests are those of other sources, bytes or versions.
    @Test func explainsWhatIsMadeOtherwise() async throws {
        try await run()
        var status = try #require(try fixture.status())
        status.versions?[0].libpng = "1.2.3"
        try fixture.write(status.encoded(), to: "out/status.json")
        // Another source for a, none for c; b is made from a.
        try copy("alpha.png", to: "small.png")
        try fixture.remove("gray.png")
        let result = try await fixture.end("verify out --again")
        #expect(result.exit == 65, "\(result)")
        let lines = result.output.split(separator: "\n").map(String.init).sorted()
        try #require(lines.count == 3, "\(result)")
        #expect(
            lines[0].hasPrefix("a.png: source-changed: the source has changed: its SHA-256 was "))
        #expect(
            lines[1].hasPrefix(
                "b.jpg: other-bytes: made anew, it has other bytes; libpng was 1.2.3, and is "))
        #expect(lines[2].hasPrefix("c.png: fails: made anew, it fails: gray.png: no such file in "))
        #expect(result.errors == "darkroom: m: 3 findings in 3 outputs\n")
    }

    /// The library that writes a format is named for its results only.
    @Test func explainsWhatAnotherLibraryMakesOtherwise() async throws {
        try fixture.write(
            """
            images:
              - {name: a, source: small.png, output: tiff}
              - {name: b, from: a, output: webp}
              - {name: c, from: a, output: png}
            """, to: "w.yaml")
        #expect(try await fixture.end("run w.yaml -o out --quiet").exit == 0)
        var status = try #require(try fixture.status())
        #expect(status.versions?[0].codecs?.keys.sorted() == ["libtiff", "libwebp"])
        status.versions?[0].codecs?["libwebp"] = "0.1"
        try fixture.write(status.encoded(), to: "out/status.json")
        try copy("alpha.png", to: "small.png")
        let result = try await fixture.end("verify out --again")
        let lines = result.output.split(separator: "\n").map(String.init).sorted()
        try #require(result.exit == 65 && lines.count == 3, "\(result)")
        #expect(lines[0].hasPrefix("a.tif: source-changed: "))
        #expect(
            lines[1].hasPrefix(
                "b.webp: other-bytes: made anew, it has other bytes; libwebp was 0.1, and is "))
        #expect(lines[2].hasPrefix("c.png: other-bytes: ") && !lines[2].contains("libwebp"))
    }

    // MARK: How to repair it

    private static let runAgain = "he same darkroom run as before makes the outputs again."

    /// What was done to the outputs, and what is advised.
    @Test(
        arguments: [
            (["a.png"], [], "Move the changed file away. Then t\(runAgain)"),
            (["a.png", "c.png"], [], "Move the changed files away. Then t\(runAgain)"),
            ([], ["a.png"], "T\(runAgain)"),
            (["a.png"], ["b.jpg"], "Move the changed file away. Then t\(runAgain)"),
        ] as [([String], [String], String)])
    func saysHowToRepairARun(changed: [String], missing: [String], advice: String) async throws {
        try await run()
        for file in changed { try fixture.write("x", to: "out/\(file)") }
        for file in missing { try fixture.remove("out/\(file)") }
        let result = try await fixture.end("verify out")
        let count = changed.count + missing.count
        result.shows(
            exit: 65,
            errors:
                "darkroom: m: \(count) finding\(count == 1 ? "" : "s") in 3 outputs\ndarkroom: \(advice)\n"
        )
        // The advice, followed.
        for file in changed { try fixture.remove("out/\(file)") }
        try await run()
        #expect(try await fixture.end("verify out").exit == 0)
    }

    @Test func saysHowToRepairAnAnswer() async throws {
        let daemon = try DaemonFixture(pictures: 2)
        let process = try await daemon.run()
        try await daemon.finish(
            "holiday", images: [("a", daemon.url("0.png")), ("b", daemon.url("1.png"))], process)
        try daemon.spool.write([1], to: "outbox/holiday/a.png")
        try await daemon.client("verify", "holiday").shows(
            errors:
                "darkroom: holiday: 1 finding in 2 outputs\ndarkroom: Move the changed file away, then: darkroom retry holiday\n"
        )
        try daemon.spool.remove("outbox/holiday/a.png")
        try await daemon.client("verify", "holiday").shows(
            errors:
                "darkroom: holiday: 1 finding in 2 outputs\ndarkroom: To make the missing ones again: darkroom retry holiday\n"
        )
        #expect(try await daemon.client("retry", "holiday", "--wait").exit == 0)
        #expect(try await daemon.client("verify", "holiday").exit == 0)
        #expect(try await process.stop() == .exited(0))
    }

    @Test func saysThatPicturesAreGone() async throws {
        let daemon = try DaemonFixture(pictures: 0)
        let process = try await daemon.run()
        try daemon.dropFolder("job", images: [("a", "a.png")], pictures: ["a.png"])
        try await daemon.complete("job", process)
        try await daemon.waitForRemoval()
        try daemon.spool.remove("outbox/job/a.png")
        try await daemon.client("verify", "job").shows(
            errors: .ends(
                "darkroom retry job. It cannot repeat pictures that came with the batch: submit those again.\n"
            ))
        try await daemon.client("retry", "job").shows(
            errors:
                "darkroom: job has nothing that can be repeated: all images are filtered, and the pictures that came with it are gone\n"
        )
        #expect(try await process.stop() == .exited(0))
    }

    @Test func saysThatThereIsNothingToVerify() async throws {
        try fixture.write("images: {a: none.png, b: nowhere.png}\n", to: "m.yaml")
        #expect(try await fixture.end("run m.yaml -o out --quiet").exit == 3)
        try await fixture.end("verify out").expect(
            exit: 0,
            output: "m: nothing to verify: no image has an output (2 images failed)\n")
    }

    /// The pictures that came in a folder, where the answer has kept them.
    @Test func looksIntoTheOriginals() async throws {
        let daemon = try DaemonFixture(pictures: 0)
        let process = try await daemon.run(["retention.originals": "true"])
        try daemon.dropFolder(
            "job", images: [("a", "a.png"), ("b", "/x/y/b.png"), ("c", "./x/c.png")],
            pictures: ["a.png", "x/y/b.png", "x/c.png"])
        try await daemon.complete("job", process)
        try await daemon.waitForRemoval()
        func verify() async throws -> ClientProcess.Result {
            try await daemon.client("verify", "job", "--again")
        }
        try await verify().shows(exit: 0, output: .begins("job: 3 outputs, "))
        // Not followed: the submitter may put anything there.
        let path = "outbox/job/originals"
        try daemon.spool.move("\(path)/a.png", to: "\(path)/d.png")
        try daemon.spool.link("\(path)/a.png", to: "d.png")
        try daemon.spool.write(
            Starfield.png(width: 16, height: 12, seed: 9), to: "\(path)/x/c.png")
        let result = try await verify()
        let lines = result.output.split(separator: "\n").map(String.init).sorted()
        try #require(result.exit == 65 && lines.count == 2, "\(result)")
        #expect(lines[0].hasPrefix("a.png: fails: made anew, it fails: a.png: no such file in "))
        #expect(lines[1].hasPrefix("c.png: source-changed: "))
        #expect(try await process.stop() == .exited(0))
    }

    /// The original of a hot folder's picture, which its answer has under the name of the first output.
    @Test func looksAtTheOriginalsOfAHotFolder() async throws {
        let fixture = try HotFolderFixture(originals: "move")
        try fixture.recipe(
            "variants: [{suffix: -8, filters: {resize: 8}}, {suffix: -4, filters: {resize: 4}}]\n")
        let daemon = try await fixture.run()
        try fixture.put("a.png", 1)
        let id = try await fixture.expectAnswers(["a.png", "a.png"], daemon)[0].id
        try await fixture.waitForNoRecords(daemon)
        let original = "outbox/\(id)/a-8.original.png"
        #expect(fixture.spool.exists(original))
        try await fixture.base.client("verify", id, "--again").shows(
            exit: 0, output: .begins("\(id): 2 outputs, "))
        // A page of it shows the original, too.
        let page = fixture.scratch.path + "/page"
        try await fixture.base.client("page", id, "-o", page).shows(exit: 0)
        let html = try fixture.scratch.text("page/index.html")
        #expect(!html.contains("The source cannot be read any more"))
        try fixture.spool.remove(original)
        try await fixture.base.client("verify", id, "--again").shows(exit: 65)
        #expect(try await daemon.stop() == .exited(0))
    }

    @Test func looksAtAnAnswerInTheOutbox() async throws {
        let daemon = try DaemonFixture(pictures: 2)
        let process = try await daemon.run()
        try await daemon.finish(
            "holiday", images: [("a", daemon.url("0.png")), ("b", daemon.url("1.png"))], process)
        let again = ["--again", "--set", "downloads.allowNetworks=[127.0.0.0/8]"]
        for words in [[], again] {
            try await daemon.begin(["verify", "holiday"] + words).result().shows(
                exit: 0, output: .begins("holiday: 2 outputs, "))
        }
        try await daemon.client("verify", "nobody").shows(
            exit: 66,
            errors:
                "darkroom: nobody: there is neither such a folder nor such a batch in SPOOL/outbox\n"
        )
        // Every image of a daemon has the digest of its source too.
        let status = try #require(try daemon.spool.status(of: "holiday"))
        #expect(status.images.allSatisfy { $0.sourceSHA256?.count == 64 })
        #expect(try await process.stop() == .exited(0))
    }
}
