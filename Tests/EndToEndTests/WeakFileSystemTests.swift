import Foundation
import TestSupport
import Testing

/// File systems without hard links and without renames that refuse to replace: exFAT, and many FUSE mounts (rclone,
/// s3fs). Some have files without a name (O_TMPFILE), which then cannot get one.
@Suite(.fewAtATime) struct WeakFileSystemTests {
    static let kinds = ["rh", "rht"]

    /// A run with a page, again, and a changed one; each as on any other file system.
    @Test(arguments: kinds) func run(kind: String) async throws {
        let fixture = try RunFixture()
        let share = try Share(refuses: kind)
        try fixture.write(
            "images: [small.png, gray.png, {source: large.png, filters: [sepia]}]\n", to: "m.yaml")
        for _ in 0..<2 {
            try await fixture.end("run m.yaml -o out --quiet", environment: share.environment)
                .expect(exit: 0)
            #expect(try fixture.status()?.counts.filtered == 3)
            let page = try await fixture.end("page out", environment: share.environment)
            #expect(page.exit == 0, "\(page)")
            #expect(fixture.exists("out-page/index.html"))
            try fixture.remove("out/gray.png")
        }
        try await fixture.end("run m.yaml -o out --quiet", environment: share.environment).shows(
            exit: 0)
        #expect(fixture.list("out/.darkroom") == ["active", "attempts", "lock", "plan.json"])
        try await fixture.end("verify out", environment: share.environment).shows(exit: 0)
        #expect(try share.refusals().isSuperset(of: ["r", "h"]))
    }

    /// The shards begin at once, so that they are rivals for the plan.
    @Test(arguments: kinds) func shards(kind: String) async throws {
        let fixture = try RunFixture()
        let share = try Share(refuses: kind)
        try fixture.write(
            "images: [small.png, gray.png, large.png, deep.png, alpha.png]\n", to: "m.yaml")
        let runs = try (1...4).map {
            try fixture.begin(
                ["m.yaml", "-o", "out", "--quiet", "--jobs", "1", "--shard", "\($0)/4"],
                environment: share.environment)
        }
        for run in runs {
            try await run.result().shows(exit: 0)
        }
        try await fixture.end("merge out", environment: share.environment).shows(exit: 0)
        #expect(try fixture.status()?.counts.filtered == 5)
        #expect(
            fixture.list("out/.darkroom").filter { $0.hasPrefix("plan") }
                == ["plan.json", "plan.lock"])
        // The next night has another manifest.
        try fixture.write(
            "images: [small.png, gray.png, large.png, {source: deep.png, filters: flip}]\n",
            to: "m.yaml")
        for number in 1...4 {
            try await fixture.begin(
                ["m.yaml", "-o", "out", "--quiet", "--shard", "\(number)/4"],
                environment: share.environment
            ).result().shows(exit: 0)
        }
        try await fixture.end("merge out --prune", environment: share.environment).shows(
            exit: 0, output: .has("1 output removed"))
        #expect(try fixture.status()?.counts.filtered == 4)
        try await fixture.end("verify out", environment: share.environment).shows(exit: 0)
    }

    @Test(arguments: kinds) func filter(kind: String) async throws {
        let fixture = try RunFixture()
        let before = fixture.list(".")
        let share = try Share(refuses: kind)
        for _ in 0..<2 {
            let result = try await fixture.end(
                "filter large.png --filter flip -o result.png", environment: share.environment)
            result.expect(exit: 0)
        }
        let plain = try await fixture.end("filter large.png --filter flip -o plain.png")
        #expect(plain.exit == 0)
        #expect(try fixture.bytes("result.png") == fixture.bytes("plain.png"))
        #expect(fixture.list(".") == (before + ["plain.png", "result.png"]).sorted())
        if kind == "rh" { #expect(try share.refusals() == ["h"]) }
    }

    /// A whole spool: manifests, commands and folders, of a client and a daemon.
    @Test(arguments: kinds) func submit(kind: String) async throws {
        let fixture = try DaemonFixture(pictures: 2)
        let share = try Share(refuses: kind)
        let daemon = try await fixture.run(
            ["sources.roots": "[\(fixture.documents.path)]"], environment: share.environment)
        for (name, words) in [("sent", ["--copy"]), ("named", []), ("again", [])] {
            try await ClientProcess.end(
                ["submit", "0.png", "1.png", "--name", name, "--wait"] + words,
                spool: fixture.spool.path, folder: fixture.documents.path,
                environment: share.environment
            ).expect(exit: 0, output: "\(name)\n")
            try await fixture.complete(name, daemon)
        }
        try await ClientProcess.end(
            ["remove", "named"], spool: fixture.spool.path, environment: share.environment
        ).shows(exit: 0)
        try await eventually("nothing is left", context: { daemon.describe() }) {
            ["tmp", "inbox", "active"].allSatisfy { fixture.spool.list($0) == [] } ? true : nil
        }
        #expect(try await daemon.stop() == .exited(0))
        #expect(try share.refusals().isSuperset(of: ["r", "h"]))
    }

    /// What a shard that was killed has left: a plan without content. Nothing waits for ever.
    @Test func tellsOfAnEmptyPlan() async throws {
        let fixture = try RunFixture()
        try fixture.write("", to: "out/.darkroom/plan.json")
        let result = try await fixture.end("run small.png -o out --quiet --shard 1/2")
        #expect(result.exit != 0)
        #expect(result.errors.contains("plan.json"), "\(result)")
    }

    /// NFS keeps a file that a process has open, as `.nfs…`. A run ends nevertheless, and begins again.
    @Test func aFileThatIsStillOpenStopsNothing() async throws {
        let fixture = try RunFixture()
        let share = try Share(refuses: "n")
        let words = ["run", "small.png", "-o", "out", "--quiet"]
        try await fixture.end(words).shows(exit: 0)
        let id = try #require(try fixture.status()?.id)
        // As if a helper of the run still had a file of its batch open.
        try fixture.write("", to: "out/.darkroom/active/.retry-\(id)/.nfs0000000000abcdef00000001")
        try fixture.write("", to: "out/.darkroom/active/.retry-\(id)/other")
        try await fixture.end(words, environment: share.environment).expect(exit: 0)
        #expect(try share.refusals() == ["n"])
        try await fixture.end("verify out").shows(exit: 0)
    }
}
