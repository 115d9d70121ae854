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
        #expect(try await fixture.end("\(command) -o out").exit == 0)
        let former = results
        #expect(former.contains("a.png") && former.contains("b.png"))
        // A picture that is really gone is told from one that is away.
        try fixture.shell("rm p/disk/b.png")
        let pruned = try await fixture.end("\(command) -o out --prune")
        #expect(pruned.output.contains("1 output removed"), "\(pruned)")
        #expect(results == former.filter { $0 != "b.png" })
        try #require(umount(disk) == 0)
        let away = try await fixture.end("\(command) -o out --prune")
        #expect(!away.output.contains("removed"), "\(away)")
        #expect(
            away.errors.contains("is a file system not mounted?")
                || away.errors.contains("cannot be read, and the results stand"), "\(away)")
        #expect(results == former.filter { $0 != "b.png" })
    }

    /// The same for shards: their merge tells such files, and removes them when the disk is there again and has no such
    /// pictures.
    @Test(
        .enabled(if: SmallDisk.isAvailable, "only root can mount"),
        arguments: ["run p", "run m.yaml"])
    func aMergePrunesNothingOfADiskThatIsAway(command: String) async throws {
        try fixture.shell("mkdir -p tmpfs p/disk; cp large.png p/large.png")
        func write(_ images: String) throws {
            let all = "images:\n- {name: large, source: p/large.png}\n" + images
            try fixture.write(all, to: "m.yaml")
        }
        try write("- {name: a, source: p/disk/a.png}\n- {name: b, source: p/disk/b.png}\n")
        let (tmpfs, disk) = (fixture.url("tmpfs").path, fixture.url("p/disk").path)
        try #require(mount("tmpfs", tmpfs, "tmpfs", 0, "size=1m") == 0)
        defer { umount2(tmpfs, CInt(MNT_DETACH)) }
        try #require(mount(tmpfs, disk, nil, UInt(MS_BIND), nil) == 0)
        defer { umount2(disk, CInt(MNT_DETACH)) }
        func night() async throws {
            for number in 1...2 {
                try await fixture.end("\(command) -o out --shard \(number)/2").shows(exit: 0)
            }
        }
        try fixture.shell("cp small.png p/disk/a.png; cp gray.png p/disk/b.png; sleep 2.1")
        try await night()
        #expect(try await fixture.end("merge out").exit == 0)
        #expect(results == ["a.png", "b.png", "large.png"])
        // A picture that is really gone is told from one that is away. A manifest without it says so as a folder does.
        try fixture.shell("rm p/disk/b.png")
        try write("- {name: a, source: p/disk/a.png}\n")
        try await night()
        try await fixture.end("merge out --prune").shows(exit: 0, output: .has("1 output removed"))
        #expect(results == ["a.png", "large.png"])
        try #require(umount(disk) == 0)
        try write("")
        try await night()
        for _ in 0..<2 {
            try await fixture.end("merge out --prune").shows(
                exit: 0, output: .lacks("removed"),
                errors:
                    "darkroom: 1 file of an earlier run stays, because its source cannot be looked for: is a file system not mounted? a.png\n"
            )
        }
        try await fixture.end("merge out --prune --json").shows(
            exit: 0, output: .has(#""away":["a.png"]"#, #""withoutImage":[]"#))
        #expect(results == ["a.png", "large.png"])
        try #require(mount(tmpfs, disk, nil, UInt(MS_BIND), nil) == 0)
        try fixture.shell("rm p/disk/a.png")
        let last = try await fixture.end("merge out --prune")
        #expect(last.output.contains("1 output removed") && last.errors == "", "\(last)")
        #expect(results == ["large.png"])
    }

    // MARK: Kills

    /// A kill between a file and its folders leaves no folder for ever.
    @Test(arguments: [false, true]) func removesEmptyFoldersAfterAKill(isDivided: Bool) async throws
    {
        func night() async throws {
            for number in 1...2 where isDivided {
                try await fixture.end("run m.yaml -o out --shard \(number)/2").shows(exit: 0)
            }
        }
        let prune = isDivided ? "merge out --prune" : "run m.yaml -o out --prune"
        let image = "{name: a, source: small.png, output: {name: g/h/x.png}}"
        try fixture.write("images: [gray.png, \(image)]\n", to: "m.yaml")
        try await night()
        #expect(try await fixture.end(prune).exit == 0)
        try fixture.write("images: [gray.png]\n", to: "m.yaml")
        try await night()
        try await fixture.end(prune, environment: ["DARKROOM_FAULT": "former-removed"]).shows(
            exit: 137)
        #expect(fixture.list("out/g") == ["h"] && fixture.list("out/g/h") == [])
        #expect(try await fixture.end(prune).exit == 0)
        #expect(!fixture.list("out").contains("g"))
        #expect(try await fixture.end("verify out").exit == 0)
    }

    // MARK: Times

    /// An end in the future would make all outputs seem older.
    @Test func readsOutputsIfTheClockWasAhead() async throws {
        try fixture.write("images: [gray.png]\n", to: "m.yaml")
        #expect(try await fixture.end("run m.yaml -o out").exit == 0)
        try fixture.shell(
            #"sed -i -E 's/("finished" ?: ?")[0-9]{4}/\12199/' out/status.json; grep -q 2199 out/status.json"#
        )
        try fixture.shell(
            "printf '\\377' | dd of=out/gray.png bs=1 seek=60 conv=notrunc status=none")
        for command in ["run", "plan"] {
            try await fixture.end("\(command) m.yaml -o out").shows(
                exit: 65, errors: .has("gray.png: it was changed"))
        }
    }

    /// A text that is no time ends in no file of the next run.
    @Test(arguments: ["finished", "started", "received"])
    func takesNoTextForATime(key: String) async throws {
        try fixture.write("images: [gray.png]\n", to: "m.yaml")
        #expect(try await fixture.end("run m.yaml -o out").exit == 0)
        let text = String(repeating: "x", count: 5000)
        try fixture.shell(
            #"sed -i -E 's/("\#(key)" ?: ?")[^"]*/\1\#(text)/' out/status.json; grep -q xxxx out/status.json"#
        )
        try fixture.write("filters: [flip]\nimages: [gray.png]\n", to: "m.yaml")
        try await fixture.end("run m.yaml -o out").shows(exit: 0, output: .has("; 1 made, 0 as"))
        #expect(
            try !String(decoding: fixture.bytes("out/progress.json"), as: UTF8.self).contains(
                "xxxx"))
    }
}
