import Foundation
import TestSupport
import Testing

/// Standard output that cannot be written, or that nobody reads any more.
@Suite(.fewAtATime) struct OutputTroubleTests {
    private static let message =
        "darkroom: The output cannot be written: No space left on device.\n"

    @Test(arguments: [
        ["make", "a.png"], ["check", "good.json"], ["check", "good.json", "--json"],
    ]) func saysThatTheOutputCannotBeWritten(words: [String]) async throws {
        let scratch = try ScratchDirectory()
        try scratch.addPicture("a.png")
        try scratch.write(#"{"images": ["http://h/a.png"]}"#, "good.json")
        try await ClientProcess.end(
            words, folder: scratch.path, before: "exec >/dev/full"
        ).expect(exit: 74, errors: Self.message)
    }

    /// What is submitted is said on standard error.
    @Test func namesWhatIsSubmitted() async throws {
        let (fixture, daemon) = try await DaemonFixture.running(pictures: 1)
        for name in ["x", "y"] {
            try fixture.write("images: {a: \(fixture.url("0.png"))}\n", to: "\(name).yaml")
        }
        for (words, names) in [
            (["x.yaml"], "x"), (["x.yaml", "--json"], "x-2"),
            (["y.yaml", "x.yaml", "--wait"], "y and x.yaml"),
        ] {
            let result = try await fixture.begin(["submit"] + words, before: "exec >/dev/full")
                .result()
            result.expect(
                exit: 74,
                errors: Self.message + "darkroom: Submitted: \(names).\n")
        }
        for words in [["list", "--all"], ["remove", "y"], ["status"]] {
            try await fixture.begin(words, before: "exec >/dev/full").result().expect(
                exit: 74, errors: Self.message)
        }
        #expect(try await daemon.stop() == .exited(0))
    }

    /// As other programs: SIGPIPE ends it, without a word.
    @Test(arguments: ["make a.png", "check --sources --json a.png"])
    func endsQuietlyWithoutAReader(words: String) async throws {
        let scratch = try ScratchDirectory()
        try scratch.addPicture("a.png")
        // The pipe has no reader any more when the program begins.
        let result = try await ClientProcess.end(
            words.split(separator: " ").map(String.init), folder: scratch.path,
            before: "mkfifo p; exec 8<>p; exec 1>p; exec 8<&-")
        #expect(result.exit == 141 && result.output == "" && !result.errors.contains("output"))
    }
}
