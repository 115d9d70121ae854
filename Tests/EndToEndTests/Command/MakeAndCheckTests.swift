import Foundation
import TestSupport
import Testing

/// `darkroom make` and `darkroom check`, which need no daemon: command lines with all that they print.
@Suite(.fewAtATime) struct MakeAndCheckTests {
    private let scratch: ScratchDirectory

    init() throws {
        scratch = try ScratchDirectory()
        let files = [
            "a.jpg": "", "with space.jpg": "", "logo.png": "",
            "good.yaml": "images: [a.png, b.png]\n", "good.text": "images: [a.png]\n",
            "list.csv": "source,name\na.jpg,a\n", "list.txt": "a.jpg\nlogo.png\n",
            "bad.json":
                "{\"images\": [{\"source\": \"a.png\", \"nmae\": 1}],\n \"priority\": \"hihg\"}",
        ]
        for (name, text) in files { try scratch.write(text, name) }
    }

    private func run(
        _ arguments: [String], input: String = "", before: String = ":"
    ) async throws -> ClientProcess.Result {
        try await ClientProcess.end(
            arguments, spool: scratch.path + "/none", folder: scratch.path, input: input,
            before: before
        ).replacing(scratch.path)
    }

    struct Line: Sendable, CustomTestStringConvertible {
        let words: [String]
        let exit: Int32
        var output = ""
        var errors = ""
        var input = ""

        init(
            _ line: String, _ exit: Int32, _ output: String = "", errors: String = "",
            input: String = ""
        ) {
            words = line.split(separator: " ").map { String($0).replacing("_", with: " ") }
            self.exit = exit
            self.output = output
            self.errors = errors
            self.input = input
        }

        var testDescription: String { words.joined(separator: " ") }
    }

    static let lines = [
        Line(
            "make a.jpg with_space.jpg --filter sepia=0.8", 0,
            """
            {
              "filters": [
                {"sepia": {"intensity": 0.8}}
              ],
              "images": [
                {"name": "a", "source": "./a.jpg"},
                {"name": "with space", "source": "./with space.jpg"}
              ]
            }

            """),
        Line(
            "make a.jpg --watermark logo.png --format jpg --quality 80 --priority high", 0,
            """
            {
              "priority": "high",
              "filters": [
                {"watermark": {"from": "logo"}}
              ],
              "output": {"format": "jpeg", "quality": 80},
              "images": [
                {"name": "logo", "source": "./logo.png", "filters": [], "publish": false},
                {"name": "a", "source": "./a.jpg"}
              ]
            }

            """),
        Line(
            "make none.jpg", 66,
            errors: "darkroom: none.jpg: cannot find it: No such file or directory\n"),
        Line(
            "make a.jpg --filter sepia 0.8", 66,
            errors: """
                darkroom: 0.8: cannot find it: No such file or directory
                darkroom: Did you mean --filter sepia=0.8?

                """),
        Line("check good.yaml", 0, "good.yaml: 2 images\n"),
        Line("check -", 0, "-: 1 image\n", input: "images: [http://h/a.png]"),
        Line("check -", 0, "-: 1 image\n", input: #"{"images": ["a.png"]}"#),
        Line(
            "check -", 0, "-: 1 image\n",
            input: "<plist><dict><key>a</key><string>http://h/a.png</string></dict></plist>"),
        Line("check -", 65, errors: "-:1:1: the file is empty [syntax]\n"),
        Line(
            "check good.yaml bad.json", 65, "good.yaml: 2 images\n",
            errors: """
                bad.json:1:33: images[0].nmae: unknown key ‘nmae’; did you mean ‘name’? [unknown-key]
                bad.json:2:14: priority: ‘priority’ must be veryLow, low, normal, high or veryHigh, found ‘hihg’; write ‘"priority": "high"’; did you mean ‘high’? [unknown-value]

                """),
        Line(
            "check none.yaml", 66,
            errors: "darkroom: none.yaml: cannot open: No such file or directory\n"),
        Line(
            "check a.jpg", 65,
            errors: """
                darkroom: a.jpg: the name of a manifest ends in .json, .yaml, .yml or .plist
                darkroom: For pictures, add --sources.

                """
        ),
        Line(
            "check list.csv", 65,
            errors: """
                darkroom: list.csv: the name of a manifest ends in .json, .yaml, .yml or .plist
                darkroom: For a list of pictures: darkroom check --sources --from list.csv

                """
        ),
        Line(
            "check --json list.txt", 65,
            """
            {"file":"list.txt","message":"list.txt: the name of a manifest ends in .json, .yaml, .yml or .plist","remedy":"For a list of pictures: darkroom check --sources --from list.txt","type":"manifest"}
            {"exit":65,"manifests":1,"rejected":1,"type":"summary"}

            """),
        Line(
            "check good.text", 65,
            errors:
                "darkroom: good.text: the name of a manifest ends in .json, .yaml, .yml or .plist\n"
        ),
        Line(
            "check --json good.yaml bad.json none.yaml", 66,
            """
            {"file":"good.yaml","images":2,"type":"manifest"}
            {"errors":[{"code":"unknown-key","column":33,"line":1,"message":"unknown key ‘nmae’","path":"images[0].nmae","suggestion":"name"},{"code":"unknown-value","column":14,"line":2,"message":"‘priority’ must be veryLow, low, normal, high or veryHigh, found ‘hihg’; write ‘\\"priority\\": \\"high\\"’","path":"priority","suggestion":"high"}],"file":"bad.json","type":"manifest"}
            {"file":"none.yaml","message":"none.yaml: cannot open: No such file or directory","type":"manifest"}
            {"exit":66,"manifests":3,"rejected":2,"type":"summary"}

            """),
    ]

    @Test(arguments: lines) func prints(line: Line) async throws {
        try await run(line.words, input: line.input).expect(
            exit: line.exit, output: line.output, errors: line.errors)
    }

    @Test(arguments: [
        "--format jpeg --max-bytes 204800 --ssim 0.98":
            #"{"format": "jpeg", "maxBytes": "200KiB", "target": {"ssim": 0.98}}"#,
        "--format source --quality 80 --compression lzw":
            #"{"format": "source", "quality": 80, "compression": "lzw"}"#,
    ]) func writesTheOutput(options: String, output: String) async throws {
        let words = options.split(separator: " ").map(String.init)
        try await run(["make", "a.jpg"] + words).expect(
            exit: 0,
            output: """
                {
                  "filters": [],
                  "output": \(output),
                  "images": [
                    {"name": "a", "source": "./a.jpg"}
                  ]
                }

                """)
    }

    /// What is wrong with a command line, which ends with 64.
    static let refusals = [
        "make a.jpg -o a.txt": "-o a.txt: the name must end in .json, .yaml or .yml",
        "make a.jpg --filter sepia=0.8,thumbnail=1600":
            "--filter sepia=0.8,thumbnail=1600: ‘thumbnail’ is a filter, too; give each filter its own --filter",
        "make a.jpg --quality 80":
            "--quality is for JPEG, WebP, AVIF and JPEG XL: add --format jpeg",
        "make a.jpg --format png --lossless":
            "--lossless is for WebP, AVIF and JPEG XL: add --format webp",
        "make a.jpg --format webp --effort 11": "--effort 11: write a number from 0 to 10",
        "make a.jpg --max-bytes 9000": "--max-bytes is for JPEG, WebP and AVIF: add --format jpeg",
        "make a.jpg --format jpeg --max-bytes 200kb":
            "--max-bytes 200kb: write a number of bytes such as 200000, 200KiB or 1.5MiB; did you mean 200KiB?",
        "make a.jpg --format webp --ssim 98":
            "--ssim 98.0: write a number from 0.5 to 1, such as 0.98",
        "make a.jpg --format webp --ssim 0.9 --lossless":
            "--ssim chooses a quality, and --lossless has none",
        "make a.jpg --format avif --depth 16": "--depth 16: write 8, 10 or 12",
        "make a.jpg --format source --depth 9": "--depth 9: write 8, 10, 12 or 16",
        "make a.jpg --format source --compression zip":
            "--compression zip: unknown: write fast, balanced or small",
        "make a.jpg --format avif --chroma 4:2:2": "--chroma 4:2:2: unknown; did you mean ‘4:2:0’?",
        "make a.jpg --format tiff --compression small":
            "--compression small: unknown: write none, deflate or lzw",
        "make a.jpg --format jpeg --quality 101": "--quality 101: write a number from 1 to 100",
        "make a.jpg --format jepg": "--format jepg: unknown; did you mean ‘jpeg’?",
        "make a.jpg --format heic":
            "--format heic: darkroom does not write HEIC: write png, jpeg, webp, avif, tiff, jxl or source",
        "make a.jpg --priority urgent":
            "--priority urgent: unknown: write veryLow, low, normal, high or veryHigh",
        "make good.yaml": "good.yaml: it is a manifest, not a picture",
        "check --from list.csv good.yaml": "--from is for pictures; to check them, add --sources",
    ]

    @Test(arguments: refusals) func refuses(line: String, error: String) async throws {
        try await run(line.split(separator: " ").map(String.init)).expect(
            exit: 64, errors: "darkroom: \(error)\n")
    }

    @Test func writesIntoAFile() async throws {
        let made = try await run(["make", "a.jpg", "--filter", "mono", "-o", "made.yaml"])
        made.expect(exit: 0)
        let text = try String(contentsOfFile: scratch.path + "/made.yaml", encoding: .utf8)
        #expect(
            text.replacing(scratch.path, with: ".")
                == "filters:\n  - mono\nimages:\n  - {name: a, source: ./a.jpg}\n")
        #expect(try await run(["check", "made.yaml"]).output == "made.yaml: 1 image\n")
    }

    /// Swift would change the argument, and no manifest can name such a file.
    @Test(arguments: ["make", "submit"]) func refusesNamesThatAreNotUTF8(verb: String) async throws
    {
        try await run(
            [verb], before: #"name=$(printf 'caf\351.jpg'); touch "$name"; set -- "$@" "$name""#
        ).expect(
            exit: 65,
            errors: """
                darkroom: caf\u{FFFD}.jpg: the name is not UTF-8
                darkroom: A manifest is UTF-8 text and cannot name such a file. Rename it, or give it a second name with ln.

                """)
    }

    @Test(arguments: [
        "submit", "make", "check", "wait", "cancel", "hold", "release", "retry", "remove",
    ])
    func needsAnArgument(verb: String) async throws {
        let nothing = try await run([verb])
        #expect(nothing.exit == 64 && nothing.output == "")
    }
}
