import DarkroomCore
import Foundation
import Synchronization
import TestSupport
import Testing

/// `darkroom run` again: what has changed is made, all else stands, and `darkroom plan` has said so.
@Suite(.fewAtATime) struct RenewalTests {
    private let fixture: RunFixture

    init() throws {
        fixture = try Renewal.fixture()
    }

    private func darkroom(
        _ command: String, _ others: [String] = [], to folder: String = "out",
        environment: [String: String] = [:]
    ) async throws -> ClientProcess.Result {
        try await fixture.end(
            [command, "m.yaml", "-o", folder, "--config", "darkroomd.yaml"] + others,
            environment: environment)
    }

    /// Whatever has changed: the plan tells it, the run makes that and nothing else, and the folder is then what a run in a
    /// new one makes.
    @Test(arguments: Renewal.changes) func makesWhatHasChanged(change: Renewal.Change) async throws
    {
        #expect(try await darkroom("run").exit == 0)
        try fixture.shell(change.command)
        let before = fixture.identities(of: Renewal.outputs)
        let files = fixture.list("out")
        let plan = try await darkroom("plan", ["--json"])
        #expect(plan.exit == 0 && plan.errors == "", "\(plan)")
        #expect(fixture.list("out") == files)
        let result = try await darkroom("run")
        #expect(result.exit == 0, "\(result)")
        let isSilent = change.made.isEmpty && change.gone.isEmpty
        #expect(result.output.contains("; nothing to do") == change.made.isEmpty, "\(result)")
        try fixture.check(change, since: before, plan: plan.output, told: result.errors)
        let pruned = try await darkroom("run", ["--prune"])
        #expect(pruned.exit == 0 && pruned.output.contains("; nothing to do"), "\(pruned)")
        #expect(pruned.output.contains("removed") == !change.gone.isEmpty || isSilent, "\(pruned)")
        try fixture.checkOutcome()
        #expect(try await darkroom("run", to: "fresh").exit == 0)
        #expect(try fixture.digests("out") == fixture.digests("fresh"))
        #expect(fixture.list("out") == fixture.list("fresh"))
        #expect(try await fixture.end("verify out").exit == 0)
    }

    @Test func makesEverythingAgainWithAnotherVersion() async throws {
        #expect(try await darkroom("run").exit == 0)
        let digest = try #require(try fixture.status()?.images[0].versionsSHA256)
        try fixture.shell("sed -i '0,/\(digest)/s/\(digest)/00/' out/status.json")
        let plan = try await darkroom("plan")
        #expect(
            plan.output.hasPrefix("make a: version changed\nmake c: made from a changed image\n"),
            "\(plan)")
        #expect(
            plan.output.contains(
                "2 of 6 images to make (1 version changed, 1 made from a changed image), 4 stand; about "
            ), "\(plan)")
        let result = try await darkroom("run")
        // `c` was made of what `a` is now.
        #expect(result.output.contains("; 1 made, 5 as they were\n"), "\(result)")
        #expect(try fixture.status()?.images[0].versionsSHA256 == digest)
    }

    /// A changed source that is no picture any more: the image fails, and its former result is not taken for one.
    @Test func keepsNoStaleOutput() async throws {
        #expect(try await darkroom("run").exit == 0)
        try fixture.write("no picture", to: "small.png")
        let failed = try await darkroom("run")
        failed.shows(
            exit: 3,
            errors: .has(
                "2 files of an earlier run stay, although their images fail now: a.png, c.png\n"))
        #expect(
            try fixture.status()?.images.map(\.state) == [
                .failed, .filtered, .filtered, .failed, .filtered, .filtered,
            ])
        let pruned = try await darkroom("run", ["--prune"])
        #expect(pruned.exit == 3 && fixture.exists("out/a.png"), "\(pruned)")
        let again = try await darkroom("run")
        #expect(again.exit == 3 && again.output.contains("; nothing to do"), "\(again)")
        // The file is a picture again.
        try fixture.shell("cp deep.png small.png")
        try await darkroom("run").shows(exit: 0, output: .has("; 2 made, 4 as they were"))
        try fixture.checkOutcome()
    }

    /// Somebody has put a file of his own where an output was that nobody has any more.
    @Test func removesOnlyItsOwnFiles() async throws {
        #expect(try await darkroom("run").exit == 0)
        try fixture.shell("sed -i '/  c: /d' m.yaml")
        #expect(try await darkroom("run").exit == 0)
        try fixture.write("mine", to: "out/c.png")
        try fixture.write("mine", to: "out/mine.png")
        #expect(try await darkroom("run", ["--prune"]).exit == 0)
        #expect(try fixture.bytes("out/c.png") == Array("mine".utf8))
        try fixture.checkOutcome(and: ["c.png", "mine.png"])
        // It is in the way of an image that comes back.
        try fixture.write(Renewal.manifest, to: "m.yaml")
        try await darkroom("run").shows(
            exit: 3,
            errors: .has("out/c.png: another file is in the place of this output; move it away"))
        #expect(try fixture.bytes("out/c.png") == Array("mine".utf8))
    }

    /// Files that are named on the command line come and go, and the options change.
    @Test func takesOtherPicturesAndOptions() async throws {
        func run(_ words: String) async throws -> ClientProcess.Result {
            try await fixture.end(
                ["run"] + words.split(separator: " ").map(String.init) + ["-o", "out"])
        }
        for (words, result) in [
            ("small.png gray.png --filter mono", "2 images"),
            ("gray.png small.png --filter mono", "nothing to do"),
            ("gray.png small.png deep.png --filter mono", "1 made, 2 as they were"),
            ("gray.png small.png deep.png --filter sepia", "3 made, 0 as they were"),
            ("small.png deep.png --filter sepia --prune", "nothing to do, 1 output removed"),
        ] {
            let found = try await run(words)
            #expect(found.exit == 0 && found.output.contains(result), "\(words): \(found)")
        }
        try fixture.checkOutcome()
        #expect(try fixture.status()?.images.map(\.name) == ["small", "deep"])
    }

    @Test func looksAtAFolder() async throws {
        try fixture.shell("mkdir p; cp small.png p/a.png; cp gray.png p/b.png")
        func run(_ others: String...) async throws -> String {
            let result = try await fixture.end(["run", "p/", "-o", "out"] + others)
            #expect(result.exit == 0, "\(result)")
            return result.output
        }
        _ = try await run()
        try fixture.shell("mv p/a.png p/c.png; cp deep.png p/d.png")
        #expect(
            try await run("--prune").contains("3 images; 2 made, 1 as it was, 1 output removed"))
        #expect(fixture.list("out").filter { $0.hasSuffix(".png") } == ["b.png", "c.png", "d.png"])
    }

    /// A folder of a share that is not mounted is no picture that is gone.
    @Test(arguments: ["p", "p/"]) func needsTheFolderThatIsNamed(folder: String) async throws {
        try fixture.shell("mkdir p q; cp small.png p/a.png; cp gray.png q/b.png")
        func run(_ command: String, _ others: String...) async throws -> ClientProcess.Result {
            try await fixture.end([command, folder, "q", "-o", "out"] + others)
        }
        #expect(try await run("run").exit == 0)
        try fixture.shell("mv p away")
        for command in ["run", "plan"] {
            try await run(command, "--prune").shows(exit: 66, errors: .has("\(folder): "))
        }
        #expect(fixture.list("out").filter { $0.hasSuffix(".png") } == ["a.png", "b.png"])
    }

    /// A picture that comes into a folder within takes no other one's name away.
    @Test func namesStayThoseOfTheirPictures() async throws {
        try fixture.shell("mkdir -p p/2026; cp small.png p/z.png")
        let words = ["run", "p", "-o", "out"]
        #expect(try await fixture.end(words).exit == 0)
        let former = fixture.identities(of: ["z.png"])
        try fixture.shell("cp gray.png p/2026/z.png")
        try await fixture.end(words).shows(exit: 0, output: .has("; 1 made, 1 as it was"))
        #expect(fixture.identities(of: ["z.png"]) == former)
        #expect(try fixture.status()?.images.map(\.name).sorted() == ["z", "z-2"])
    }

    /// What lies beside the outputs is written again, and nothing else. Without the status, the images are made again, and
    /// the files of the same bytes are their outputs.
    @Test(arguments: ["status.json", "sizes.json", "progress.json", "manifest.yaml"])
    func writesRemovedFilesAgain(file: String) async throws {
        #expect(try await darkroom("run").exit == 0)
        let (former, digests) = (
            fixture.identities(of: Renewal.outputs), try fixture.digests("out")
        )
        let bytes = try fixture.bytes("out/\(file)")
        try fixture.shell("rm out/\(file)")
        let result = try await darkroom("run")
        let isSilent = file != "status.json"
        #expect(
            result.exit == 0 && result.output.contains("; nothing to do") == isSilent, "\(result)")
        if ["sizes.json", "manifest.yaml"].contains(file) {
            #expect(try fixture.bytes("out/\(file)") == bytes)
        }
        #expect(fixture.identities(of: Renewal.outputs) == former)
        #expect(try fixture.digests("out") == digests)
        try fixture.checkOutcome()
    }

    /// A result of former filters or options is told by the exit status, whether its source is gone or cannot be read. That
    /// of another version is not: nobody has asked for it.
    @Test(arguments: [true, false]) func tellsResultsOfFormerOptions(isGone: Bool) async throws {
        let told = "1 source \(isGone ? "is gone" : "cannot be read"), and the results stand: a\n"
        try fixture.shell("mkdir p; cp small.png p/a.png")
        let images = "images: {a: p/a.png, b: {source: gray.png, filters: []}}\n"
        try fixture.write(images, to: "m.yaml")
        #expect(try await darkroom("run").exit == 0)
        let before = try fixture.digests("out")
        // A folder that is not there may be on a file system that is not mounted.
        try fixture.shell(isGone ? "mv p/a.png a.png" : "mv p away")
        let digest = try #require(try fixture.status()?.images[0].versionsSHA256)
        try fixture.shell("sed -i '0,/\(digest)/s/\(digest)/00/' out/status.json")
        let same = try await darkroom("run")
        #expect(same.exit == 0 && same.errors.hasPrefix("darkroom: \(told)"), "\(same)")
        #expect(!same.errors.contains("former filters"), "\(same)")
        try fixture.write("filters: [sepia]\n" + images, to: "m.yaml")
        let remedy = isGone ? "darkroom: The same command with --prune removes them.\n" : ""
        for _ in 0..<2 {
            try await darkroom("run").shows(
                exit: 3, output: .has("; nothing to do"),
                errors:
                    "darkroom: \(told)darkroom: 1 result of them is as the former filters and options have made it. The same command tries again.\n\(remedy)"
            )
        }
        let json = try await darkroom("run", ["--json"])
        #expect(
            json.output.contains(#""outdated":1"#) && json.output.contains(#""exit":3"#), "\(json)")
        #expect(try fixture.digests("out") == before)
        try fixture.shell(isGone ? "mv a.png p/a.png" : "mv away p")
        try await darkroom("run").shows(exit: 0, output: .has("; 1 made, 1 as it was"))
        try fixture.checkOutcome()
    }

    /// What a server did not give is asked for again, without `--retry`; a plan tells what has failed.
    @Test func asksAgainForWhatCouldNotBeFetched() async throws {
        let suffix = Suffix()
        let origin = try origin(suffix)
        try fixture.write(
            "images: {a: \(origin.baseURL)/small.png, words: words.png}\n", to: "m.yaml")
        try fixture.shell("echo words >words.png")
        suffix.isAway.withLock { $0 = true }
        try await darkroom("run", Self.remote).shows(exit: 3)
        suffix.isAway.withLock { $0 = false }
        try await darkroom("run", Self.remote).shows(
            exit: 3, output: .has("1 failed; 1 made, 1 as it was\n"))
        let plan = try await darkroom("plan", Self.remote)
        #expect(plan.output == "m: 0 of 2 images to make, 2 stand (1 failed before)\n", "\(plan)")
    }

    /// The content was changed behind the back of the file system.
    @Test func readsAllOnRequest() async throws {
        #expect(try await darkroom("run").exit == 0)
        let sha256 = try #require(try fixture.status()?.images[0].sourceSHA256)
        try fixture.shell("sed -i 's/\(sha256)/00/' out/status.json; sleep 2.1")
        let status = try fixture.bytes("out/status.json")
        _ = status
        let result = try await darkroom("run", ["--check"])
        // `c` was made of what `a` is now.
        #expect(result.exit == 0 && result.output.contains("; 1 made, 5 as they were"), "\(result)")
        try await darkroom("run", ["--check"]).shows(exit: 0, output: .has("; nothing to do"))
        for command in ["run", "plan"] {
            try await darkroom(command, ["--prune", "--shard", "1/2"], to: "parts").shows(
                exit: 64, errors: .has("--prune is for a run without --shard"))
        }
    }

    @Test func plansWhatIsNotThere() async throws {
        let plan = try await darkroom("plan")
        plan.shows(exit: 0, output: .begins("make a: new\nmake b-1: new\n"), errors: .nothing)
        #expect(plan.output.hasSuffix("m: 6 of 6 images to make (6 new)\n"), "\(plan)")
        #expect(!fixture.exists("out"))
        #expect(try await darkroom("run").exit == 0)
        try fixture.shell("rm gray.png; sed -i '/  c: /d' m.yaml")
        let later = try await darkroom("plan")
        #expect(
            later.output == """
                keep b-1: source gone
                keep b-2: source gone
                leave c.png: no image has it
                m: 0 of 5 images to make, 5 stand, 1 file without an image stays

                """)
        let pruned = try await darkroom("plan", ["--prune"])
        #expect(
            pruned.output.hasPrefix(
                "make b-1: source gone\nmake b-2: source gone\nremove b-1.png: no image has it\n"),
            "\(pruned)")
        #expect(try await darkroom("run", ["--prune"]).exit == 3)
        #expect(fixture.list("out").filter { $0.hasSuffix(".png") } == ["a.png", "d.png"])
    }

    // MARK: URLs

    private final class Suffix: Sendable {
        let text = Mutex("")
        /// Whether nobody answers.
        let isAway = Mutex(false)
    }

    /// A server that sends what is in a folder, with an entity tag or, below `/plain/`, without.
    ///
    /// - Parameter suffix: what each tag ends with.
    private func origin(_ suffix: Suffix) throws -> ScriptedOrigin {
        let folder = fixture.scratch.url
        return try ScriptedOrigin { request in
            if suffix.isAway.withLock(\.self) { return .init(bytes: [], ending: .reset) }
            let name = request.path.split(separator: "/").last.map(String.init) ?? ""
            let body = [UInt8]((try? Data(contentsOf: folder.appending(path: name))) ?? Data())
            let tag = "\"\(SHA256Digest.hex(of: body).prefix(16))\(suffix.text.withLock(\.self))\""
            let isPlain = request.path.hasPrefix("/plain/")
            if !isPlain, request.fields["if-none-match"] == tag {
                return .init(["HTTP/1.1 304 Not Modified", "ETag: \(tag)"])
            }
            let head = ["HTTP/1.1 200 OK", "Content-Length: \(body.count)"]
            return .init(head + (isPlain ? [] : ["ETag: \(tag)"]), body: body)
        }
    }

    private static let remote = [
        "--set", "downloads.allowNetworks=[127.0.0.0/8]", "--set", "downloads.retries=0",
    ]

    @Test func asksServers() async throws {
        let suffix = Suffix()
        let origin = try origin(suffix)
        let url = origin.baseURL
        try fixture.write(
            "images: {a: \(url)/small.png, b: {source: \(url)/gray.png, variants: [{suffix: -1}, {suffix: -2, filters: flip}]}, c: \(url)/plain/deep.png}\n",
            to: "m.yaml")
        let outputs = ["a.png", "b-1.png", "b-2.png", "c.png"]
        #expect(try await darkroom("run", Self.remote).exit == 0)
        let first = fixture.identities(of: outputs)
        let count = origin.requests.count
        // Three questions, of which one needs the whole.
        let again = try await darkroom("run", Self.remote)
        #expect(again.exit == 0 && again.output.contains("; 0 made, 4 as they were\n"), "\(again)")
        #expect(fixture.identities(of: outputs) == first)
        let asked = origin.requests.dropFirst(count)
        #expect(asked.map(\.path).sorted() == ["/gray.png", "/plain/deep.png", "/small.png"])
        #expect(asked.count { $0.fields["if-none-match"] != nil } == 2)
        let plan = try await darkroom("plan", Self.remote)
        #expect(
            plan.output.hasPrefix(
                "make c: source must be fetched to compare it\nm: 1 of 4 images to make"), "\(plan)"
        )
        // Another content.
        try fixture.shell("cp small.png gray.png; cp small.png deep.png")
        let changed = try await darkroom("run", Self.remote)
        changed.shows(exit: 0, output: .has("; 3 made, 1 as it was\n"))
        #expect(fixture.identities(of: ["a.png"])["a.png"] == first["a.png"])
        #expect(
            try fixture.status()?.images.map(\.sourceSHA256).count {
                $0 == SHA256Digest.hex(of: try fixture.bytes("small.png"))
            } == 4)
        try fixture.checkOutcome()
        // The same content with other tags is not filtered again.
        let second = fixture.identities(of: outputs)
        suffix.text.withLock { $0 = "x" }
        let other = try await darkroom("run", Self.remote)
        #expect(other.exit == 0 && other.output.contains("; 0 made, 4 as they were\n"), "\(other)")
        #expect(fixture.identities(of: outputs) == second)
        try fixture.checkOutcome()
        #expect(
            try await darkroom("run", Self.remote).output.contains("; 0 made, 4 as they were\n"))
        suffix.isAway.withLock { $0 = true }
        // Nobody answers: what could be asked for stands, and no output is lost.
        for prune in [[], ["--prune"]] {
            try await darkroom("run", Self.remote + prune).shows(
                exit: 0,
                errors: .has(
                    "4 sources could not be compared, because the server did not say whether they have changed, and the results stand: a, b-1, b-2, c\n"
                ))
            #expect(fixture.list("out").count { $0.hasSuffix(".png") } == 4)
        }
        #expect(fixture.identities(of: outputs.dropLast()) == second.filter { $0.key != "c.png" })
        try fixture.checkOutcome()
        // Nor can it be made with other filters.
        let before = try fixture.digests("out")
        try fixture.shell("sed -i 's/^images:/filters: [sepia]\\nimages:/' m.yaml")
        try await darkroom("run", Self.remote).shows(
            exit: 3, output: .has("; 0 made, 4 as they were"),
            errors: .has(
                "4 results of them are as the former filters and options have made them. The same command tries again.\n"
            ))
        #expect(try fixture.digests("out") == before)
        try fixture.checkOutcome()
        suffix.isAway.withLock { $0 = false }
        try await darkroom("run", Self.remote).shows(
            exit: 0, output: .has("; 4 made, 0 as they were"))
        try fixture.checkOutcome()
    }

    /// An upgrade asks for nothing, so a result of a former version is no error, if its server does not answer.
    @Test func takesResultsOfFormerVersions() async throws {
        let suffix = Suffix()
        let origin = try origin(suffix)
        try fixture.write("images: {a: \(origin.baseURL)/small.png}\n", to: "m.yaml")
        #expect(try await darkroom("run", Self.remote).exit == 0)
        let digest = try #require(try fixture.status()?.images[0].versionsSHA256)
        try fixture.shell("sed -i 's/\(digest)/00/' out/status.json")
        suffix.isAway.withLock { $0 = true }
        for _ in 0..<2 {
            try await darkroom("run", Self.remote).shows(
                exit: 0,
                errors:
                    "darkroom: 1 source could not be compared, because the server did not say whether they have changed, and the results stand: a\n"
            )
        }
        suffix.isAway.withLock { $0 = false }
        try await darkroom("run", Self.remote).shows(
            exit: 0, output: .has("; 1 made, 0 as they were"))
        #expect(try fixture.status()?.images[0].versionsSHA256 == digest)
    }

    @Test func asksAnotherURLWithoutTags() async throws {
        let origin = try origin(Suffix())
        let text = "images: {a: \(origin.baseURL)/small.png}\n"
        try fixture.write(text, to: "m.yaml")
        #expect(try await darkroom("run", Self.remote).exit == 0)
        try fixture.shell("mkdir p; cp small.png p/")
        try fixture.write(text.replacing("/small", with: "/p/small"), to: "m.yaml")
        let count = origin.requests.count
        let result = try await darkroom("run", Self.remote)
        // It has the same bytes.
        #expect(result.exit == 0 && result.output.contains("; 0 made, 1 as it was"), "\(result)")
        let asked = origin.requests.dropFirst(count)
        #expect(asked.map(\.path) == ["/p/small.png"])
        #expect(asked.allSatisfy { $0.fields["if-none-match"] == nil })
        try fixture.checkOutcome()
    }

    /// What a server has removed is gone, and one that is busy is asked again.
    @Test func heedsWhatServersSay() async throws {
        let answers = Mutex<[[String]]>([])
        let gone = ["HTTP/1.1 410 Gone", "Content-Length: 0"]
        let isGone = Mutex(false)
        let body = try fixture.bytes("small.png")
        let origin = try ScriptedOrigin { request in
            if request.path == "/a", isGone.withLock(\.self) { return .init(gone) }
            let next = answers.withLock { $0.isEmpty ? nil : $0.removeFirst() }
            let head = ["HTTP/1.1 200 OK", "Content-Length: \(body.count)", "ETag: \"1\""]
            if let next { return .init(next) }
            return request.fields["if-none-match"] == nil
                ? .init(head, body: body) : .init(["HTTP/1.1 304 Not Modified", "ETag: \"1\""])
        }
        try fixture.write("images: {a: \(origin.baseURL)/a, b: small.png}\n", to: "m.yaml")
        let settings = [
            "--set", "downloads.allowNetworks=[127.0.0.0/8]", "--set", "downloads.retries=2",
            "--set", "downloads.retryDelay=0.01",
        ]
        #expect(try await darkroom("run", settings).exit == 0)
        answers.withLock {
            $0 = [
                ["HTTP/1.1 503 Busy", "Retry-After: 0", "Content-Length: 0"],
                ["HTTP/1.1 429 Busy", "Content-Length: 0"],
            ]
        }
        try await darkroom("run", settings).shows(
            exit: 0, output: .has("; nothing to do"), errors: .nothing)
        #expect(origin.requests.count == 4)
        isGone.withLock { $0 = true }
        try await darkroom("run", settings).shows(
            exit: 0, errors: .has("1 source is gone, and the results stand: a\n"))
        // No source of a server is left, so nothing is removed.
        let all = try await darkroom("run", settings + ["--prune"])
        #expect(all.exit == 0 && all.errors.contains("because all sources are gone"), "\(all)")
        try fixture.write(
            "images: {a: \(origin.baseURL)/a, b: small.png, c: \(origin.baseURL)/c}\n", to: "m.yaml"
        )
        // Nobody has looked for the source of a new image.
        try await darkroom("run", settings + ["--prune"]).shows(
            exit: 0, errors: .has("because all sources are gone"))
        try await darkroom("run", settings + ["--prune"]).shows(
            exit: 3, output: .has("1 output removed"))
    }

    /// The server does not answer, and somebody loses patience.
    @Test func stopsWhileServersAreAsked() async throws {
        let isHeld = Mutex(false)
        let body = try fixture.bytes("small.png")
        let origin = try ScriptedOrigin { _ in
            isHeld.withLock(\.self)
                ? .init(bytes: [], ending: .hold)
                : .init(
                    ["HTTP/1.1 200 OK", "Content-Length: \(body.count)", "ETag: \"1\""], body: body)
        }
        try fixture.write("images: {a: \(origin.baseURL)/a}\n", to: "m.yaml")
        #expect(try await darkroom("run", Self.remote).exit == 0)
        isHeld.withLock { $0 = true }
        let run = try fixture.begin(
            ["m.yaml", "-o", "out", "--config", "darkroomd.yaml"] + Self.remote)
        while origin.requests.count < 2 { await Task.yield() }
        run.send(SIGTERM)
        try await run.result().shows(exit: 75, errors: .has("stopped by SIGTERM"))
        isHeld.withLock { $0 = false }
        #expect(try await darkroom("run", Self.remote).exit == 0)
    }

    // MARK: What is left

    @Test func triesAgainWithAnotherLimit() async throws {
        try fixture.write("images: {a: small.png}\n", to: "m.yaml")
        let small = ["--set", "pictures.maxPixels=16"]
        #expect(try await darkroom("run", small).exit == 3)
        #expect(try await darkroom("run", small).output.contains("; nothing to do"))
        #expect(try await darkroom("plan").output.hasPrefix("make a: limits changed\n"))
        try await darkroom("run").shows(exit: 0, output: .has("; 1 made"))
    }

    /// The former file of an image that fails under another name stays, and so does one that has become a source.
    @Test func prunesNothingThatIsNeeded() async throws {
        try fixture.write("images: {a: small.png, b: gray.png}\n", to: "m.yaml")
        #expect(try await darkroom("run").exit == 0)
        try fixture.write("no picture", to: "small.png")
        try fixture.write(
            "images: {a: {source: small.png, output: {format: jpeg}}, c: out/b.png}\n", to: "m.yaml"
        )
        try await darkroom("run", ["--prune"]).shows(
            exit: 3,
            errors: .has("1 file of an earlier run stays, although its image fails now: a.png\n"))
        #expect(fixture.exists("out/a.png") && fixture.exists("out/b.png"))
        try fixture.shell("cp deep.png small.png")
        try await darkroom("run", ["--prune"]).shows(exit: 0, output: .has("1 output removed"))
        #expect(!fixture.exists("out/a.png") && fixture.exists("out/b.png"))
    }

    /// What `--prune` would remove is no surprise for who verifies the folder.
    @Test func verifiesFormerOutputs() async throws {
        #expect(try await darkroom("run").exit == 0)
        try fixture.shell("sed -i '/  c: /d' m.yaml")
        #expect(try await darkroom("run").exit == 0)
        func verify() async throws -> ClientProcess.Result {
            try await fixture.end("verify out")
        }
        try await verify().shows(exit: 0)
        try fixture.write("mine", to: "out/c.png")
        let other = try await verify()
        #expect(other.exit != 0 && (other.output + other.errors).contains("c.png"), "\(other)")
    }

    @Test func plansAnUnfinishedRunAndSaysWhatItCannotRead() async throws {
        try await darkroom(
            "run", ["--jobs", "1"],
            environment: FaultPoint.publishOutputsMoved.environment
        ).shows(exit: 137)
        let plan = try await darkroom("plan")
        plan.shows(exit: 0, output: .has("a run has not ended: it has done "))
        #expect(try await darkroom("plan", ["--json"]).output.contains(#""unfinished":"#))
        #expect(try await darkroom("run").exit == 0)
        #expect(try await !darkroom("plan").output.contains("a run has not ended"))
        try fixture.write("{", to: "out/.darkroom/former.json")
        for command in ["plan", "run"] {
            try await darkroom(command).shows(exit: 65, errors: .has("out/.darkroom/former.json: "))
        }
    }

    @Test func plansWithHeaders() async throws {
        let origin = try origin(Suffix())
        try fixture.write("images: {a: \(origin.baseURL)/small.png}\n", to: "m.yaml")
        let header = ["--header", "X-Token: 1"]
        #expect(try await darkroom("run", Self.remote + header).exit == 0)
        #expect(try await darkroom("plan", Self.remote + header).exit == 0)
        #expect(origin.requests.count == 2)
        #expect(origin.requests.allSatisfy { $0.fields["x-token"] == "1" })
    }

    /// An image that others need is fetched each time, and nothing is made of the same bytes.
    @Test func makesNothingOfTheSameBytes() async throws {
        let origin = try origin(Suffix())
        try fixture.write(
            "images: {a: \(origin.baseURL)/plain/small.png, b: {from: a, filters: flip}, c: {source: gray.png, filters: [{overlay: {from: a}}]}}\n",
            to: "m.yaml")
        #expect(try await darkroom("run", Self.remote).exit == 0)
        try await darkroom("run", Self.remote).shows(
            exit: 0, output: .has("; 0 made, 3 as they were"))
        try fixture.shell("cp deep.png small.png")
        try await darkroom("run", Self.remote).shows(exit: 0, output: .has("; 3 made, 0 as"))
        try fixture.checkOutcome()
    }

    // MARK: Kills

    private static let points: [FaultPoint] = [
        .formerWritten, .formerMoved, .planWritten, .planMoved, .retryBuilt, .retryMoved,
        .receiptManifestWritten, .receiptManifestMoved, .statusWritten, .statusMoved,
        .filterBegan, .filterWritten, .publishJournalTorn, .publishJournalWritten,
        .publishOutputMoved, .publishOutputsMoved, .finalStatusWritten, .finalStatusMoved,
        .treeEntryRemoved, .activeRemoved, .formerRemoved,
    ]

    /// At each point, the next run has this manifest or the former one, and ends as in a new folder.
    @Test(arguments: [true, false]) func continuesAfterEachPoint(goesBack: Bool) async throws {
        #expect(try await darkroom("run", to: "old").exit == 0)
        try fixture.write(Renewal.changed, to: "m.yaml")
        #expect(try await darkroom("run", to: "new").exit == 0)
        let reference = try fixture.digests(goesBack ? "old" : "new")
        for point in Self.points {
            try fixture.shell("rm -rf out; cp -a old out")
            try fixture.write(Renewal.changed, to: "m.yaml")
            let killed = try await darkroom("run", ["--prune"], environment: point.environment)
            #expect(killed.exit == 137, "\(point.rawValue): \(killed)")
            if goesBack { try fixture.write(Renewal.manifest, to: "m.yaml") }
            let result = try await darkroom("run", ["--prune"])
            #expect(result.exit == 0, "\(point.rawValue): \(result)")
            #expect(try fixture.digests("out") == reference, "\(point.rawValue)")
            try fixture.checkOutcome()
            let again = try await darkroom("run", ["--prune"])
            #expect(again.output.contains("; nothing to do"), "\(point.rawValue): \(again)")
        }
    }

    /// What an unfinished run had made is looked at when the next one has made the rest.
    @Test(arguments: [
        ("cp deep.png small.png", 2), ("true", 0), ("chmod 600 small.png gray.png", 0),
    ]) func looksAtWhatWasMadeBefore(command: String, again: Int) async throws {
        try fixture.write(
            "images: {a: small.png, b: {from: a, filters: flip}, c: gray.png, d: large.png}\n",
            to: "m.yaml")
        // When the fourth begins, `a` has ended: `b` needs it.
        try await darkroom(
            "run", ["--jobs", "1"],
            environment: FaultPoint.filterBegan.environment(passing: 4)
        ).shows(exit: 137)
        try fixture.shell(command)
        let result = try await darkroom("run")
        #expect(result.exit == 0, "\(result)")
        #expect(
            result.output.contains(", \(again) of them made again") == (again > 0), "\(result)")
        #expect(result.output.contains("made again") == (again > 0), "\(result)")
        #expect(try await darkroom("run", to: "fresh").exit == 0)
        #expect(try fixture.digests("out") == fixture.digests("fresh"))
        try fixture.checkOutcome()
        #expect(try await darkroom("run").output.contains("; nothing to do"))
    }

    /// Two renewals are killed, each of another manifest, and the copy of the first one's is beside the outputs.
    @Test(arguments: [FaultPoint.planMoved, .retryBuilt, .retryMoved, .receiptManifestWritten])
    func continuesAfterTwoKills(second: FaultPoint) async throws {
        #expect(try await darkroom("run").exit == 0)
        try fixture.write(Renewal.changed, to: "m.yaml")
        try await darkroom(
            "run", environment: FaultPoint.receiptManifestMoved.environment
        ).shows(exit: 137)
        let third = Renewal.changed + "  g: gray.png\n"
        try fixture.write(third, to: "m.yaml")
        try await darkroom("run", environment: second.environment).shows(exit: 137)
        for text in [third, Renewal.manifest] {
            try fixture.write(text, to: "m.yaml")
            try await darkroom("run", ["--prune"]).shows(exit: 0)
            try fixture.checkOutcome()
        }
    }

    /// A renewal that is killed keeps the results which it would make again, if their sources are away when it continues.
    @Test func keepsFormerResultsOverAKill() async throws {
        let origin = try origin(Suffix())
        let text = "images: {a: \(origin.baseURL)/plain/small.png, b: gray.png}\n"
        try fixture.write(text, to: "m.yaml")
        #expect(try await darkroom("run", Self.remote).exit == 0)
        let before = try fixture.digests("out")
        try await darkroom(
            "run", Self.remote, environment: FaultPoint.retryMoved.environment
        ).shows(exit: 137)
        try await darkroom(
            "run", Self.remote, environment: FaultPoint.statusMoved.environment
        ).shows(exit: 137)
        origin.stop()
        try await darkroom("run", Self.remote).shows(exit: 0)
        #expect(try fixture.digests("out") == before)
        try fixture.checkOutcome()
    }

    /// Kills at random while the manifest goes to and fro. What stands is never touched.
    @Test func continuesAfterRandomKills() async throws {
        let texts = [Renewal.manifest, Renewal.changed]
        var references: [[String]] = []
        for (number, text) in texts.enumerated() {
            try fixture.write(text, to: "m.yaml")
            #expect(try await darkroom("run", to: "reference\(number)").exit == 0)
            references.append(try fixture.digests("reference\(number)"))
        }
        var rounds = 0
        var kills = RandomKills()
        while kills.count < 30 {
            rounds += 1
            for _ in 0..<Int.random(in: 1...5) {
                try fixture.write(texts.randomElement() ?? "", to: "m.yaml")
                let run = try ClientProcess(
                    [
                        "run", "m.yaml", "-o", "out", "--prune", "--config", "darkroomd.yaml",
                    ],
                    folder: fixture.scratch.path)
                try await kills.wait()
                run.send(SIGKILL)
                let result = try await run.result()
                #expect([137, 0].contains(result.exit), "\(result)")
                kills.note(exit: result.exit)
            }
            let number = rounds % 2
            try fixture.write(texts[number], to: "m.yaml")
            let stable = ["b-1.png", "b-2.png", "d.png"]
            let before = fixture.identities(of: stable)
            try await darkroom("run", ["--prune"]).shows(exit: 0)
            #expect(try fixture.digests("out") == references[number])
            let after = fixture.identities(of: stable)
            #expect(before.allSatisfy { after[$0.key] == $0.value })
            try fixture.checkOutcome()
        }
    }
}
