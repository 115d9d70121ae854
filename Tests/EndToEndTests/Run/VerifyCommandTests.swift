import DarkroomSpool
import Foundation
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
        #expect(try await fixture.darkroom("run", "m.yaml", "-o", "out", "--quiet").exit == 3)
    }

    private func copy(_ name: String, to other: String) throws {
        if fixture.exists(other) { try FileManager.default.removeItem(at: fixture.url(other)) }
        try FileManager.default.copyItem(at: fixture.url(name), to: fixture.url(other))
    }

    @Test(arguments: [[], ["--again"]] as [[String]])
    func findsNothingInAWholeFolder(options: [String]) async throws {
        try await run()
        let before = fixture.identities(of: fixture.list("out"))
        let result = try await ClientProcess.end(
            ["verify", "out"] + options, folder: fixture.scratch.path,
            environment: ["TMPDIR": fixture.scratch.path])
        #expect(result.exit == 0, "\(result)")
        #expect(result.output.hasPrefix("m: 3 outputs, "))
        #expect(result.output.hasSuffix(", all as they were written\n"))
        #expect(result.errors == "")
        #expect(fixture.identities(of: fixture.list("out")) == before)
        #expect(!fixture.list(".").contains { $0.hasPrefix(".darkroom-") })
    }

    @Test func findsEachDifference() async throws {
        try await run()
        try copy("out/c.png", to: "out/a.png")
        try FileManager.default.removeItem(at: fixture.url("out/b.jpg"))
        try fixture.write("x", to: "out/d.png")
        let result = try await fixture.darkroom("verify", "out", "--json")
        #expect(result.exit == 65 && result.errors == "")
        let lines = try result.output.split(separator: "\n").map {
            try #require(
                try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any])
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
        try Data(status.encoded()).write(to: fixture.url("out/status.json"))
        // Another source for a, none for c; b is made from a.
        try copy("alpha.png", to: "small.png")
        try FileManager.default.removeItem(at: fixture.url("gray.png"))
        let result = try await fixture.darkroom("verify", "out", "--again")
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

    @Test func looksAtAnAnswerInTheOutbox() async throws {
        let daemon = try DaemonFixture(pictures: 2)
        let process = try await daemon.run()
        try daemon.drop(
            "holiday", images: [("a", daemon.url("0.png")), ("b", daemon.url("1.png"))])
        _ = try await daemon.spool.finish("holiday", process)
        let again = [
            "verify", "holiday", "--again", "--set", "downloads.allowNetworks=[127.0.0.0/8]",
        ]
        for words in [["verify", "holiday"], again] {
            let result = try await ClientProcess.end(
                words, spool: daemon.spool.path, folder: daemon.documents.path)
            #expect(result.exit == 0, "\(result)")
            #expect(result.output.hasPrefix("holiday: 2 outputs, "), "\(result)")
        }
        let unknown = try await ClientProcess.end(
            ["verify", "nobody"], spool: daemon.spool.path, folder: daemon.documents.path)
        #expect(unknown.exit == 66)
        #expect(
            unknown.errors
                == "darkroom: nobody: there is neither such a folder nor such a batch in \(daemon.spool.path)/outbox\n"
        )
        // Every image of a daemon has the digest of its source too.
        let status = try #require(
            Status(
                decoding: Array(
                    try Data(
                        contentsOf: daemon.spool.root.appending(path: "outbox/holiday/status.json"))
                )))
        #expect(status.images.allSatisfy { $0.sourceSHA256?.count == 64 })
        #expect(try await process.stop() == .exited(0))
    }
}
