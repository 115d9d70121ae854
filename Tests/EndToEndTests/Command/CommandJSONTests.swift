import Foundation
import TestSupport
import Testing

/// What programs read (`--json`): all of it is on standard output, and the last object is complete.
@Suite(.fewAtATime) struct CommandJSONTests {
    // MARK: wait, make, filter

    @Test func waitTellsHowEachBatchEnded() async throws {
        let (fixture, daemon) = try await DaemonFixture.running(
            pictures: 1, ["downloads.retries": "0"])
        try fixture.drop("fine", images: [("a", fixture.url("0.png"))])
        try fixture.drop("half", images: [("a", fixture.url("none.png"))])
        try fixture.spool.drop("later.hold", "")
        try fixture.drop("later", images: [("a", fixture.url("0.png"))])
        _ = try await fixture.spool.finish("fine", daemon)
        _ = try await fixture.spool.finish("half", daemon)
        _ = try await fixture.spool.waitForStatus(of: "later", daemon, .held)
        func counts(_ change: String) -> String {
            let all = [
                "cancelled", "downloaded", "downloading", "failed", "filtered", "filtering", "new",
            ].map { #""\#($0)":\#($0 == change ? 1 : 0)"# }
            return "{\(all.joined(separator: ",")),\"total\":1,\"warnings\":0}"
        }
        try await fixture.client(
            "wait", "fine", "half", "none", "later", "--timeout", "0", "--json"
        ).expect(
            exit: 75,
            output: """
                {"counts":\(counts("filtered")),"id":"fine","state":"completed","type":"batch"}
                {"counts":\(counts("failed")),"id":"half","state":"completedWithErrors","type":"batch"}
                {"code":"no-such-batch","id":"none","message":"none: there is no such batch","remedy":"darkroom list --all shows the IDs of all batches.","retryable":false,"type":"problem"}
                {"code":"not-ended","id":"later","message":"later has not ended yet","retryable":true,"type":"problem"}
                {"batches":4,"exit":75,"type":"summary"}

                """,
            errors: """
                darkroom: none: there is no such batch
                darkroom: darkroom list --all shows the IDs of all batches.
                darkroom: later has not ended yet

                """)
        #expect(try await daemon.stop() == .exited(0))
    }

    @Test func makeAndFilterTellWhatTheyMade() async throws {
        let fixture = try RunFixture()
        var result = try await fixture.darkroom(
            "make", "small.png", "gray.png", "--watermark", "alpha.png", "-o", "m.yaml", "--json")
        let size = try fixture.bytes("m.yaml").count
        result.expect(
            exit: 0,
            output:
                #"{"bytes":\#(size),"exit":0,"images":3,"output":"m.yaml","type":"make"}"#
                + "\n")
        for (words, format) in [(["-o", "out.jpg"], "jpeg"), (["-o", "out.png"], "png")] {
            result = try await ClientProcess.end(
                ["filter", "small.png", "--filter", "resize:width=20,height=10", "--json"] + words,
                folder: fixture.scratch.path)
            let size = try fixture.bytes(words[1]).count
            result.expect(
                exit: 0,
                output:
                    #"{"bytes":\#(size),"exit":0,"format":"\#(format)","height":10,"output":"\#(words[1])","type":"filter","width":13}"#
                    + "\n")
        }
    }

    /// A picture without its end, which is kept.
    @Test func filterTellsOfWarnings() async throws {
        let fixture = try RunFixture()
        let whole = try fixture.bytes("small.png")
        try Data(whole.dropLast(12)).write(to: fixture.url("cut.png"))
        let result = try await fixture.darkroom(
            "filter", "cut.png", "--damaged", "keep", "-o", "out.png", "--json")
        let object = try jsonObject(result.output.utf8)
        let warning = "damaged behind the last row: the file ends too early"
        #expect(result.exit == 0, "\(result)")
        #expect(result.errors == "cut.png: warning: \(warning)\n")
        #expect(
            object["warnings"] as? [[String: String]]
                == [["picture": "cut.png", "message": warning]], "\(result)")
    }

    /// Standard output has room for one thing only.
    @Test func makeAndFilterNeedAFile() async throws {
        let fixture = try RunFixture()
        let start = "--json needs -o FILE: without it, standard output has the "
        for (words, end) in [
            (["make", "small.png"], "manifest, which is JSON"),
            (["filter", "small.png"], "picture"),
            (["filter", "small.png", "-o", "-"], "picture"),
        ] {
            let sentence = start + end
            let result = try await fixture.darkroom(words + ["--json"])
            #expect(
                result.output
                    == #"{"code":"usage","exit":64,"message":"\#(sentence)","retryable":false,"type":"error"}"#
                    + "\n")
            #expect(result.exit == 64 && result.errors.hasPrefix("Error: \(sentence)\n"))
        }
        // The pipe of standard output under another name.
        let shell = try await ClientProcess.end(
            ["filter", "small.png", "-o", "/dev/fd/3", "--json"], folder: fixture.scratch.path,
            before: "mkfifo p; cat p >seen & exec >p 3>&1")
        #expect(
            shell.errors
                == "darkroom: --json needs -o FILE: without it, standard output has the picture\n")
        #expect(shell.exit == 64)
    }

    @Test(arguments: [
        ["make", "0.png", "-o", "m.yaml"], ["filter", "0.png", "-o", "a.png"],
        ["run", "0.png", "-o", "out"],
    ])
    func aManifestThatIsRefusedIsAnError(words: [String]) async throws {
        let (fixture, daemon) = try await DaemonFixture.running(pictures: 1)
        let result = try await fixture.begin(words + ["--recipe", "none", "--json"]).result()
        let object = try jsonObject(result.output.utf8)
        #expect(result.exit == 65 && object["exit"] as? Int == 65, "\(result)")
        #expect(object["code"] as? String == "manifest-rejected", "\(result)")
        #expect((object["message"] as? String)?.hasSuffix(": 1 error") == true, "\(result)")
        let errors = try #require(object["errors"] as? [[String: Any]])
        #expect(errors.count == 1 && errors[0]["code"] as? String == "unknown-recipe", "\(result)")
        #expect(result.errors.hasSuffix("[unknown-recipe]\n"), "\(result)")
        #expect(try await daemon.stop() == .exited(0))
    }

    // MARK: submit

    @Test func submitTellsOfEachProblem() async throws {
        let (fixture, daemon) = try await DaemonFixture.running(pictures: 1)
        let picture = fixture.url("0.png")
        try fixture.write("images: [\(picture)]\n", to: "good.yaml")
        try fixture.write("images: [\(picture)]\nquality: 3\n", to: "wrong.yaml")
        try await fixture.client("submit", "good.yaml", "wrong.yaml", "--json").expect(
            exit: 65,
            output: """
                {"errors":[{"code":"unknown-key","column":1,"line":2,"message":"unknown key ‘quality’","path":"quality"}],"file":"wrong.yaml","type":"manifest"}
                {"exit":65,"submitted":0,"type":"summary"}

                """,
            errors: "wrong.yaml:2:1: quality: unknown key ‘quality’ [unknown-key]\n")
        // What to know about a manifest stands in its object.
        try fixture.write(
            "images: [{source: '\(picture)', filters: [{thumbnail: {size: 100}}]}]\n",
            to: "cut.yaml")
        let told = try await fixture.client("submit", "cut.yaml", "--json")
        let lines = try told.objects()
        try #require(lines.count == 2 && told.exit == 0, "\(told)")
        let warnings = try #require(lines[0]["warnings"] as? [String])
        #expect(
            told.errors
                == warnings.map { "cut.yaml: warning: \($0)\n" }.joined() && !warnings.isEmpty)
        #expect(try await daemon.stop() == .exited(0))
    }

    /// The second manifest is larger than a file may be.
    @Test func submitTellsWhatIsNotSubmitted() async throws {
        let (fixture, daemon) = try await DaemonFixture.running(pictures: 1)
        try fixture.write("images: [\(fixture.url("0.png"))]\n", to: "a.yaml")
        let long = String(repeating: "#", count: 4096)
        try fixture.write("images: [\(fixture.url("0.png"))]\n\(long)\n", to: "b.yaml")
        let result = try await fixture.client(
            "submit", "a.yaml", "b.yaml", "--json", before: "ulimit -f 4")
        let lines = try result.objects()
        try #require(lines.count == 3 && result.exit == 74, "\(result)")
        #expect(lines.map { $0["type"] as? String } == ["problem", "submission", "summary"])
        #expect(lines[0]["file"] as? String == "b.yaml")
        #expect(lines[0]["code"] as? String == "file-too-large")
        #expect(lines[0]["message"].map { "darkroom: \($0)\n" } == result.errors, "\(result)")
        #expect(lines[2]["submitted"] as? Int == 1 && lines[2]["exit"] as? Int == 74)
        #expect(try await daemon.stop() == .exited(0))
    }
}
