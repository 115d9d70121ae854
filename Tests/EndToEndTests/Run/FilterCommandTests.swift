import Foundation
import TestSupport
import Testing

/// `darkroom filter`, in pipes and with files.
@Suite(.fewAtATime) struct FilterCommandTests {
    private let fixture: RunFixture

    init() throws {
        fixture = try RunFixture()
    }

    /// Runs a line of a shell in which `filter` is the command.
    private func shell(_ line: String) async throws -> ClientProcess.Result {
        let program = try ClientProcess.program()
        return try await fixture.end(
            "--version", before: "filter() { '\(program)' filter \"$@\"; }; \(line); exit $?")
    }

    /// A run is the reference.
    @Test(arguments: [
        "--filter resize=20", "--filter sepia=0.8 --format jpeg --quality 70", "",
        "--filter flip --watermark alpha.png",
    ]) func writesWhatARunWrites(options: String) async throws {
        let words = options.split(separator: " ").map(String.init)
        try await fixture.end(["run", "small.png"] + words + ["-o", "out", "--quiet"]).shows(
            exit: 0)
        let name = options.contains("jpeg") ? "small.jpg" : "small.png"
        let expected = try fixture.bytes("out/\(name)")
        for line in [
            "filter \(options) <small.png >r1", "cat small.png | filter \(options) - | cat >r2",
            "filter small.png \(options) -o r3", "filter \(options) -o r4 <small.png",
        ] {
            let result = try await shell(line)
            result.expect(exit: 0)
        }
        for result in ["r1", "r2", "r3", "r4"] {
            #expect(try fixture.bytes(result) == expected, "\(result)")
        }
        #expect(fixture.list("").filter { $0.hasPrefix(".darkroom") } == [])
    }

    struct Line: Sendable, CustomTestStringConvertible {
        let line: String
        let exit: Int32
        let errors: String

        init(_ line: String, _ exit: Int32, _ errors: String) {
            self.line = line
            self.exit = exit
            self.errors = errors
        }

        var testDescription: String { line }
    }

    static let failures = [
        Line(
            "echo text | filter >r", 3,
            "darkroom: standard input: this is plain text, not a picture [not-a-picture]\n"),
        Line(
            "filter <cut.png -o r", 3,
            "darkroom: standard input: reading row 1 of 48: the file ends too early [png-truncated]\n"
        ),
        Line(
            "filter none.png -o r", 66,
            "darkroom: none.png: cannot find it: No such file or directory\n"),
        Line(
            "filter small.png --filter sepai >r", 64,
            "darkroom: --filter sepai: there is no filter ‘sepai’; did you mean ‘sepia’?\n"),
        Line(
            "filter http://h/a.png >r", 64,
            "darkroom: http://h/a.png: filter reads files. darkroom run downloads pictures.\n"),
        Line(
            "filter small.png -o none/r", 73,
            "darkroom: none/r: creating the file: No such file or directory\n"),
        Line(
            "filter small.png -o .", 73, "darkroom: -o .: it is a folder. Name a file in it\n"),
        Line(
            "filter small.png -o none/", 73,
            "darkroom: -o none/: it is a folder. Name a file in it\n"),
        Line(
            "filter small.png -o r.gif", 64,
            "darkroom: -o r.gif: results are PNG, JPEG, WebP, AVIF, TIFF or JPEG XL. Let the name end in .png, .jpg, .webp, .avif, .tif or .jxl, or add --format\n"
        ),
        Line(
            "filter small.png --set limits.memory=1 >r", 3,
            "darkroom: small.png: filtering it takes up to "),
        Line(
            "filter small.png --set downloads.maxBytes=100 >r", 3,
            "darkroom: small.png: the file has more than the limit of 100 bytes [too-large]\n"),
        Line(
            "filter small.png >&-", 74,
            "darkroom: The output cannot be written: Bad file descriptor.\n"),
        Line(
            "filter /proc/self/mem >r", 3,
            "darkroom: /proc/self/mem: a file of the kernel (/proc, /sys), not a picture [source-forbidden]\n"
        ),
        Line(
            "filter <. >r", 3, "darkroom: standard input: a folder, not a file [not-a-file]\n"),
        Line(
            "filter </dev/zero >r --set downloads.maxBytes=100000", 3,
            "darkroom: standard input: the file has more than the limit of 100000 bytes (97.7 KiB) [too-large]\n"
        ),
        Line(
            "filter small.png --jobs 0 >r", 64, "Error: --jobs 0: write a number from 1 to 1024\n"),
    ]

    /// The extension of the result's file chooses the format, unless an option does.
    @Test(arguments: [
        ("-o r.jpg", "jpeg"), ("-o r.JPEG", "jpeg"), ("-o r.png", "png"), ("-o r", "png"),
        ("-o r.jpg --format png", "png"), ("-o r --format JPEG", "jpeg"),
        ("-o r.webp --format jpg", "jpeg"), ("-o r.jpg --quality 50", "jpeg"),
        ("-o - >r", "png"),
    ]) func theEndingChoosesTheFormat(options: String, format: String) async throws {
        try await shell("filter small.png \(options)").expect(exit: 0)
        let name = try #require(fixture.list("").first { $0.hasPrefix("r") && !$0.hasSuffix("s") })
        let start: [UInt8] = format == "jpeg" ? [0xFF, 0xD8, 0xFF] : [0x89, 0x50]
        #expect(try fixture.bytes(name).starts(with: start), "\(name)")
    }

    /// A device or a pipe gets the picture and stays what it is.
    @Test func writesIntoAPipe() async throws {
        try await shell(
            "mkfifo p; cat p >r & filter small.png -o p; code=$?; wait; test -p p || exit 1; filter small.png -o /dev/null && test -c /dev/null; exit $code"
        ).expect(exit: 0)
        #expect(try await shell("filter small.png >r2").exit == 0)
        #expect(try fixture.bytes("r") == fixture.bytes("r2"))
    }

    /// Nobody has to clean up after it.
    @Test func aKillLeavesNoFile() async throws {
        let client = try ClientProcess(
            ["filter", "-o", "r"], folder: fixture.scratch.path, before: "mkfifo p; exec 0<>p")
        // The file of the result exists and has no name.
        let files = "/proc/\(client.identifier)/fd"
        try await eventually("an open file without a name", context: { client.text("errors") }) {
            let open = (try? FileManager.default.contentsOfDirectory(atPath: files)) ?? []
            let paths = open.compactMap {
                try? FileManager.default.destinationOfSymbolicLink(atPath: "\(files)/\($0)")
            }
            return paths.contains {
                $0.hasPrefix(fixture.scratch.path) && $0.hasSuffix(" (deleted)")
            } ? true : nil
        }
        client.send(SIGKILL)
        _ = try await client.result()
        #expect(fixture.list("").filter { $0.hasPrefix(".") || $0 == "r" } == [])
    }

    /// No part of a picture is left.
    @Test(arguments: failures) func aFailureLeavesNothing(line: Line) async throws {
        try fixture.write(fixture.bytes("small.png").prefix(60), to: "cut.png")
        try await shell(line.line).shows(
            exit: line.exit, output: .nothing, errors: .begins(line.errors))
        if line.line.contains("-o r") {
            #expect(!fixture.exists("r"))
        } else {
            // The shell has created it.
            let bytes = fixture.exists("r") ? try fixture.bytes("r") : []
            #expect(bytes == [])
        }
        #expect(fixture.list("").filter { $0.hasPrefix(".darkroom") } == [])
    }

    @Test func keepsTheFormerResultOnFailure() async throws {
        try fixture.write("former", to: "r")
        #expect(try await shell("echo text | filter -o r").exit == 3)
        #expect(try fixture.bytes("r") == Array("former".utf8))
        #expect(try await shell("filter small.png -o r").exit == 0)
        #expect(try fixture.bytes("r").starts(with: [0x89, 0x50]))
    }

    @Test func endsQuietlyWithoutAReader() async throws {
        try await shell("mkfifo p; exec 8<>p; exec 1>p; exec 8<&-; filter large.png").shows(
            exit: 141, errors: .nothing)
    }

    @Test func refusesTerminals() async throws {
        let terminal = try PseudoTerminal(width: 80, height: 24)
        let client = try ClientProcess(
            ["filter", "small.png"], folder: fixture.scratch.path, terminal: terminal)
        #expect(try await client.result().exit == 64)
        #expect(
            terminal.text.contains(
                "darkroom: Standard output is a terminal. Name a file with -o, or write\r\n  >picture.png"
            ), "\(terminal.text)")
        let other = try PseudoTerminal(width: 80, height: 24)
        let reader = try ClientProcess(
            ["filter", "-o", "r"], folder: fixture.scratch.path, terminal: other)
        #expect(try await reader.result().exit == 64)
        #expect(other.text.contains("darkroom: Standard input is a terminal."), "\(other.text)")
    }

    @Test func saysThatTheDiskIsFull() async throws {
        try await shell("filter small.png >/dev/full").expect(
            exit: 74,
            errors: "darkroom: The output cannot be written: No space left on device.\n")
    }
}
