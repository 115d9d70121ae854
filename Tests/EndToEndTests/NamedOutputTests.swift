import DarkroomAnswer
import DarkroomCore
import Foundation
import TestSupport
import Testing

/// Outputs with paths by templates, with the real daemon and the real command.
@Suite(.fewAtATime) struct NamedOutputTests {
    /// Pictures of 80 by 64 pixels. The second variant is not enlarged, so it is the file of the first one.
    private static func manifest(_ first: String, _ second: String) -> String {
        """
        page: true
        filters: []
        output: {format: jpeg, name: "img/{width}/{stem}-{sha8}.{ext}"}
        variants:
          - {suffix: -l, filters: {resize: {width: 300, withoutEnlargement: true}}}
          - {suffix: -m, filters: {resize: {width: 200, withoutEnlargement: true}}}
          - {suffix: -s, filters: {resize: 20}}
        images:
          - \(first)
          - \(second)
          - {name: plain, source: \(first), output: {name: "it's {name}"}, variants: [{suffix: ""}]}

        """
    }

    private static func files(_ status: Status) -> [String?] { status.images.map(\.output?.file) }

    /// The daemon is killed at each of these points, and another one continues.
    private static let points: [FaultPoint] = [
        .outputFolderMade, .publishJournalWritten, .publishJournalSynced, .publishOutputMoved,
        .publishOutputsMoved, .finalStatusWritten, .finalStatusStaged, .sizesMoved,
        .finalStatusMoved,
    ]

    @Test func aKillChangesNoName() async throws {
        var reference: [String?] = []
        for point in [nil] + Self.points {
            let fixture = try DaemonFixture(pictures: 2)
            if let point {
                try fixture.spool.makeFolders()
                try fixture.spool.drop(
                    "v.yaml", Self.manifest(fixture.url("0.png"), fixture.url("1.png")))
                try await fixture.die(environment: point.environment)
            }
            let daemon = try await fixture.run()
            if point == nil {
                try fixture.spool.drop(
                    "v.yaml", Self.manifest(fixture.url("0.png"), fixture.url("1.png")))
            }
            let status = try await fixture.spool.finish("v", daemon)
            try fixture.checkOutcome(status)
            #expect(status.counts.filtered == 7)
            if point == nil { reference = Self.files(status) }
            #expect(Self.files(status) == reference, "\(String(describing: point))")
            #expect(try await daemon.stop() == .exited(0))
        }
        #expect(reference[0] == reference[1] && reference[6] == "it's plain.jpg")
        #expect(
            reference[2]?.firstMatch(of: #/^img/20/0-[0-9a-f]{8}\.jpg$/#) != nil,
            "\(reference)")
    }

    @Test func tellsTheSizes() async throws {
        let (fixture, daemon) = try await DaemonFixture.running(pictures: 2)
        try fixture.spool.drop(
            "v.yaml", Self.manifest(fixture.url("0.png"), fixture.url("1.png")))
        let status = try await fixture.spool.finish("v", daemon)
        let files = Self.files(status).map { $0 ?? "" }
        let lines = [
            "\(files[0]) 80w, \(files[2]) 20w", "\(files[3]) 80w, \(files[5]) 20w",
            "it%27s%20plain.jpg 80w",
        ]
        try await fixture.client("show", "v", "--srcset").shows(
            exit: 0, output: .exactly(lines.map { $0 + "\n" }.joined()))
        let json = try await fixture.client("show", "v", "--srcset", "--json")
        #expect(try Array(json.output.utf8) == fixture.spool.bytes("outbox/v/sizes.json"))
        try await fixture.client("show", "v", "--srcset", "--images").shows(exit: 64)
        // The page finds them, and so does a command that compares all files.
        let page = String(
            decoding: try fixture.spool.bytes("outbox/v/page/index.html"), as: UTF8.self)
        #expect(page.contains("\"../\(files[2])\""))
        let folder = fixture.spool.root.appending(path: "outbox/v").path
        try await fixture.client("verify", folder).shows(exit: 0)
        try Data("x".utf8).write(to: URL(filePath: "\(folder)/img/20/other.jpg"))
        try Data("{}".utf8).write(to: URL(filePath: "\(folder)/sizes.json"))
        let changed = try await fixture.client("verify", folder)
        #expect(
            changed.exit != 0 && changed.output.contains("img/20/other.jpg")
                && changed.output.contains("sizes.json"), "\(changed)")
        // The answer can still be removed.
        let removed = try await fixture.client("remove", "v")
        #expect(removed.exit == 0, "\(removed)")
        try await eventually("the answer is removed") {
            fixture.spool.exists("outbox/v") ? nil : true
        }
        #expect(try await daemon.stop() == .exited(0))
    }

    /// Two different pictures get one path: the one that is made later fails, and nothing is lost.
    @Test func aCollisionFailsTheLaterImage() async throws {
        let (fixture, daemon) = try await DaemonFixture.running(pictures: 1)
        try fixture.spool.drop(
            "v.yaml",
            """
            output: {name: "{stem}-{width}.{ext}"}
            images:
              one: {source: "\(fixture.url("0.png"))", filters: flip}
              two: {source: "\(fixture.url("0.png"))", filters: flop, after: [one]}

            """)
        let status = try await fixture.spool.finish("v", daemon)
        try fixture.checkOutcome(status)
        #expect(try status.image("one").output?.file == "0-80.png")
        let error = try #require(try status.image("two").error)
        #expect(error.code == "file-exists" && error.message.contains("0-80.png"))
        #expect(try await daemon.stop() == .exited(0))
    }
}

/// The same with `darkroom run`.
@Suite(.fewAtATime) struct NamedRunTests {
    private let fixture: RunFixture

    init() throws {
        fixture = try RunFixture()
        for name in ["a/x.png", "a/b/x.png", "c.png"] {
            let url = fixture.url("p/\(name)")
            try FileManager.default.makeFolder(at: url.deletingLastPathComponent())
            try FileManager.default.copyItem(at: fixture.url("small.png"), to: url)
        }
    }

    private func run(_ words: String..., to folder: String = "out") async throws
        -> ClientProcess.Result
    {
        try await fixture.end(words + ["-o", folder])
    }

    /// The folders of a tree become those of the results, and `--prune` removes what has become empty, but nothing of
    /// anybody else's.
    @Test func foldersComeAndGo() async throws {
        let first = try await run("run", "p/", "--output-name", "{folder}/{stem}.{ext}")
        #expect(first.exit == 0, "\(first)")
        try fixture.checkOutcome()
        #expect(
            try fixture.status()?.images.compactMap(\.output?.file) == [
                "a/b/x.png", "a/x.png", "c.png",
            ])
        let again = try await run("run", "p/", "--output-name", "{folder}/{stem}.{ext}")
        #expect(again.exit == 0 && again.output.contains("; nothing to do"), "\(again)")
        try fixture.remove("p/a/b")
        try fixture.move("p/a/x.png", to: "p/y.png")
        try fixture.write("mine", to: "out/a/mine.txt")
        let plan = try await run("plan", "p/", "--output-name", "{folder}/{stem}.{ext}")
        #expect(plan.output.contains("a/b/x.png") && plan.output.contains("a/x.png"), "\(plan)")
        let pruned = try await run(
            "run", "p/", "--output-name", "{folder}/{stem}.{ext}", "--prune")
        #expect(pruned.exit == 0 && pruned.output.contains("2 outputs removed"), "\(pruned)")
        #expect(fixture.list("out/a") == ["mine.txt"])
        #expect(fixture.exists("out/y.png") && fixture.exists("out/c.png"))
    }

    /// Another template makes other files; the former ones are listed, and removed with their folders.
    @Test func anotherTemplate() async throws {
        func run(_ template: String, _ others: String...) async throws -> ClientProcess.Result {
            try await fixture.end(["run", "p/", "-o", "out", "--output-name", template] + others)
        }
        #expect(try await run("{folder}/{name}-{sha8}").exit == 0)
        let stands = try await run("{folder}/{name}-{sha8}.{ext}")
        #expect(stands.exit == 0 && stands.output.contains("; nothing to do"), "\(stands)")
        let other = try await run("{width}/{name}", "--prune")
        #expect(other.exit == 0 && other.output.contains("3 outputs removed"), "\(other)")
        try fixture.checkOutcome()
        #expect(!fixture.exists("out/a") && fixture.list("out/64").count == 3)
        try await fixture.end("verify out").shows(exit: 0)
        let none = try await fixture.end("run p/ -o out --prune")
        #expect(none.exit == 0 && !fixture.exists("out/sizes.json"), "\(none)")
        try fixture.checkOutcome()
    }

    /// Shards share the folders, and the merge writes what one run would have written.
    @Test func shardsAreMerged() async throws {
        let options = ["--sizes", "20,10", "--output-name", "{width}/{name}-{sha8}.{ext}"]
        func run(_ words: [String]) async throws {
            try await fixture.end(["run", "p/"] + options + words).shows(exit: 0)
        }
        for number in 1...3 { try await run(["-o", "out", "--shard", "\(number)/3"]) }
        #expect(try await fixture.end("merge out").exit == 0)
        try await run(["-o", "whole"])
        #expect(fixture.list("out/20") == fixture.list("whole/20"))
        #expect(try fixture.bytes("out/sizes.json") == fixture.bytes("whole/sizes.json"))
        for folder in ["out", "whole"] {
            try await fixture.darkroom("verify", folder).shows(exit: 0)
        }
    }

    /// What cannot be a template, and where there is none.
    @Test(arguments: [
        (
            "run p/ -o out --output-name {nmae}", 64,
            "--output-name {nmae}: it has the unknown placeholder ‘{nmae}’; did you mean ‘{name}’?"
        ),
        ("run m.yaml -o out --output-name {name}", 64, "--output-name is for pictures"),
        ("run p/ -o out --output-name same.png", 65, "would have the same output file as"),
        ("filter p/c.png -o d.png --output-name {name}", 64, "Name the result with -o"),
    ]) func refusesWhatIsWrong(words: String, exit: Int32, message: String) async throws {
        try fixture.write("images: [small.png]", to: "m.yaml")
        try await fixture.end(words).shows(exit: exit, errors: .has(message))
        #expect(!fixture.exists("out") && !fixture.exists("d.png"))
    }
}
