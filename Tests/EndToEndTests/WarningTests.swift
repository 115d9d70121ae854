import DarkroomAnswer
import DarkroomCore
import Foundation
import Glibc
import TestPictures
import TestSupport
import Testing

/// Pictures with warnings: each command tells of them, and `strict` makes them failures.
@Suite(.fewAtATime) struct WarningTests {
    /// A JPEG whose rows are complete, without its end; one that also has bytes in its header; and one that lacks rows.
    private static func pictures() -> [String: [UInt8]] {
        let whole = JPEGMaker.noise(width: 40, height: 30, channels: 3).encoded
        let odd = Array(whole.dropLast(2))
        var odder = odd
        // Before the marker of the Huffman tables.
        odder.insert(7, at: odd.firstRange(of: [0xFF, 0xC4])?.lowerBound ?? 0)
        return [
            "odd.jpg": odd, "odder.jpg": odder, "cut.jpg": Array(whole.prefix(whole.count / 2)),
        ]
    }

    private let fixture: RunFixture

    init() throws {
        fixture = try RunFixture()
        for (name, bytes) in Self.pictures() {
            try fixture.write(bytes, to: name)
        }
        try fixture.write(Self.manifest, to: "m.yaml")
    }

    private static let manifest = """
        images:
          good: small.png
          odd: odd.jpg
          odder: odder.jpg
          bad: cut.jpg

        """

    typealias Line = CommandLineCase

    private static let noEnd = "the end-of-image marker is missing; all rows are complete"
    private static let aByte = "1 byte between the segments of the header"

    // MARK: They are told

    static let filters = [
        Line(words: "filter small.png -o r", exit: 0),
        Line(words: "filter odd.jpg -o r", exit: 0, errors: "odd.jpg: warning: \(noEnd)\n"),
        Line(
            words: "filter odder.jpg -o r", exit: 0,
            errors: "odder.jpg: warning: \(aByte)\nodder.jpg: warning: \(noEnd)\n"),
        Line(
            words: "filter small.png --watermark odd.jpg -o r", exit: 0,
            errors: "./odd.jpg: warning: \(noEnd)\n"),
        Line(
            words: "filter odd.jpg -o r --strict", exit: 3,
            errors:
                "darkroom: odd.jpg: a warning is an error here (strict): \(noEnd) [picture-warning]\n"
        ),
        Line(
            words: "filter odder.jpg -o r --strict", exit: 3,
            errors:
                "darkroom: odder.jpg: warnings are errors here (strict): \(aByte); \(noEnd) [picture-warning]\n"
        ),
        Line(
            words: "filter small.png --watermark odd.jpg -o r --strict", exit: 3,
            errors:
                "darkroom: ./odd.jpg: a warning is an error here (strict): \(noEnd) [picture-warning]\n"
        ),
        Line(words: "filter small.png -o r --strict", exit: 0),
    ]

    @Test(arguments: filters) func filterPrintsThem(line: Line) async throws {
        let words = line.words.split(separator: " ").map(String.init)
        try await fixture.end(words).expect(
            exit: line.exit, output: line.output, errors: line.errors)
        #expect(fixture.exists("r") == (line.exit == 0))
        // Into a pipe, too.
        let before = "exec >p"
        try await fixture.end(words.map { $0 == "r" ? "-" : $0 }, before: before).expect(
            exit: line.exit, errors: line.errors)
        #expect(try fixture.bytes("p").isEmpty == (line.exit != 0))
    }

    @Test func filterSaysInJSONWhichPictureHasThem() async throws {
        let result = try await fixture.end("filter odder.jpg --watermark odd.jpg -o r --json")
        #expect(result.exit == 0)
        let object = try jsonObject(result.output.utf8)
        let warnings = try #require(object["warnings"] as? [[String: String]])
        #expect(
            warnings == [
                ["picture": "./odd.jpg", "message": Self.noEnd],
                ["picture": "odder.jpg", "message": Self.aByte],
                ["picture": "odder.jpg", "message": Self.noEnd],
            ])
    }

    @Test func strictWinsOverKeep() async throws {
        try await fixture.end("filter cut.jpg --damaged keep -o r").shows(
            exit: 0, errors: .begins("cut.jpg: warning: "))
        let refused = try await fixture.end("filter cut.jpg --damaged keep --strict -o r2")
        #expect(refused.exit == 3 && !fixture.exists("r2"), "\(refused)")
        #expect(
            refused.errors.hasPrefix("darkroom: cut.jpg: a warning is an error here (strict): ")
                && refused.errors.hasSuffix(" [picture-warning]\n"), "\(refused)")
    }

    @Test func aRunCountsAndShowListsThem() async throws {
        let run = try await fixture.end("run m.yaml -o out --quiet")
        #expect(run.exit == 3)
        try fixture.checkOutcome()
        let status = try #require(try fixture.status())
        #expect(status.counts.warnings == 2)
        let again = try await fixture.end("run m.yaml -o out")
        #expect(
            again.output
                == "m: completed with errors, 3 of 4 images done, 2 with warnings, 1 failed; nothing to do\n"
        )
        let json = try await fixture.end("run m.yaml -o out --json")
        #expect(json.output.contains(#""total":4,"warnings":2}"#), "\(json)")
        let shown = try await fixture.end("show out/ --warnings")
        #expect(
            shown.output.contains("\n  images    3 of 4 done, 2 with warnings, 1 failed\n"),
            "\(shown)")
        #expect(
            shown.output.hasSuffix(
                """

                2 images with warnings:
                  odd: \(Self.noEnd)
                  odder: \(Self.aByte)
                  odder: \(Self.noEnd)

                """), "\(shown)")
        #expect(
            try await fixture.end("show out/").output.hasSuffix(
                "\nWarnings: darkroom show out --warnings\n"))
        let listed = try await fixture.end("show out/ --warnings --json")
        let object = try jsonObject(listed.output.utf8)
        let images = try #require(object["images"] as? [[String: Any]])
        #expect(images.map { $0["name"] as? String } == ["odd", "odder"])
        for other in ["--images", "--failed"] {
            try await fixture.darkroom("show", "out/", "--warnings", other).shows(
                exit: 64,
                errors: .begins("Error: \(other) and --warnings cannot be used together\n"))
        }
        #expect(try await fixture.end("verify out").exit == 0)
    }

    /// A page marks each picture, and its head counts them.
    @Test func thePageMarksThem() async throws {
        try await fixture.end("run m.yaml -o out --quiet --page-dir page").shows(exit: 3)
        let page = String(decoding: try fixture.bytes("page/index.html"), as: UTF8.self)
        #expect(page.contains("4 images: 3 filtered and 1 failed; 2 with warnings"))
        func count(_ text: String) -> Int { page.components(separatedBy: text).count - 1 }
        // In the list, and in the view of each picture.
        #expect(count(#"<span class="state warning">1 warning</span>"#) == 2)
        #expect(count(#"<span class="state warning">2 warnings</span>"#) == 2)
        #expect(count("<li>\(Self.noEnd)</li>") == 2 && count("<li>\(Self.aByte)</li>") == 1)
    }

    /// Killed at each of these points, the run that continues counts what a whole run counts.
    @Test(arguments: [
        FaultPoint.filterWritten, .publishJournalWritten, .publishOutputsMoved,
        .finalStatusWritten, .finalStatusMoved,
    ])
    func aKilledRunCountsThemOnce(point: FaultPoint) async throws {
        let command = ["m.yaml", "-o", "out", "--quiet"]
        try await fixture.begin(command, environment: point.environment).result().shows(exit: 137)
        #expect(try await fixture.begin(command).result().exit == 3)
        try fixture.checkOutcome()
        #expect(try fixture.status()?.counts.warnings == 2)
        // A retry keeps what was filtered; an output that is gone is made again, with its warning.
        try fixture.remove("out/odd.png")
        #expect(try await fixture.begin(command + ["--retry"]).result().exit == 3)
        try fixture.checkOutcome()
        #expect(try fixture.status()?.counts.warnings == 2)
    }

    /// The shards' numbers add up. One that an older version wrote does not have it, so that the sum does not either.
    @Test(arguments: [false, true]) func aMergeAddsThem(isOlder: Bool) async throws {
        for shard in ["1/2", "2/2"] {
            let run = try await fixture.darkroom(
                "run", "m.yaml", "-o", "out", "--quiet", "--shard", shard)
            #expect([0, 3].contains(run.exit), "\(run)")
        }
        if isOlder {
            for shard in fixture.list("out/.darkroom").filter({ $0.hasPrefix("shard-") }) {
                let file = "out/.darkroom/\(shard)/status.json"
                var status = try #require(Status(decoding: try fixture.bytes(file)))
                status.counts.warnings = nil
                try fixture.write(status.encoded(), to: file)
            }
        }
        let merged = try await fixture.end("merge out")
        #expect(merged.exit == 3, "\(merged)")
        #expect(merged.output.contains(", 2 with warnings") == !isOlder, "\(merged)")
        #expect(try fixture.status()?.counts.warnings == (isOlder ? nil : 2))
        #expect(try await fixture.end("verify out").exit == 0)
        #expect(try await fixture.end("show out/").output.contains("done, 2 with warnings"))
    }

    /// A number that is not that of the images is found.
    @Test func verifyFindsAWrongNumber() async throws {
        _ = try await fixture.end("run m.yaml -o out --quiet")
        var status = try #require(try fixture.status())
        status.counts.warnings = 1
        try fixture.write(status.encoded(), to: "out/status.json")
        let result = try await fixture.end("verify out")
        #expect(result.exit != 0, "\(result)")
        let text = result.output + result.errors
        #expect(text.contains("its counts are not those of its images"), "\(result)")
    }

    // MARK: Strict

    static let strict: [(text: String, failed: [String])] = [
        ("images: [odd.jpg, small.png]", []),
        ("strict: true\nimages: [odd.jpg, small.png]", ["odd"]),
        ("strict: true\nimages: [{source: odd.jpg, strict: false}, odder.jpg]", ["odder"]),
        ("images: [{source: odd.jpg, strict: true}, odder.jpg]", ["odd"]),
        (
            "images: [{source: odd.jpg, strict: true, variants: [{suffix: -a}, {suffix: -b, filters: {resize: 10}}]}]",
            ["odd-a", "odd-b"]
        ),
        ("strict: true\ndamaged: keep\nimages: [cut.jpg, small.png]", ["cut"]),
        ("damaged: keep\nimages: [cut.jpg, small.png]", []),
        (
            "strict: true\nimages:\n  odd: {source: odd.jpg, publish: false}\n  good: {from: odd}\n",
            ["odd", "good"]
        ),
    ]

    @Test(arguments: strict) func strictMakesThemFail(text: String, failed: [String]) async throws {
        try fixture.write(text, to: "s.yaml")
        let result = try await fixture.end("run s.yaml -o out --quiet")
        #expect(result.exit == (failed.isEmpty ? 0 : 3), "\(result)")
        try fixture.checkOutcome()
        let status = try #require(try fixture.status())
        #expect(status.images.filter { $0.state == .failed }.map(\.name) == failed)
        for image in status.images where image.state == .failed {
            #expect(image.output == nil && image.warnings == nil)
            let error = try #require(image.error)
            #expect(!error.isTransient)
            if image.from != nil {
                #expect(error.code == "dependency-failed")
            } else {
                #expect(error.code == "picture-warning", "\(error)")
                #expect(
                    error.message.contains(": a warning is an error here (strict): ")
                        || error.message.contains(": warnings are errors here (strict): "),
                    "\(error)")
            }
        }
    }

    @Test func aRunIsStrictByItsOption() async throws {
        try await fixture.end("run odd.jpg small.png --strict -o out --quiet").shows(
            exit: 3,
            errors: .begins(
                "darkroom: odd: ./odd.jpg: a warning is an error here (strict): \(Self.noEnd) [picture-warning]\ndarkroom: First correct the cause."
            ))
        #expect(fixture.exists("out/small.png") && !fixture.exists("out/odd.png"))
        let made = try await fixture.end("make odd.jpg --strict -o made.yaml")
        #expect(made.exit == 0)
        let text = String(decoding: try fixture.bytes("made.yaml"), as: UTF8.self)
        #expect(text.split(separator: "\n").contains("strict: true"), "\(text)")
    }

    // MARK: The daemon

    @Test func theDaemonCountsThem() async throws {
        let fixture = try Self.daemonFixture()
        let metrics = fixture.documents.path + "/darkroom.prom"
        let daemon = try await fixture.run(
            fixture.readsDocuments.merging(["metrics.textfile": metrics]) { $1 })
        let fine = try await fixture.client(
            "submit", "0.png", "odd.jpg", "odder.jpg", "--name", "fine", "--wait")
        fine.expect(
            exit: 0, output: "fine\n",
            errors:
                "darkroom: fine has ended: 2 with warnings. darkroom show fine --warnings lists them.\n"
        )
        let poor = try await fixture.client(
            "submit", "odd.jpg", "cut.jpg", "--name", "poor", "--wait")
        poor.expect(
            exit: 3, output: "poor\n",
            errors:
                "darkroom: poor has ended: 1 of 2 images failed, 1 with warnings. darkroom show poor tells more.\n"
        )
        let strict = try await fixture.client(
            "submit", "odd.jpg", "0.png", "--strict", "--name", "strict", "--wait")
        strict.expect(
            exit: 3, output: "strict\n",
            errors:
                "darkroom: strict has ended: 1 of 2 images failed. darkroom show strict tells more.\n"
        )
        try await fixture.client("submit", "odd.jpg", "--name", "one", "--wait", "--json").shows(
            exit: 0, output: .has(#""total":1,"warnings":1}"#))
        let watched = try await fixture.client(
            "submit", "odd.jpg", "--name", "seen", "--watch", "--progress", "none")
        #expect(
            watched.errors.hasPrefix("seen: completed, 1 image")
                && watched.errors.hasSuffix(", 1 with warnings\n"), "\(watched)")
        for (id, warnings) in [("fine", 2), ("poor", 1), ("strict", 0)] {
            let status = try await fixture.spool.finish(id, daemon)
            try fixture.checkOutcome(status)
            #expect(status.counts.warnings == warnings, "\(id)")
        }
        let list = try await fixture.client("list", "--all")
        #expect(list.output.contains("  2 with warnings\n"), "\(list)")
        try await daemon.says("fine completed: 3 images, 3 filtered (2 with warnings), in ")
        #expect(try await daemon.stop() == .exited(0))
        let text = try String(contentsOfFile: metrics, encoding: .utf8)
        #expect(try Exposition(text).value("darkroom_images_with_warnings_total") == 5)
    }

    /// The counts and the texts are in the journal: a kill keeps those that the disk had.
    @Test(arguments: [
        FaultPoint.publishJournalSynced, .publishOutputMoved, .finalStatusWritten,
        .finalStatusMoved,
    ])
    func aKillKeepsThem(point: FaultPoint) async throws {
        let fixture = try Self.daemonFixture()
        try fixture.spool.makeFolders()
        try fixture.spool.drop(
            "x.yaml",
            """
            images:
              odd: \(fixture.documents.path)/odd.jpg
              odder: \(fixture.documents.path)/odder.jpg
              good: \(fixture.documents.path)/0.png

            """)
        try await fixture.die(
            fixture.readsDocuments, environment: ["DARKROOM_FAULT": point.rawValue])
        let daemon = try await fixture.run(fixture.readsDocuments)
        let status = try await fixture.complete("x", daemon)
        #expect(status.counts.warnings == 2)
        #expect(
            status.images.map(\.warnings) == [[Self.noEnd], [Self.aByte, Self.noEnd], nil])
        #expect(try await daemon.stop() == .exited(0))
    }

    /// A recipe is strict for all images that have it, in a batch and in a run.
    @Test(arguments: [("strict: true\n", 1), ("", 0)])
    func aRecipeIsStrict(recipe: String, failed: Int) async throws {
        let fixture = try Self.daemonFixture()
        let folder = fixture.documents.url
        try FileManager.default.makeFolder(at: folder.appending(path: "recipes"))
        try "\(recipe)filters: mono\n".write(
            to: folder.appending(path: "recipes/exact.yaml"), atomically: true, encoding: .utf8)
        let configuration = "\(fixture.documents.path)/darkroomd.yaml"
        try "".write(toFile: configuration, atomically: false, encoding: .utf8)
        let daemon = try await fixture.run(
            fixture.readsDocuments, arguments: ["--config", configuration])
        let submitted = try await fixture.client(
            "submit", "0.png", "odd.jpg", "--recipe", "exact", "--name", "x", "--wait")
        #expect(submitted.exit == (failed == 0 ? 0 : 3), "\(submitted)")
        let status = try await fixture.spool.finish("x", daemon)
        try fixture.checkOutcome(status)
        #expect(status.counts.failed == failed && status.counts.warnings == 1 - failed)
        #expect(status.images[1].error?.code == (failed == 0 ? nil : "picture-warning"))
        // Without the daemon.
        try await fixture.client(
            "run", "0.png", "odd.jpg", "--recipe", "exact", "-o", "out", "--config", configuration,
            "--quiet"
        ).shows(exit: submitted.exit)
        #expect(try await daemon.stop() == .exited(0))
    }

    private static func daemonFixture() throws -> DaemonFixture {
        let fixture = try DaemonFixture(pictures: 1)
        for (name, bytes) in pictures() {
            try fixture.documents.write(bytes, to: name)
        }
        return fixture
    }
}
