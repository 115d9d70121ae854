import DarkroomCore
import Foundation
import TestPictures
import TestSupport
import Testing

/// `darkroom run`: command lines with all that they print, and what they leave in the folder.
@Suite(.fewAtATime) struct RunCommandTests {
    private let fixture: RunFixture

    init() throws {
        fixture = try RunFixture()
        let files = [
            "good.yaml":
                "filters: [mono]\nimages: {a: small.png, b: {source: gray.png, output: {format: jpeg}}}\n",
            "album/poor.json":
                #"{"images": {"a": "../small.png", "b": "none.png", "c": "words.png"}}"#,
            "pairs.csv": "source,name\r\nsmall.png,\"x, y\"\r\ngray.png,\r\n",
            "holes.csv": "source,name\nsmall.png,a\nnone.png,b\n",
            "two.yaml": "images: [https://a.example/a.png, https://b.example/b.png]\n",
            "deliver.yaml": "images: [small.png]\ndeliver: /srv/web\n",
            "bad.json": #"{"images": [{"source": "a.png", "nmae": 1}]}"#,
        ]
        for (name, text) in files { try fixture.write(text, to: name) }
    }

    /// A result line without its time.
    private static func timeless(_ result: ClientProcess.Result) -> ClientProcess.Result {
        var result = result
        result.output = result.output.replacing(#/\ in [0-9.]+ m?s\b/#, with: "")
        // How far it is, which a machine with much to do has the time to say.
        let progress = #/[^\n]*: (pending|processing), [0-9]+ of [0-9]+ images[^\n]*\n/#
        result.errors = result.errors.replacing(progress, with: "")
        return result
    }

    typealias Line = CommandLineCase

    static let answer = [".darkroom", "progress.json", "status.json"]

    static let lines = [
        Line(
            words: "run good.yaml -o out", exit: 0, output: "good: completed, 2 images\n",
            files: answer + ["a.png", "b.jpg", "manifest.yaml"]),
        Line(
            words: "run good.yaml -o out/ --quiet", exit: 0,
            files: answer + ["a.png", "b.jpg", "manifest.yaml"]),
        Line(
            words: "run good.yaml -o out --json", exit: 0,
            output:
                #"{"counts":{"cancelled":0,"downloaded":0,"downloading":0,"failed":0,"filtered":2,"filtering":0,"new":0,"total":2,"warnings":0},"exit":0,"folder":"out","id":"good","state":"completed","type":"run","unchanged":false}"#
                + "\n"),
        Line(
            words: "run album/poor.json -o out", exit: 3,
            output: "poor: completed with errors, 1 of 3 images done, 2 failed\n",
            errors: """
                darkroom: b: none.png: no such file in ./album, where relative paths begin [source-missing]
                darkroom: c: words.png: no such file in ./album, where relative paths begin [source-missing]
                darkroom: First correct the cause. Then the same command with --retry repeats the failed images.

                """, files: answer + ["a.png", "manifest.json"]),
        Line(
            words: "run small.png gray.png --filter resize=8 --watermark alpha.png -o out", exit: 0,
            output: "FOLDER: completed, 3 images\n",
            files: answer + ["gray.png", "manifest.json", "small.png"]),
        Line(
            words: "run --from pairs.csv --sizes 8,4 -o out", exit: 0,
            output: "pairs: completed, 4 images\n",
            files: answer
                + [
                    "gray-4.png", "gray-8.png", "manifest.json", "sizes.json", "x, y-4.png",
                    "x, y-8.png",
                ]),
        Line(
            words: "run pairs.csv -o out", exit: 64,
            errors: """
                darkroom: pairs.csv: it is a list of pictures, not a picture
                darkroom: Name a list with --from: --from pairs.csv

                """),
        Line(
            words: "run --from holes.csv -o out", exit: 66,
            errors: "darkroom: holes.csv:3: none.png: cannot find it: No such file or directory\n"),
        Line(
            words: "run two.yaml -o out --header A:b", exit: 64,
            errors: """
                darkroom: --header: the URLs of the manifest have several origins (https://a.example and https://b.example), and the header may be a secret
                darkroom: Name the header for its origin in a file for --set downloads.headers=FILE.

                """),
        Line(
            words: "run small.png -o out --header A:b", exit: 64,
            errors: "darkroom: --header: no source is a URL\n"),
        Line(
            words: "run https://a.example/a.png -o out --header secret", exit: 64,
            errors: "darkroom: --header: write NAME: VALUE, for example 'Accept-Language: de'\n"),
        Line(
            words: "run bad.json -o out", exit: 65,
            errors:
                "bad.json:1:33: images[0].nmae: unknown key ‘nmae’; did you mean ‘name’? [unknown-key]\n"
        ),
        Line(
            words: "run deliver.yaml -o out", exit: 65,
            errors:
                "deliver.yaml:2:10: deliver: only the daemon delivers; darkroom run writes its results into the folder of -o [delivery-not-allowed]\n"
        ),
        Line(
            words: "run none.yaml -o out", exit: 66,
            errors: "darkroom: none.yaml: cannot open: No such file or directory\n"),
        Line(
            words: "run none.png -o out", exit: 66,
            errors: "darkroom: none.png: cannot find it: No such file or directory\n"),
        Line(
            words: "run good.yaml album/poor.json -o out", exit: 64,
            errors: "darkroom: several manifests; each needs a run and a folder of its own\n"),
        Line(
            words: "run good.yaml small.png -o out", exit: 64,
            errors:
                "darkroom: good.yaml is a manifest, and other files are pictures. Run them separately.\n"
        ),
        Line(
            words: "run good.yaml --filter mono -o out", exit: 64,
            errors:
                "darkroom: --filter is for pictures; good.yaml is a manifest and says itself what to do\n"
        ),
        Line(
            words: "run good.yaml -o good.yaml", exit: 73,
            errors: "darkroom: good.yaml: cannot open: Not a directory\n"),
        Line(
            words: "run good.yaml -o small.png/out", exit: 73,
            errors:
                "darkroom: small.png/out: cannot create folder: Not a directory\n"),
        Line(
            words: "run good.yaml -o out --set filters.concurrency=x", exit: 78,
            errors:
                "darkroom: --set filters.concurrency: must be a whole number from 0 to 1024, not \"x\"\n"
        ),
        Line(
            words: "run good.yaml -o out --config none.yaml", exit: 78,
            errors: "darkroom: none.yaml: there is no such file\n"),
        Line(
            words: "run good.yaml -o out --memory much", exit: 64,
            errors:
                "darkroom: --memory much: write a size such as 512MiB or 2GiB, at least 16MiB\n"),
        Line(
            words: "run good.yaml -o out --memory 100M", exit: 64,
            errors:
                "darkroom: --memory 100M: write a size such as 512MiB or 2GiB, at least 16MiB; did you mean 100MiB?\n"
        ),
        Line(
            words: "run good.yaml -o out --memory 10MiB", exit: 64,
            errors:
                "darkroom: --memory 10MiB: write a size such as 512MiB or 2GiB, at least 16MiB\n"),
        Line(
            words: "run album/ -o out", exit: 65,
            errors:
                "darkroom: album/: there is no picture in it\n"
        ),
        Line(
            words: "verify nosuch --spool nospool", exit: 66,
            errors: """
                darkroom: nosuch: there is no such folder, and no spool with a batch of this ID: nospool: cannot open: No such file or directory
                darkroom: Name the folder with --spool or DARKROOM_SPOOL. darkroomd creates it when it starts.

                """),
        Line(
            words: "run good.yaml -o out --memory 30", exit: 64,
            errors:
                "darkroom: --memory 30: write a size such as 512MiB or 2GiB, at least 16MiB\n"),
        Line(
            words: "run small.png --watermark alpha.png --watermark gray.png -o out", exit: 64,
            errors:
                "darkroom: --watermark may be given once. For more pictures, write --filter watermark:from=FILE,gravity=northWest\n"
        ),
        Line(
            words: "run none.yaml -o out --json", exit: 66,
            output:
                #"{"code":"file-missing","exit":66,"message":"none.yaml: cannot open: No such file or directory","retryable":false,"type":"error"}"#
                + "\n",
            errors: "darkroom: none.yaml: cannot open: No such file or directory\n"),
        Line(
            words: "run good.yaml -o out --set sources.roots=[/nowhere]", exit: 3,
            output: "good: completed with errors, 0 of 2 images done, 2 failed\n",
            errors: """
                darkroom: a: small.png: no such file in sources.roots (/nowhere) [source-missing]
                darkroom: b: gray.png: no such file in sources.roots (/nowhere) [source-missing]
                darkroom: First correct the cause. Then the same command with --retry repeats the failed images.

                """),
    ]

    @Test(arguments: lines) func printsTheWholeOutput(line: Line) async throws {
        let words = line.words.split(separator: " ").map(String.init)
        let result = try await fixture.end(words)
        let folder = fixture.scratch.url.lastPathComponent
        Self.timeless(result).expect(
            exit: line.exit, output: line.output.replacing("FOLDER", with: folder),
            errors: line.errors)
        if let files = line.files {
            #expect(fixture.list("out") == files.sorted())
            try fixture.checkOutcome()
        } else if ![0, 3].contains(line.exit) {
            #expect(!fixture.exists("out"))
        }
    }

    @Test func doesNothingAgain() async throws {
        #expect(try await fixture.end("run good.yaml -o out").exit == 0)
        // A file that has just been written is read once more, and what it was is noted then.
        try await Task.sleep(for: .seconds(2.1))
        #expect(try await fixture.end("run good.yaml -o out").exit == 0)
        let names = fixture.list("out") + [".darkroom/plan.json"]
        let before = fixture.identities(of: names)
        let again = try await fixture.end("run good.yaml -o out")
        Self.timeless(again).expect(exit: 0, output: "good: completed, 2 images; nothing to do\n")
        #expect(fixture.identities(of: names) == before)
        // A manifest is known by its content.
        try fixture.move("good.yaml", to: "new.yaml")
        try await fixture.end("run new.yaml -o out --json").shows(
            exit: 0, output: .has(#""unchanged":true"#, #""id":"good""#))
        #expect(fixture.identities(of: names) == before)
    }

    /// A finished run looks only at its outputs.
    /// The results of a folder's pictures may lie in it.
    @Test func takesAFolderWithItsResults() async throws {
        try fixture.makeFolder("p/deep")
        for (from, to) in [("small.png", "p/a.png"), ("gray.png", "p/deep/a.png")] {
            try fixture.copy(from, to: to)
        }
        for end in ["", "; nothing to do"] {
            let result = try await fixture.end("run p/ --filter thumbnail=8 -o p/out")
            Self.timeless(result).expect(exit: 0, output: "p: completed, 2 images\(end)\n")
        }
        try fixture.checkOutcome(of: "p/out")
        #expect(try fixture.status("p/out")?.images.map(\.name) == ["a", "a-2"])
        let inIt = try await fixture.end("run p -o other")
        #expect(
            inIt.exit == 0 && fixture.exists("other/a-2.png") && !fixture.exists("other/a-3.png"))
    }

    @Test func isShown() async throws {
        #expect(try await fixture.end("run album/poor.json -o out").exit == 3)
        let shown = try await fixture.end("show out/ --failed")
        #expect(shown.exit == 0 && shown.errors == "")
        #expect(shown.output.hasPrefix("poor: completed with errors\n"), "\(shown.output)")
        shown.shows(
            output: .has(
                "\n2 failed images:\n  b: none.png: no such file", "darkroom run with --retry"))
        let json = try await fixture.end("show ./out --images --json")
        #expect(json.exit == 0 && json.output.contains(#""folder" : "./out""#), "\(json.output)")
        try await fixture.end("show album/").expect(
            exit: 66,
            errors:
                "darkroom: album: it is not a folder of results, because it has no status.json\n")
        // A name without a slash may have been meant as an ID. Only a daemon's batch tells of a daemon.
        #expect(!json.output.contains(#""daemon""#))
        for command in ["show", "verify", "page"] {
            try await fixture.darkroom(command, "album").shows(
                exit: 66,
                errors: .begins(
                    "darkroom: album: there is no such batch, and the folder of this name is not one of results: it has no status.json\n"
                ))
            try await fixture.darkroom(command, "ten").shows(
                exit: 66, errors: .begins("darkroom: ten: there is no"))
        }
        #expect(try await fixture.end("run good.yaml -o parts --shard 1/2").exit == 0)
        try await fixture.end("show parts/").expect(
            exit: 66,
            errors: """
                darkroom: parts: the results of its shards are not merged yet
                darkroom: darkroom merge parts puts them together.

                """)
    }

    @Test func doesNothingAgainWithoutItsSources() async throws {
        let words = ["run", "small.png", "gray.png", "--watermark", "alpha.png", "-o", "out"]
        #expect(try await fixture.end(words).exit == 0)
        for name in ["gray.png", "alpha.png"] {
            try fixture.remove(name)
        }
        try await fixture.end(words).shows(exit: 0, output: .ends("; nothing to do\n"))
        // What is to be done needs them.
        let other = try await fixture.end(words.map { $0 == "out" ? "other" : $0 })
        #expect(other.exit == 66 && !fixture.exists("other"), "\(other)")
        try await fixture.end(words + ["--retry"]).shows(exit: 66)
        try fixture.remove("out/gray.png")
        try await fixture.end(words).shows(exit: 3, errors: .has("source-missing"))
    }

    @Test func repeatsFailedImagesOnRequest() async throws {
        #expect(try await fixture.end("run album/poor.json -o out").exit == 3)
        // Without the request, the answer stands as long as their sources are the same.
        try await fixture.end("run album/poor.json -o out").shows(
            exit: 3, output: .ends("; nothing to do\n"))
        try await fixture.end("run album/poor.json -o out --retry").shows(
            exit: 3, output: .ends("; 0 made, 1 as it was\n"))
        // Of what is missing, nothing else is made again.
        try fixture.remove("out/a.png")
        try await fixture.end("run album/poor.json -o out").shows(
            exit: 3, output: .ends("; 1 made, 2 as they were\n"))
        #expect(try fixture.status()?.images.map(\.attempts) == [2, 2, 2])
        let made = fixture.identities(of: ["a.png"])
        for name in ["none.png", "words.png"] {
            try fixture.copy("gray.png", to: "album/\(name)")
        }
        let found = try await fixture.end("run album/poor.json -o out")
        Self.timeless(found).expect(
            exit: 0, output: "poor: completed, 3 images; 2 made, 1 as it was\n")
        #expect(fixture.identities(of: ["a.png"]) == made)
        let status = try #require(try fixture.status())
        #expect(status.retries == 3 && status.images.map(\.attempts) == [2, 3, 3])
        try fixture.checkOutcome()
        try await fixture.end("run album/poor.json -o out --retry").shows(
            exit: 0, output: .ends("; nothing to do\n"))
    }

    // MARK: What it refuses

    @Test func refusesAnotherManifest() async throws {
        #expect(try await fixture.end("run good.yaml -o out").exit == 0)
        let before = fixture.identities(of: fixture.list("out"))
        try await fixture.end("run album/poor.json -o out").expect(
            exit: 65,
            errors: """
                darkroom: out has a run of another manifest, good.yaml
                darkroom: Name another folder with -o, or remove this one.

                """)
        #expect(fixture.identities(of: fixture.list("out")) == before)
    }

    /// No result replaces a source. This is said before any work begins.
    @Test func refusesTheFolderOfItsSources() async throws {
        let before = fixture.list("")
        for words in [["./small.png", "-o", "."], ["good.json", "-o", "./"]] {
            try fixture.write(#"{"images": {"gray": "gray.png"}}"#, to: "good.json")
            let result = try await fixture.end(["run"] + words)
            #expect(result.exit == 73 && result.output == "")
            let name = words[0] == "good.json" ? "gray.png" : "./small.png"
            result.shows(
                errors: """
                    darkroom: \(name): this source lies in the folder of the results, and a result would get its name
                    darkroom: Name another folder with -o.

                    """)
        }
        #expect(fixture.list("") == (before + ["good.json"]).sorted())
        // Another format is another name.
        let other = try await fixture.end("run small.png --format JPG -o .")
        #expect(other.exit == 0 && fixture.exists("small.jpg"))
    }

    /// Somebody who names no filter at a terminal wants none.
    @Test func withoutFiltersAPictureIsOnlyConverted() async throws {
        #expect(try await fixture.end("run small.png -o out").exit == 0)
        let result = try PNGDecoder.decode(fixture.bytes("out/small.png"))
        #expect(result == (try PNGDecoder.decode(fixture.bytes("small.png"))))
    }

    /// The same text in another folder means other pictures.
    @Test func refusesTheSameManifestInAnotherFolder() async throws {
        for folder in ["x", "y"] {
            try fixture.write("images: [a.png]\n", to: "\(folder)/m.yaml")
            try fixture.copy("small.png", to: "\(folder)/a.png")
        }
        #expect(try await fixture.end("run x/m.yaml -o out").exit == 0)
        try await fixture.end("run y/m.yaml -o out").expect(
            exit: 65,
            errors: """
                darkroom: out has a run of the same manifest in ./x, where its relative paths begin
                darkroom: Name another folder with -o, or remove this one.

                """)
        // The folder was moved.
        try fixture.remove("y")
        try fixture.move("x", to: "y")
        #expect(try await fixture.end("run y/m.yaml -o out").exit == 0)
    }

    @Test func leavesFilesOfOthersAlone() async throws {
        try fixture.write("mine", to: "out/a.png")
        try fixture.write("mine too", to: "out/notes.txt")
        try await fixture.end("run good.yaml -o out").shows(
            exit: 3,
            errors: """
                darkroom: a: out/a.png: another file is in the place of this output; move it away [file-exists]
                darkroom: First move that file away, or give the results other names if another image has it. Then the same command with --retry repeats the failed images.

                """)
        #expect(try fixture.bytes("out/a.png") == Array("mine".utf8))
        try fixture.checkOutcome(and: ["a.png", "notes.txt"])
        try fixture.remove("out/a.png")
        try await fixture.end("run good.yaml -o out --retry").shows(exit: 0)
        try fixture.checkOutcome(and: ["notes.txt"])
    }

    @Test func refusesAManifestInTheWay() async throws {
        try fixture.write("images: []\n", to: "out/manifest.yaml")
        try await fixture.end("run good.yaml -o out").shows(
            exit: 73,
            errors: """
                darkroom: out/manifest.yaml: no run in this folder has written this file
                darkroom: Name another folder with -o. If an earlier run has written it, the hidden folder .darkroom is missing: put it back, or remove the file to make all anew.

                """)
        #expect(try fixture.bytes("out/manifest.yaml") == Array("images: []\n".utf8))
        // It may be the manifest itself.
        try fixture.makeFolder("here")
        for name in ["small.png", "gray.png"] {
            try fixture.copy(name, to: "here/\(name)")
        }
        try fixture.copy("good.yaml", to: "here/manifest.yaml")
        try await fixture.end("run here/manifest.yaml -o here").shows(exit: 0)
        try fixture.checkOutcome(of: "here", and: ["gray.png", "small.png"])
    }

    @Test func noticesAChangedOutput() async throws {
        #expect(try await fixture.end("run good.yaml -o out").exit == 0)
        var content = try fixture.bytes("out/a.png")
        content[40] ^= 1
        for (changed, message) in [
            (Array("changed".utf8), "it has 7 bytes, and the status has \(content.count) bytes"),
            (
                content,
                "its SHA-256 is \(SHA256Digest.hex(of: content).prefix(16))…, not that of the status"
            ),
        ] {
            try fixture.write(changed, to: "out/a.png")
            try await fixture.end("run good.yaml -o out --retry").expect(
                exit: 65,
                errors: """
                    darkroom: out/a.png: it was changed: \(message)
                    darkroom: Move it away. Then the same command makes it again. If there are more, darkroom verify lists them all.

                    """)
            #expect(try fixture.bytes("out/a.png") == changed)
        }
        try fixture.move("out/a.png", to: "mine")
        #expect(try await fixture.end("run good.yaml -o out").exit == 0)
        try fixture.checkOutcome()
    }

    @Test(.enabled(if: geteuid() == 0)) func refusesAFolderThatIsNotItsOwn() async throws {
        try fixture.makeFolder("out")
        chmod(fixture.scratch.path, 0o755)
        try await fixture.end("run good.yaml -o out", user: 65534).expect(
            exit: 73,
            errors:
                "darkroom: out/.darkroom: cannot create folder: Permission denied\n")
        #expect(fixture.list("out") == [])
    }

    /// Links lead anywhere, and a person may read what a person may read.
    @Test func readsAnyFile() async throws {
        let other = try ScratchDirectory()
        try FileManager.default.copyItem(
            at: fixture.url("small.png"), to: other.url.appending(path: "far.png"))
        try fixture.link("link.png", to: other.url.appending(path: "far.png").path)
        try fixture.write(
            "images: {a: link.png, b: \(other.path)/far.png, c: album/../small.png, d: album, e: pipe, f: /proc/self/status}",
            to: "links.yaml")
        mkfifo(fixture.url("pipe").path, 0o600)
        try await fixture.end("run links.yaml -o out").shows(
            exit: 3,
            errors: """
                darkroom: d: album: a folder, not a file [not-a-file]
                darkroom: e: pipe: a fifo, not a file [not-a-file]
                darkroom: f: /proc/self/status: a file of the kernel (/proc, /sys), not a picture [source-forbidden]
                darkroom: First correct the cause. Then the same command with --retry repeats the failed images.

                """)
        #expect(try fixture.status()?.counts.filtered == 3)
    }

    /// As in a daemon.
    @Test func refusesPrivateHosts() async throws {
        try fixture.write("images: [\"http://127.0.0.1:9/a.png\"]\n", to: "private.yaml")
        try await fixture.end("run private.yaml -o out").shows(exit: 3)
        #expect(try fixture.status()?.images.first?.error?.code == "address-forbidden")
    }

    /// Nothing listens at the first address, which may change. The kinds of pictures do not.
    @Test func saysThatARetryMayHelp() async throws {
        try fixture.write(
            "images: [\"http://127.0.0.1:9/a.png\", album/poor.json]\n", to: "away.yaml")
        let result = try await fixture.end(
            "run away.yaml -o out --set downloads.allowNetworks=[127.0.0.0/8] --set downloads.retries=0"
        )
        #expect(result.exit == 3)
        #expect(try fixture.status()?.images.map(\.error?.isTransient) == [true, false])
        result.shows(
            errors: .ends("\ndarkroom: The same command with --retry repeats the failed images.\n"))
    }

    @Test func takesAManifestOnStandardInput() async throws {
        let result = try await fixture.end("run - -o out", input: #"{"images": ["small.png"]}"#)
        Self.timeless(result).expect(exit: 0, output: "manifest: completed, 1 image\n")
        try fixture.checkOutcome()
    }
}
