import Foundation
import TestSupport
import Testing

@testable import DarkroomCore

/// A run again, after something has happened to its folders: file systems that are not mounted, kills, clocks that were
/// ahead, texts that somebody has written.
@Suite(.fewAtATime) struct RenewalTroubleTests {
    private let fixture: RunFixture

    init() throws {
        fixture = try RunFixture()
    }

    private func end(
        _ line: String, environment: [String: String] = [:]
    ) async throws -> ClientProcess.Result {
        try await ClientProcess.end(
            line.split(separator: " ").map(String.init), folder: fixture.scratch.path,
            environment: environment
        ).replacing(fixture.scratch.path)
    }

    private var results: [String] { fixture.list("out").filter { $0.hasSuffix(".png") } }

    // MARK: File systems that are not mounted

    /// The pictures are on a disk, and a logo elsewhere: what is not mounted is no reason to remove anything.
    @Test(
        .enabled(if: SmallDisk.isAvailable, "only root can mount"),
        arguments: ["run m.yaml", "run p"])
    func prunesNothingOfADiskThatIsAway(command: String) async throws {
        try fixture.shell("mkdir -p p/disk; cp large.png p/large.png")
        try fixture.write(
            """
            filters: [{watermark: {from: logo}}]
            images:
              - {name: logo, source: p/large.png, filters: [], publish: false}
              - {name: a, source: p/disk/a.png}
              - {name: b, source: p/disk/b.png}

            """, to: "m.yaml")
        let disk = fixture.url("p/disk").path
        try #require(mount("tmpfs", disk, "tmpfs", 0, "size=1m") == 0)
        defer { umount2(disk, CInt(MNT_DETACH)) }
        try fixture.shell("cp small.png p/disk/a.png; cp gray.png p/disk/b.png; sleep 2.1")
        #expect(try await end("\(command) -o out").exit == 0)
        let former = results
        #expect(former.contains("a.png") && former.contains("b.png"))
        // A picture that is really gone is told from one that is away.
        try fixture.shell("rm p/disk/b.png")
        let pruned = try await end("\(command) -o out --prune")
        #expect(pruned.output.contains("1 output removed"), "\(pruned)")
        #expect(results == former.filter { $0 != "b.png" })
        try #require(umount(disk) == 0)
        let away = try await end("\(command) -o out --prune")
        #expect(!away.output.contains("removed"), "\(away)")
        #expect(
            away.errors.contains("is a file system not mounted?")
                || away.errors.contains("cannot be read, and the results stand"), "\(away)")
        #expect(results == former.filter { $0 != "b.png" })
    }

    // MARK: Kills

    /// A kill between a file and its folders leaves no folder for ever.
    @Test func removesEmptyFoldersAfterAKill() async throws {
        let image = "{name: a, source: small.png, output: {name: g/h/x.png}}"
        try fixture.write("images: [gray.png, \(image)]\n", to: "m.yaml")
        #expect(try await end("run m.yaml -o out").exit == 0)
        try fixture.write("images: [gray.png]\n", to: "m.yaml")
        let killed = try await end(
            "run m.yaml -o out --prune", environment: ["DARKROOM_FAULT": "former-removed"])
        #expect(killed.exit != 0)
        #expect(fixture.list("out").contains("g"))
        #expect(try await end("run m.yaml -o out --prune").exit == 0)
        #expect(!fixture.list("out").contains("g"))
        #expect(try await end("verify out").exit == 0)
    }

    // MARK: Times

    /// An end in the future would make all outputs seem older.
    @Test func readsOutputsIfTheClockWasAhead() async throws {
        try fixture.write("images: [gray.png]\n", to: "m.yaml")
        #expect(try await end("run m.yaml -o out").exit == 0)
        try fixture.shell(
            #"sed -i -E 's/("finished" ?: ?")[0-9]{4}/\12199/' out/status.json; grep -q 2199 out/status.json"#
        )
        try fixture.shell(
            "printf '\\377' | dd of=out/gray.png bs=1 seek=60 conv=notrunc status=none")
        for command in ["run", "plan"] {
            let result = try await end("\(command) m.yaml -o out")
            #expect(
                result.exit == 65 && result.errors.contains("gray.png: it was changed"), "\(result)"
            )
        }
    }

    /// A text that is no time ends in no file of the next run.
    @Test(arguments: ["finished", "started", "received"])
    func takesNoTextForATime(key: String) async throws {
        try fixture.write("images: [gray.png]\n", to: "m.yaml")
        #expect(try await end("run m.yaml -o out").exit == 0)
        let text = String(repeating: "x", count: 5000)
        try fixture.shell(
            #"sed -i -E 's/("\#(key)" ?: ?")[^"]*/\1\#(text)/' out/status.json; grep -q xxxx out/status.json"#
        )
        try fixture.write("filters: [flip]\nimages: [gray.png]\n", to: "m.yaml")
        let result = try await end("run m.yaml -o out")
        #expect(result.exit == 0 && result.output.contains("; 1 made, 0 as"), "\(result)")
        #expect(
            try !String(decoding: fixture.bytes("out/progress.json"), as: UTF8.self).contains(
                "xxxx"))
    }
}
