import DarkroomAnswer
import DarkroomCore
import Foundation
import TestSupport
import Testing

/// Shards that are run again, and their merge: what has changed is made by its shard, all else stands, and the merged folder
/// is what one run in a new folder makes.
@Suite(.fewAtATime) struct ShardRenewalTests {
    private let fixture: RunFixture

    init() throws {
        fixture = try Renewal.fixture()
    }

    private func command(_ number: Int, _ count: Int, _ others: [String] = []) -> [String] {
        [
            "run", "m.yaml", "-o", "out", "--config", "darkroomd.yaml", "--shard",
            "\(number)/\(count)",
        ] + others
    }

    private func merge(
        _ others: String..., environment: [String: String] = [:]
    ) async throws -> ClientProcess.Result {
        try await fixture.end(["merge", "out"] + others, environment: environment)
    }

    /// Runs all shards, in any order.
    ///
    /// - Returns: the number of images that they have made; an image that several shards have counts for each.
    @discardableResult
    private func night(
        _ count: Int, _ others: [String] = [], exits: Set<Int32> = [0]
    ) async throws -> Int {
        var made = 0
        for number in (1...count).shuffled() {
            let result = try await fixture.end(command(number, count, ["--json"] + others))
            #expect(exits.contains(result.exit), "\(result)")
            made += try #require(Report(result.output)).made
        }
        return made
    }

    /// The end of `run --json`.
    private struct Report: Decodable {
        let counts: Status.Counts
        let unchanged: Bool
        let changes: Changes?

        struct Changes: Decodable {
            let made: Int
        }

        init?(_ text: String) {
            guard let found = try? JSONDecoder().decode(Self.self, from: Data(text.utf8)) else {
                return nil
            }
            self = found
        }

        var made: Int { unchanged ? 0 : changes?.made ?? counts.total }
    }

    /// The merged folder is that of one run in a new folder, and each output is what the status says.
    private func compare(
        and others: [String] = [], sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        try fixture.shell("rm -rf fresh")
        let fresh = try await fixture.end([
            "run", "m.yaml", "-o", "fresh", "--config", "darkroomd.yaml",
        ])
        #expect([0, 3].contains(fresh.exit), "\(fresh)", sourceLocation: sourceLocation)
        #expect(
            try fixture.digests("out") == fixture.digests("fresh"), sourceLocation: sourceLocation)
        #expect(
            fixture.list("out") == (fixture.list("fresh") + others).sorted(),
            sourceLocation: sourceLocation)
        let verified = try await fixture.end(["verify", "out"])
        #expect(
            verified.exit == 0 || !others.isEmpty, "\(verified)", sourceLocation: sourceLocation)
    }

    // MARK: What has changed

    /// Merged before or not, whatever has changed: the plan tells it, the shards make that and nothing else.
    @Test(arguments: Renewal.changes, [true, false])
    func makesWhatHasChanged(change: Renewal.Change, isMerged: Bool) async throws {
        try await night(3)
        if isMerged { #expect(try await merge().exit == 0) }
        try fixture.shell(change.command)
        let before = fixture.identities(of: Renewal.outputs)
        let files = fixture.list("out") + fixture.list("out/.darkroom")
        let plan = try await fixture.end([
            "plan", "m.yaml", "-o", "out", "--config", "darkroomd.yaml", "--json",
        ])
        #expect(plan.exit == 0 && plan.errors == "", "\(plan)")
        #expect(fixture.list("out") + fixture.list("out/.darkroom") == files)
        let made = try await night(3)
        #expect((made == 0) == change.made.isEmpty)
        let merged = try await merge()
        #expect(merged.exit == 0, "\(merged)")
        try fixture.check(change, since: before, plan: plan.output, told: merged.errors)
        #expect(try await night(3) == 0)
        let pruned = try await merge("--prune")
        #expect(pruned.exit == 0, "\(pruned)")
        #expect(pruned.output.contains("1 output removed") == !change.gone.isEmpty, "\(pruned)")
        try await compare()
    }

    /// The second run of a shard compares, and has nothing to write: not even its status, although it has no `sizes.json`.
    @Test func writesNothingWhereNothingHasChanged() async throws {
        // A source that was changed a moment ago has no identity, which the second run would note.
        try fixture.shell("sleep 2.1")
        try await night(2)
        #expect(try await merge().exit == 0)
        func identities() -> [String: String] {
            ["out", "out/.darkroom/shard-1-of-2", "out/.darkroom/shard-2-of-2"].reduce(into: [:]) {
                for (name, identity) in fixture.identities(of: fixture.list($1), in: $1)
                where !["attempts", "lock"].contains(name) {
                    $0["\($1)/\(name)"] = identity
                }
            }
        }
        let before = identities()
        #expect(before.keys.contains("out/sizes.json"))
        #expect(try await night(2) == 0)
        #expect(identities() == before)
    }

    /// What lies in the folder of a shard, or beside the outputs, is written again, and no output is.
    @Test(arguments: [
        "status.json", "sizes.json", "progress.json", "manifest.yaml",
        ".darkroom/manifest.yaml", ".darkroom/shard-1-of-2/manifest.yaml",
        ".darkroom/shard-1-of-2/progress.json", ".darkroom/shard-1-of-2/status.json",
    ]) func writesRemovedFilesAgain(file: String) async throws {
        try await night(2)
        #expect(try await merge().exit == 0)
        let former = fixture.identities(of: Renewal.outputs)
        try fixture.shell("rm out/\(file)")
        #expect(try await night(2) == 0)
        #expect(try await merge().exit == 0)
        #expect(fixture.exists("out/\(file)"))
        #expect(fixture.identities(of: Renewal.outputs) == former)
        try await compare()
    }

    /// Another count of shards takes the merged results, whatever has changed; without a merge, it is refused.
    @Test(arguments: [1, 2, 5]) func takesAnotherCount(count: Int) async throws {
        try await night(3)
        try await fixture.end(command(1, count)).shows(
            exit: 65,
            errors: .has(
                "out has a run in 3 shards that are not merged, and this one is in",
                "darkroom merge out first"))
        #expect(try await merge().exit == 0)
        let before = fixture.identities(of: Renewal.outputs)
        #expect(try await night(count) == 0)
        #expect(try await merge().exit == 0)
        #expect(fixture.identities(of: Renewal.outputs) == before)
        try await compare()
        try fixture.shell("cp deep.png small.png")
        #expect(try await night(3) == 2)
        #expect(try await merge().exit == 0)
        try await compare()
        #expect(fixture.list("out/.darkroom").filter { $0.hasPrefix("shard-") } == [])
    }

    /// An array that does not write the count keeps that of the plan, also with another manifest.
    @Test func anArrayKeepsTheCount() async throws {
        func task(_ id: Int) async throws -> ClientProcess.Result {
            try await fixture.end(
                ["run", "m.yaml", "-o", "out", "--config", "darkroomd.yaml", "--shard", "auto"],
                environment: [
                    "SLURM_ARRAY_TASK_ID": "\(id)", "SLURM_ARRAY_TASK_MIN": "10",
                    "SLURM_ARRAY_TASK_STEP": "2", "SLURM_ARRAY_TASK_COUNT": "3",
                ])
        }
        for id in [10, 12, 14] { #expect(try await task(id).exit == 0) }
        try fixture.write(Renewal.changed, to: "m.yaml")
        #expect(try await task(12).exit == 0)
        try await merge().shows(exit: 8, output: "--array=10,14\n")
        for id in [10, 14] { #expect(try await task(id).exit == 0) }
        #expect(try await merge("--prune").exit == 0)
        try await compare()
    }

    /// Shards that begin at once with another manifest have one plan, and nobody is refused.
    @Test func shardsBeginSideBySideWithAnotherManifest() async throws {
        try await night(2)
        for (round, text) in [Renewal.changed, Renewal.manifest, Renewal.changed]
            .enumerated()
        {
            try fixture.write(text, to: "m.yaml")
            // Not every shard of the former manifest has run.
            let numbers = round == 1 ? [2] : [1, 2]
            let runs = try numbers.map {
                try ClientProcess(command($0, 2), folder: fixture.scratch.path)
            }
            for run in runs {
                try await run.result().shows(exit: 0)
            }
            let left = fixture.list("out/.darkroom").filter { !$0.hasPrefix("revision-") }
            #expect(
                left.filter { !["former.json"].contains($0) } == ["lock", "plan.json", "plan.lock"])
        }
        #expect(try await merge("--prune").exit == 0)
        try await compare()
    }

    /// The plans of all shards are that of the whole; with another count, the merged results are compared.
    @Test(arguments: [2, 3]) func plansOneShard(count: Int) async throws {
        func plan(_ shard: String?) async throws -> [String] {
            let result = try await fixture.end(
                ["plan", "m.yaml", "-o", "out", "--config", "darkroomd.yaml"]
                    + (shard.map { ["--shard", $0] } ?? []))
            #expect(result.exit == 0, "\(result)")
            return result.output.split(separator: "\n").map(String.init)
        }
        // Nothing is there yet.
        #expect(try await plan("1/2").last?.contains("images to make") == true)
        #expect(!fixture.exists("out"))
        try await night(2)
        #expect(try await merge().exit == 0)
        try fixture.shell("cp deep.png small.png; sed -i 's/alpha.png/gray.png/' m.yaml")
        let whole = try await plan(nil)
        #expect(whole.filter { $0.hasPrefix("make ") }.count == 4, "\(whole)")
        var told: Set<String> = []
        for number in 1...count {
            let lines = try await plan("\(number)/\(count)")
            told.formUnion(lines.filter { $0.hasPrefix("make ") })
        }
        #expect(told == Set(whole.filter { $0.hasPrefix("make ") }))
        // What has begun is told, too.
        let killed = try await fixture.end(
            command(1, 2, ["--jobs", "1"]),
            environment: FaultPoint.filterBegan.environment)
        let other = try await fixture.end(
            command(2, 2, ["--jobs", "1"]),
            environment: FaultPoint.filterBegan.environment)
        #expect(killed.exit == 137 || other.exit == 137)
        let begun = try await plan(nil)
        #expect(begun.last?.contains("a run has not ended: it has done ") == true, "\(begun)")
    }

    @Test func makesEverythingAgainWithAnotherVersion() async throws {
        try await night(2)
        #expect(try await merge().exit == 0)
        let digest = try #require(try fixture.status()?.images[0].versionsSHA256)
        try fixture.shell("sed -i 's/\(digest)/00/' out/.darkroom/shard-*/status.json")
        let plan = try await fixture.end([
            "plan", "m.yaml", "-o", "out", "--config", "darkroomd.yaml",
        ])
        #expect(plan.output.contains("make a: version changed\n"), "\(plan)")
        #expect(try await night(2) >= 5)
        #expect(try await merge().exit == 0)
        #expect(try fixture.status()?.images.allSatisfy { $0.versionsSHA256 != "00" } == true)
        try await compare()
    }

    /// The content was changed behind the back of the file system.
    @Test func readsAllOnRequest() async throws {
        try await night(2)
        #expect(try await merge().exit == 0)
        let sha256 = try #require(try fixture.status()?.images[0].sourceSHA256)
        try fixture.shell("sed -i 's/\(sha256)/00/' out/.darkroom/shard-*/status.json; sleep 2.1")
        // `c` was made of what `a` is now.
        #expect(try await night(2, ["--check"]) == 1)
        #expect(try await night(2, ["--check"]) == 0)
        #expect(try await merge().exit == 0)
        try await compare()
    }

    /// A changed source that is no picture any more: the image fails, and its former result is not taken for one, also not
    /// after further changes.
    @Test(arguments: [true, false]) func keepsNoStaleOutput(isOther: Bool) async throws {
        try await night(2)
        #expect(try await merge().exit == 0)
        try fixture.write("no picture", to: "small.png")
        try await night(2, exits: [0, 3])
        try await merge("--prune").shows(
            exit: 3,
            errors: .has(
                "2 files of an earlier run stay, although their images fail now: a.png, c.png\n"))
        try await compare(and: ["a.png", "c.png"])
        if isOther { try fixture.shell("echo '# other text' >> m.yaml") }
        #expect(try await night(2, exits: [0, 3]) == 0)
        #expect(try await merge("--prune").exit == 3)
        try await compare(and: ["a.png", "c.png"])
        try fixture.shell("cp deep.png small.png")
        #expect(try await night(2) == 2)
        #expect(try await merge("--prune").exit == 0)
        try await compare()
    }

    /// The source is gone: the result stands, and the shard says so. `merge --prune` leaves it too.
    @Test func keepsTheResultOfASourceThatIsGone() async throws {
        try await night(2)
        try fixture.shell("mv gray.png gone.png")
        var told = false
        for number in 1...2 {
            let result = try await fixture.end(command(number, 2))
            #expect(result.exit == 0, "\(result)")
            told = told || result.errors.contains("2 sources are gone, and the results stand")
            #expect(!result.errors.contains("--prune"))
        }
        #expect(told)
        try await merge("--prune").shows(exit: 0, output: .lacks("removed"))
        try fixture.shell("mv gone.png gray.png")
        try await compare()
    }

    // MARK: Images that go from shard to shard

    /// The manifest ties other images together, so that they are in other shards, and images take the files of others.
    /// Whether it was merged, and however many shards ran before the manifest changed again: no output is taken for
    /// another image's, and nothing is made twice.
    @Test(arguments: [true, false], 0...3)
    func takesTheResultsOfOtherShards(isMerged: Bool, ran: Int) async throws {
        func manifest(_ images: [String]) -> String {
            "images:\n  " + images.joined(separator: "\n  ")
        }
        let single = manifest([
            "a: small.png", "b: gray.png", "c: deep.png", "d: large.png", "e: alpha.png",
        ])
        let tied = manifest([
            "a: small.png", "b: gray.png", "c: {from: a, filters: flip}",
            "x: {source: large.png, output: {name: d}}",
            "e: {source: alpha.png, filters: [{overlay: {from: b}}]}",
            "d: {source: deep.png, output: {name: c2}}",
        ])
        try fixture.write(single, to: "m.yaml")
        try await night(3)
        if isMerged { #expect(try await merge().exit == 0) }
        try fixture.write(tied, to: "m.yaml")
        for number in [1, 2, 3].shuffled().prefix(ran) {
            try await fixture.end(command(number, 3)).shows(exit: 0)
        }
        if ran == 3, isMerged { #expect(try await merge("--prune").exit == 0) }
        try fixture.write(single, to: "m.yaml")
        try await night(3)
        #expect(try await merge("--prune").exit == 0)
        try await compare()
        #expect(try await night(3) == 0)
        try fixture.write(tied, to: "m.yaml")
        try await night(3)
        #expect(try await merge("--prune").exit == 0)
        try await compare()
    }

    /// A shard that has lost its folder begins with what was merged.
    @Test func takesTheMergedResultsAfterALoss() async throws {
        try await night(3)
        #expect(try await merge().exit == 0)
        let before = fixture.identities(of: Renewal.outputs)
        try fixture.shell("rm -r out/.darkroom/shard-2-of-3 out/.darkroom/shard-1-of-3")
        try await merge().shows(exit: 8, output: "--array=1,2\n")
        #expect(try await night(3) == 0)
        #expect(fixture.identities(of: Renewal.outputs) == before)
        #expect(try await merge().exit == 0)
        try await compare()
    }

    /// The answers of shards that have not run with this manifest are not taken, also if they had it before.
    @Test func asksForShardsThatDidNotRun() async throws {
        try await night(2)
        #expect(try await merge().exit == 0)
        try fixture.write(Renewal.changed, to: "m.yaml")
        #expect(try await fixture.end(command(1, 2)).exit == 0)
        let status = try fixture.bytes("out/status.json")
        for _ in 0..<2 {
            try await merge().shows(exit: 8, output: "--array=2\n")
        }
        #expect(try fixture.bytes("out/status.json") == status)
        try fixture.write(Renewal.manifest, to: "m.yaml")
        #expect(try await fixture.end(command(2, 2)).exit == 0)
        try await merge().shows(exit: 8, output: "--array=1\n")
        #expect(try await fixture.end(command(1, 2)).exit == 0)
        #expect(try await merge("--prune").exit == 0)
        try await compare()
    }

    // MARK: Prune

    @Test func removesOnlyItsOwnFiles() async throws {
        try await night(2)
        #expect(try await merge().exit == 0)
        try fixture.shell("sed -i '/  c: /d; /  d: /d' m.yaml")
        try await night(2)
        try fixture.write("mine", to: "out/c.png")
        try fixture.write("mine", to: "out/mine.png")
        // All sources are away.
        try fixture.shell("mkdir away; mv *.png away")
        let away = try await merge("--prune")
        #expect(
            away.exit == 0 && fixture.exists("out/d.png")
                && away.errors.contains("--prune has left them, because all sources are gone"),
            "\(away)")
        try fixture.shell("mv away/* .")
        try await merge("--prune", "--json").shows(exit: 0, output: .has(#""removed":1"#))
        #expect(!fixture.exists("out/d.png"))
        #expect(try fixture.bytes("out/c.png") == Array("mine".utf8))
        try await compare(and: ["c.png", "mine.png"])
    }

    @Test func waitsForShardsInWork() async throws {
        let slow = try DaemonFixture(pictures: DaemonFixture.many)
        let images = slow.slowImages().map { "\($0.name): '\($0.source)'\n  " }
        try slow.write("images:\n  \(images.joined())", to: "slow.yaml")
        func begin(_ manifest: String) throws -> ClientProcess {
            try ClientProcess(
                [
                    "run", manifest, "-o", "out", "--shard", "1/2", "--progress", "none", "--set",
                    "downloads.allowNetworks=[127.0.0.0/8]", "--set", "downloads.concurrency=2",
                ], folder: slow.documents.path)
        }
        let run = try begin("slow.yaml")
        let lock = slow.documents.url.appending(path: "out/.darkroom/shard-1-of-2/status.json")
        try await eventually("a shard in work", context: { run.text("errors") }) {
            FileManager.default.fileExists(atPath: lock.path) ? true : nil
        }
        let start = "darkroom: shard 1 of 2 in out is in use by darkroom run on "
        try await ClientProcess.end(["merge", "out", "--prune"], folder: slow.documents.path).shows(
            exit: 75, errors: .begins(start))
        // Another shard with another manifest.
        try slow.write("images:\n  \(images.joined())# other\n", to: "slow.yaml")
        try await ClientProcess.end(
            ["run", "slow.yaml", "-o", "out", "--shard", "2/2", "--progress", "none"],
            folder: slow.documents.path
        ).shows(exit: 75, errors: .begins(start))
        run.send(SIGKILL)
        _ = try await run.result()
    }

    // MARK: Kills

    private static let shardPoints: [FaultPoint] = [
        .revisionBuilt, .formerWritten, .formerMoved, .planWritten, .planMoved,
        .planManifestWritten, .planManifestMoved, .formerTaken, .retryBuilt, .retryMoved,
        .statusWritten, .statusMoved, .filterBegan, .filterWritten, .publishJournalTorn,
        .publishJournalWritten, .publishOutputMoved, .publishOutputsMoved, .finalStatusWritten,
        .finalStatusMoved, .treeEntryRemoved, .activeRemoved,
    ]

    private static let mergePoints: [FaultPoint] = [
        .mergeWritten, .formerWritten, .formerMoved, .mergeMoved, .mergeSettled, .formerRemoved,
    ]

    /// A shard is killed at each point. Then all run, with this manifest or the former one.
    @Test(arguments: [true, false], [true, false])
    func continuesAfterEachPoint(goesBack: Bool, isMerged: Bool) async throws {
        try await night(2)
        if isMerged { #expect(try await merge().exit == 0) }
        try fixture.shell("mv out old")
        var seen: Set<FaultPoint> = []
        for point in Self.shardPoints {
            try fixture.shell("rm -rf out; cp -a old out")
            try fixture.write(Renewal.changed, to: "m.yaml")
            for number in 1...2 {
                let killed = try await fixture.end(
                    command(number, 2), environment: point.environment)
                #expect([0, 137].contains(killed.exit), "\(point.rawValue): \(killed)")
                if killed.exit == 137 { seen.insert(point) }
            }
            if goesBack { try fixture.write(Renewal.manifest, to: "m.yaml") }
            try await night(2)
            #expect(try await night(2) == 0, "\(point.rawValue)")
            let merged = try await merge("--prune")
            #expect(merged.exit == 0, "\(point.rawValue): \(merged)")
            try await compare()
            let left = fixture.list("out/.darkroom").filter { $0.hasPrefix("revision-") }
            #expect(left.count <= 1, "\(point.rawValue): \(left)")
        }
        #expect(seen == Set(Self.shardPoints), "\(Set(Self.shardPoints).subtracting(seen))")
    }

    /// A merge is killed at each point. Then it is repeated, or the shards run with the former manifest.
    @Test(arguments: [true, false]) func mergesAfterEachPoint(goesBack: Bool) async throws {
        try await night(2)
        #expect(try await merge().exit == 0)
        try fixture.write(Renewal.changed, to: "m.yaml")
        try await night(2)
        try fixture.shell("mv out old")
        for point in Self.mergePoints {
            try fixture.shell("rm -rf out; cp -a old out")
            try fixture.write(Renewal.changed, to: "m.yaml")
            let killed = try await merge("--prune", environment: point.environment)
            #expect(killed.exit == 137, "\(point.rawValue): \(killed)")
            if goesBack {
                try fixture.write(Renewal.manifest, to: "m.yaml")
                try await night(2)
            } else {
                #expect(try await night(2) == 0, "\(point.rawValue)")
            }
            let merged = try await merge("--prune")
            #expect(merged.exit == 0, "\(point.rawValue): \(merged)")
            try await compare()
        }
    }

    /// Shards side by side and merges beside them, killed at random, while the manifest goes to and fro.
    @Test func continuesAfterRandomKills() async throws {
        let texts = [Renewal.manifest, Renewal.changed]
        var kills = RandomKills()
        while kills.count < 20 {
            for _ in 0..<Int.random(in: 1...3) {
                try fixture.write(texts.randomElement() ?? "", to: "m.yaml")
                let runs = try (1...3).map {
                    try ClientProcess(command($0, 3), folder: fixture.scratch.path)
                }
                let other = try ClientProcess(
                    ["merge", "out", "--prune"], folder: fixture.scratch.path)
                try await kills.wait()
                for run in (runs + [other]).shuffled() { run.send(SIGKILL) }
                for run in runs + [other] {
                    let result = try await run.result()
                    #expect([137, 0, 8, 66, 75].contains(result.exit), "\(result)")
                    kills.note(exit: result.exit)
                }
            }
            try await night(3)
            #expect(try await night(3) == 0)
            try await merge("--prune").shows(exit: 0)
            try await compare()
        }
    }
}
