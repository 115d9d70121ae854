import DarkroomAnswer
import DarkroomCore
import Foundation
import TestSupport
import Testing

/// Shards of a manifest as real processes, and their merge: in any order, side by side, killed at any moment, they are
/// one run.
@Suite(.fewAtATime) struct ShardRunTests {
    /// Images that need each other, two that fail, and names that need numbers.
    private static let manifest = """
        images:
          - {name: mark, source: alpha.png, output: {format: jpeg}}
          - {name: a, source: large.png, filters: [{watermark: {from: mark}}]}
          - {name: b, from: mark, filters: [flip], output: {format: jpeg}}
          - {name: c, source: small.png, after: [b]}
          - {name: d, source: nowhere.png}
          - {name: e, from: d}
          - {name: helper, source: alpha.png, filters: [flip], publish: false}
          - {name: f, source: large.png, filters: [{overlay: {from: helper, scale: 0.5}}]}
          - {name: f2, source: small.png, filters: [{overlay: {from: helper, scale: 0.2}}]}
          - {name: f3, from: helper, output: {format: jpeg}}
          - {name: f4, source: gray.png, filters: [{overlay: {from: helper, scale: 0.2}}]}
          - {source: small.png, filters: [sepia]}
          - {source: ./small.png, filters: [mono]}
          - {source: gray.png}
          - {source: ./gray.png, output: {format: jpeg}}
          - {source: deep.png}
          - {source: alpha.png, filters: [{resize: {width: 30}}]}
          - {source: ././small.png, filters: [invert]}

        """

    private let fixture: RunFixture

    init() throws {
        fixture = try RunFixture()
        try fixture.write(Self.manifest, to: "m.yaml")
    }

    private func command(_ shard: String?, _ folder: String = "out") -> [String] {
        ["m.yaml", "-o", folder, "--quiet"] + (shard.map { ["--shard", $0] } ?? [])
    }

    /// A status without what differs between two runs of the same work.
    private static func comparable(_ status: Status?, attempts: Bool = true) throws -> Status {
        var status = try #require(status)
        status.times = Status.Times(received: "")
        status.written = nil
        status.shards = nil
        for index in status.images.indices {
            status.images[index].milliseconds = ImageStatus.Milliseconds()
            status.images[index].times = nil
            // It depends on how new the source was.
            status.images[index].sourceIdentity = nil
            if !attempts { status.images[index].attempts = 1 }
        }
        return status
    }

    private func reference() async throws {
        try await fixture.begin(command(nil, "whole")).result().shows(exit: 3)
        try fixture.checkOutcome(of: "whole")
    }

    /// The merged folder is that of one run, byte for byte except times.
    private func compare(_ folder: String = "out", attempts: Bool = true) throws {
        #expect(fixture.list(folder) == fixture.list("whole"))
        for name in fixture.list("whole")
        where ![".darkroom", "status.json", "progress.json"].contains(name) {
            #expect(
                try fixture.bytes("\(folder)/\(name)") == fixture.bytes("whole/\(name)"), "\(name)")
        }
        #expect(
            try Self.comparable(try fixture.status(folder), attempts: attempts)
                == Self.comparable(try fixture.status("whole"), attempts: attempts))
        let progress = BatchProgress(decoding: try fixture.bytes("\(folder)/progress.json"))
        let status = try #require(try fixture.status(folder))
        #expect(progress?.saysTheSame(as: BatchProgress(of: status)) == true)
    }

    private func merge(_ folder: String = "out") async throws -> ClientProcess.Result {
        try await fixture.darkroom("merge", folder)
    }

    // MARK: One run

    @Test(arguments: [1, 4, 30]) func shardsInAnyOrderAreOneRun(count: Int) async throws {
        try await reference()
        for number in (1...count).shuffled() {
            let result = try await fixture.begin(command("\(number)/\(count)")).result()
            #expect([0, 3].contains(result.exit), "\(result)")
        }
        try await merge().shows(
            exit: 3, output: .begins("m: completed with errors, 16 of 18 images done, 2 failed"))
        try compare()
        #expect(try fixture.status()?.shards == Status.Shards(count: count))
        let before = fixture.identities(of: fixture.list("out").filter { $0 != ".darkroom" })
        // Nothing is done again.
        for number in 1...count {
            let result = try await fixture.begin(command("\(number)/\(count)")).result()
            #expect([0, 3].contains(result.exit), "\(result)")
        }
        #expect(fixture.identities(of: Array(before.keys)) == before)
        try await fixture.end("verify out --again").shows(exit: 0)
    }

    @Test func shardsSideBySideAreOneRun() async throws {
        try await reference()
        let runs = try (1...4).map { try fixture.begin(command("\($0)/4") + ["--jobs", "1"]) }
        for run in runs {
            let result = try await run.result()
            #expect([0, 3].contains(result.exit), "\(result)")
        }
        #expect(try await merge().exit == 3)
        try compare()
    }

    /// Tasks of an array, then only those that are missing, as `merge` has listed them.
    @Test func aResubmissionFindsItsShards() async throws {
        try await reference()
        func task(_ id: Int, _ min: Int, _ step: Int, _ count: Int) async throws -> Int32 {
            let result = try await fixture.begin(
                command("auto"),
                environment: [
                    "SLURM_ARRAY_TASK_ID": "\(id)", "SLURM_ARRAY_TASK_MIN": "\(min)",
                    "SLURM_ARRAY_TASK_STEP": "\(step)", "SLURM_ARRAY_TASK_COUNT": "\(count)",
                ]
            ).result()
            return result.exit
        }
        for id in [10, 12, 16, 20] { #expect([0, 3].contains(try await task(id, 10, 2, 6))) }
        try await merge().shows(exit: 8, output: "--array=14,18\n")
        #expect(!fixture.exists("out/status.json"))
        try await fixture.end("merge out --json").shows(exit: 8, output: .has(#""array":"14,18""#))
        for id in [14, 18] { #expect([0, 3].contains(try await task(id, 14, 4, 2))) }
        #expect(try await merge().exit == 3)
        try compare()
        // A pod of the same job.
        let pod = try await fixture.begin(
            command("auto"), environment: ["JOB_COMPLETION_INDEX": "5"]
        ).result()
        #expect([0, 3].contains(pod.exit), "\(pod)")
        #expect(try await task(11, 11, 1, 1) == 64)
    }

    /// Eight that begin at once have one plan; those with another number of shards are refused.
    @Test func manyFirstStartsHaveOnePlan() async throws {
        for round in 0..<5 {
            let folder = "race-\(round)"
            let runs = try (1...8).map { number in
                try fixture.begin(command("\(number)/\(number % 2 == 0 ? 8 : 9)", folder))
            }
            var exits: [Int32] = []
            for run in runs { exits.append(try await run.result().exit) }
            let refused = exits.indices.filter { exits[$0] == 65 }
            #expect(refused == [0, 2, 4, 6] || refused == [1, 3, 5, 7], "\(exits)")
            #expect(exits.allSatisfy { [0, 3, 65].contains($0) }, "\(exits)")
            let left = fixture.list("\(folder)/.darkroom").filter { !$0.hasPrefix("shard-") }
            #expect(left == ["manifest.yaml", "plan.json", "plan.lock"])
        }
    }

    @Test func aSecondRunnerOfAShardIsRefused() async throws {
        let slow = try DaemonFixture(pictures: DaemonFixture.many)
        let images = slow.slowImages().map { "\($0.name): '\($0.source)'\n  " }
        try slow.write("images:\n  \(images.joined())", to: "slow.yaml")
        func begin(_ shard: String) throws -> ClientProcess {
            try ClientProcess(
                [
                    "run", "slow.yaml", "-o", "out", "--shard", shard, "--progress", "none",
                    "--set",
                    "downloads.allowNetworks=[127.0.0.0/8]", "--set", "downloads.concurrency=2",
                ], folder: slow.documents.path)
        }
        let run = try begin("1/2")
        let lock = slow.documents.url.appending(path: "out/.darkroom/shard-1-of-2/status.json")
        try await eventually("a shard in work", context: { run.text("errors") }) {
            FileManager.default.fileExists(atPath: lock.path) ? true : nil
        }
        let second = try await begin("1/2").result()
        let start =
            "darkroom: shard 1 of 2 in out is in use by darkroom run on \(Machine.name), process \(run.identifier), since "
        #expect(second.exit == 75 && second.errors.hasPrefix(start), "\(second)")
        try await ClientProcess.end(["merge", "out"], folder: slow.documents.path).shows(
            exit: 8, output: "--array=2\n",
            errors: .has("darkroom: 1 of 2 shards is in work.\n"))
        run.send(SIGKILL)
        _ = try await run.result()
        try await ClientProcess.end(["merge", "out"], folder: slow.documents.path).shows(
            exit: 8, output: "--array=1,2\n")
    }

    /// On a share without inotify, without renames that refuse to replace, without files that have no name, and with
    /// locks of files only, which take their time.
    @Test func aShareIsEnough() async throws {
        try await reference()
        let share = try Share()
        let runs = try (1...4).map {
            try fixture.begin(command("\($0)/4") + ["--jobs", "1"], environment: share.environment)
        }
        // One of them is killed, and begins again beside the others.
        try await eventually("the second shard", context: { runs[1].text("errors") }) {
            fixture.exists("out/.darkroom/shard-2-of-4/lock") ? true : nil
        }
        runs[1].send(SIGKILL)
        _ = try await runs[1].result()
        let again = try fixture.begin(command("2/4"), environment: share.environment)
        for run in [runs[0], runs[2], runs[3], again] {
            let result = try await run.result()
            #expect([0, 3].contains(result.exit), "\(result)")
        }
        try await fixture.end("merge out", environment: share.environment).shows(exit: 3)
        try compare(attempts: false)
        // Without this, the library might not be there.
        #expect(try share.refusals().isSuperset(of: ["l", "r"]))
    }

    // MARK: Kills

    /// The points that only shards and merges pass, and those whose folders are others.
    @Test(arguments: [
        FaultPoint.planWritten, .planMoved, .planManifestWritten, .planManifestMoved,
        .claimFolderMade, .claimCopied, .statusWritten, .statusMoved, .filterWritten,
        .publishJournalWritten, .publishOutputMoved, .finalStatusMoved, .activeRemoved,
    ])
    func continuesAfterEachPoint(point: FaultPoint) async throws {
        try await reference()
        var killed = 0
        for number in 1...2 {
            let result = try await fixture.begin(
                command("\(number)/2"),
                environment: point.environment(passing: 1)
            ).result()
            if result.exit == 137 { killed += 1 }
        }
        #expect(killed > 0)
        let outputs = fixture.list("out").filter { $0 != ".darkroom" }
        let before = fixture.identities(of: outputs)
        for number in 1...2 {
            let result = try await fixture.begin(command("\(number)/2")).result()
            #expect([0, 3].contains(result.exit), "\(result)")
        }
        #expect(fixture.identities(of: outputs) == before)
        #expect(try await merge().exit == 3)
        try compare(attempts: false)
        #expect(
            fixture.list("out/.darkroom") == [
                "lock", "manifest.yaml", "plan.json", "plan.lock", "shard-1-of-2", "shard-2-of-2",
            ])
    }

    @Test(arguments: [FaultPoint.mergeWritten, .mergeMoved])
    func aKilledMergeIsRepeated(point: FaultPoint) async throws {
        try await reference()
        for number in 1...3 { _ = try await fixture.begin(command("\(number)/3")).result() }
        try await fixture.end("merge out", environment: point.environment).shows(exit: 137)
        #expect(fixture.exists("out/status.json") == (point == .mergeMoved))
        #expect(try await merge().exit == 3)
        try compare()
    }

    /// Shards side by side, killed at random moments, and merges beside them.
    @Test func continuesAfterRandomKills() async throws {
        try await reference()
        var kills = RandomKills()
        while kills.count < 30 {
            for _ in 0..<Int.random(in: 1...3) {
                let runs = try (1...3).map { try fixture.begin(command("\($0)/3")) }
                async let merging = merge()
                try await kills.wait()
                for run in runs.shuffled() { run.send(SIGKILL) }
                let merged = try await merging
                #expect([0, 3, 8, 66, 75].contains(merged.exit), "\(merged)")
                for run in runs {
                    let result = try await run.result()
                    #expect([137, 0, 3].contains(result.exit), "\(result)")
                    kills.note(exit: result.exit)
                }
            }
            let outputs = fixture.list("out").filter {
                $0.hasSuffix(".png") || $0.hasSuffix(".jpg")
            }
            let before = fixture.identities(of: outputs)
            for number in 1...3 {
                let result = try await fixture.begin(command("\(number)/3")).result()
                #expect([0, 3].contains(result.exit), "\(result)")
            }
            #expect(fixture.identities(of: outputs) == before)
            #expect(try await merge().exit == 3)
            try compare(attempts: false)
            try fixture.remove("out")
        }
    }

    // MARK: Refusals

    typealias Line = CommandLineCase

    private static let other = "darkroom: Name another folder with -o, or remove this one.\n"

    @Test(arguments: [
        Line(
            words: "run m.yaml -o out --shard 1/3", exit: 65,
            errors:
                "darkroom: out has a run in 2 shards that are not merged, and this one is in 3 shards\ndarkroom: Run all shards of the former count and darkroom merge out first, or name another folder with -o.\n"
        ),
        Line(
            words: "run m.yaml -o out", exit: 65,
            errors: "darkroom: out has a run in 2 shards, and this one is without --shard\n" + other
        ),
        Line(
            words: "run other.yaml -o out --shard 1/2", exit: 65,
            errors: "darkroom: out has a run of another manifest, m.yaml\n" + other),
        Line(
            words: "run m.yaml -o out --shard auto", exit: 64,
            errors:
                "darkroom: --shard auto: neither SLURM_ARRAY_TASK_ID (Slurm) nor JOB_COMPLETION_INDEX (Kubernetes) is set. Write the number and the count, for example --shard 3/16\n"
        ),
        Line(
            words: "merge nowhere", exit: 66,
            errors: "darkroom: nowhere: cannot open: No such file or directory\n"),
        Line(
            words: "merge .", exit: 66,
            errors: "darkroom: .: no darkroom run has worked in this folder\n"),
        Line(
            words: "verify out", exit: 66,
            errors:
                "darkroom: out has a run in shards and no status.json yet; darkroom merge writes it\n"
        ),
    ])
    func refuses(line: Line) async throws {
        try fixture.write("images: [small.png]\n", to: "other.yaml")
        _ = try await fixture.begin(command("2/2")).result()
        let result = try await fixture.end(line.words)
        #expect(
            result == ClientProcess.Result(exit: line.exit, output: "", errors: line.errors),
            "\(result)")
        #expect(fixture.list("out").filter { $0 == "status.json" } == [])
    }

    /// A picture that is laid over all others ties them together, unless each shard can have a copy.
    @Test(arguments: [
        ("watermark: {from: alpha}", true, true), ("watermark: {from: alpha}", false, false),
        ("flip", true, false),
    ])
    func saysThatOneShardHasMostImages(
        filter: String, isPublished: Bool, isTold: Bool
    ) async throws {
        try fixture.write(
            "filters: [{\(filter)}]\nimages: [{name: alpha, source: alpha.png, filters: [], publish: \(isPublished)}, small.png, gray.png]\n"
                .replacing("[{flip}]", with: "[flip]"), to: "m.yaml")
        let result = try await fixture.end("run m.yaml -o out --shard 1/2 --progress none")
        #expect(result.exit == 0)
        let warning =
            "darkroom: 3 of 3 images need each other (from, after, or a picture laid over them), so one shard has them all\n"
        #expect(result.errors == (isTold ? warning : ""))
    }
}
