import DarkroomAnswer
import DarkroomCore
import DarkroomSpool
import Foundation
import TestSupport
import Testing

/// What goes wrong around a run: folders that were tampered with, other settings, limits of the process, early signals.
@Suite(.fewAtATime) struct RunTroubleTests {
    private let fixture: RunFixture

    init() throws {
        fixture = try RunFixture()
        try fixture.write(
            "images: [small.png, gray.png, alpha.png, {name: last, from: small, filters: []}]\n",
            to: "m.yaml")
    }

    @Test(arguments: ["/", "//", "/.", "/usr/.."])
    func refusesTheRootFolder(path: String) async throws {
        try await fixture.end("run m.yaml -o \(path)").shows(
            exit: 64, errors: .begins("Error: --output \(path): name a folder in the root folder\n")
        )
        #expect(!FileManager.default.fileExists(atPath: "/.darkroom"))
    }

    // MARK: Settings

    /// They decide what the outputs are, and are not in the manifest: all images are made again.
    @Test func shardsTakeOtherDefaultFilters() async throws {
        let (key, shard) = ("manifests.defaultFilters", " --shard 1/1")
        func run(_ filters: String?) async throws -> String {
            let setting = filters.map { " --set \(key)=\($0)" } ?? ""
            let result = try await fixture.end("run m.yaml -o out\(shard)\(setting)")
            #expect(result.exit == 0, "\(result)")
            return result.output
        }
        _ = try await run("[flip]")
        #expect(try await run(nil).contains(" made, 0 as they were"))
        #expect(try await run(nil).contains("; nothing to do"))
        #expect(try await run("flip").contains(" made, 0 as they were"))
    }

    @Test func verifyNamesOtherSettings() async throws {
        let key = "manifests.defaultFilters"
        #expect(try await fixture.end("run m.yaml -o out --set \(key)=[flip]").exit == 0)
        #expect(try await fixture.end("verify out").exit == 0)
        #expect(try await fixture.end("verify out --again --set \(key)=[flip]").exit == 0)
        try await fixture.end("verify out --again --set \(key)=[flop]").expect(
            exit: 65,
            errors: """
                darkroom: out has a run of the same manifest with another \(key): it was [flip], and is [flop]
                darkroom: Add --set '\(key)=[flip]'.

                """)
    }

    // MARK: Files that were removed or changed by hand

    /// What is in the folder of the outputs is found again.
    @Test(arguments: ["shard-1-of-2", "shard-1-of-2/status.json"])
    func aShardWithoutItsStatusIsTheSame(lost: String) async throws {
        for number in 1...2 {
            #expect(try await fixture.end("run m.yaml -o out --shard \(number)/2").exit == 0)
        }
        #expect(try await fixture.end("merge out").exit == 0)
        let outputs = fixture.list("out").filter { $0.hasSuffix(".png") }
        let before = fixture.identities(of: outputs)
        #expect(outputs.count == 4)
        try fixture.remove("out/.darkroom/\(lost)")
        #expect(try await fixture.end("run m.yaml -o out --shard 1/2").exit == 0)
        #expect(try await fixture.end("merge out").exit == 0)
        #expect(fixture.identities(of: outputs) == before)
        #expect(try await fixture.end("verify out").exit == 0)
    }

    /// A shard that has lost its folder is told which file to move away, and no whole status is lost.
    @Test(arguments: [true, false])
    func aShardDoesNotTakeWhatOthersHaveWritten(isBack: Bool) async throws {
        for number in 1...2 {
            #expect(try await fixture.end("run m.yaml -o out --shard \(number)/2").exit == 0)
        }
        #expect(try await fixture.end("merge out").exit == 0)
        let whole = try fixture.bytes("out/status.json")
        let name = try #require(
            try Status(
                in: Directory(path: fixture.url("out/.darkroom/shard-1-of-2").path))?.images.first)
        let file = try #require(name.output?.file)
        let good = try fixture.bytes("out/\(file)")
        try fixture.remove("out/.darkroom/shard-1-of-2")
        try fixture.write(good.reversed(), to: "out/\(file)")
        try await fixture.end("run m.yaml -o out --shard 1/2").shows(
            exit: 65, errors: .has("out/\(file): it was changed: its SHA-256 is "))
        try await fixture.end("merge out").shows(exit: 8, output: "--array=1\n")
        #expect(try fixture.bytes("out/status.json") == whole)
        // Somebody puts the output back, or moves the other one away.
        if isBack {
            try fixture.write(good, to: "out/\(file)")
        } else {
            try fixture.remove("out/\(file)")
        }
        #expect(try await fixture.end("run m.yaml -o out --shard 1/2").exit == 0)
        #expect(try fixture.bytes("out/\(file)") == good)
        #expect(try await fixture.end("merge out").exit == 0)
        #expect(try await fixture.end("verify out").exit == 0)
    }

    @Test func mergeTellsWhatFailsAnew() async throws {
        #expect(try await fixture.end("run m.yaml -o out --shard 1/1").exit == 0)
        #expect(try await fixture.end("merge out").exit == 0)
        try fixture.remove("out/gray.png")
        try fixture.remove("gray.png")
        #expect(try await fixture.end("run m.yaml -o out --shard 1/1").exit == 3)
        try await fixture.end("merge out").shows(
            exit: 3,
            errors: """
                darkroom: 1 image of the former status.json failed since then, and the outputs are gone: gray
                darkroom: Run these shards with --retry to repeat the failed images:
                darkroom: --array=1

                """)
        #expect(try await fixture.end("merge out --json").output.contains(#""lost":[]"#))
    }

    struct Damage: Sendable, CustomTestStringConvertible {
        let file: String
        /// A shell's command in the folder of the results; FILE is the file.
        let command: String
        let run: String
        let merge: String

        var testDescription: String { "\(command) \(file)" }
    }

    private static let unreadable = """
        it is not what this version of darkroom can read
        darkroom: It is damaged, or a newer version has written it. A retry alone does not help. Restore it, or remove the folder to make all anew.

        """
    private static let link = """
        a symbolic link is in the place of this file
        darkroom: Remove the link, or put the file itself there.

        """
    private static let copy = """
        this copy of the manifest was changed
        darkroom: Move it away. Then darkroom run writes it again.

        """

    @Test(arguments: [
        Damage(
            file: ".darkroom/plan.json", command: "truncate -s -20 FILE", run: unreadable,
            merge: unreadable),
        Damage(
            file: ".darkroom/plan.json", command: "mv FILE x; ln -s x FILE", run: link,
            merge: link),
        Damage(
            file: ".darkroom/manifest.yaml", command: "sed -i s/small/smoll/ FILE", run: copy,
            merge: copy),
        Damage(
            file: ".darkroom/shard-1-of-1/status.json", command: "truncate -s -20 FILE",
            run: unreadable,
            merge:
                "darkroom: shard 1: its status.json: it is not what this version of darkroom can read\n"
        ),
        Damage(
            file: ".darkroom/shard-1-of-1/status.json", command: "mv FILE x; ln -s $PWD/x FILE",
            run: link,
            merge: "darkroom: shard 1: a symbolic link is in the place of its status\n"),
    ]) func damagedFilesAreRefused(damage: Damage) async throws {
        #expect(try await fixture.end("run m.yaml -o out --shard 1/1").exit == 0)
        try await ClientProcess.end(
            ["--version"], folder: fixture.url("out").path,
            before: damage.command.replacing("FILE", with: damage.file)
        ).shows(exit: 0)
        // The lock is a file of the folder that both commands work in.
        let names = fixture.list("out").filter { $0 != ".darkroom" } + [damage.file]
        let before = fixture.identities(of: names)
        let path = "out/\(damage.file)"
        try await fixture.end("run m.yaml -o out --shard 1/1").expect(
            exit: 65, errors: "darkroom: \(path): \(damage.run)")
        let merge = try await fixture.end("merge out")
        let told =
            damage.merge.hasPrefix("darkroom: ")
            ? damage.merge : "darkroom: \(path): \(damage.merge)"
        merge.expect(exit: 65, errors: told)
        #expect(fixture.identities(of: names) == before)
    }

    @Test(.enabled(if: geteuid() == 0)) func saysWhoseShardItIs() async throws {
        chmod(fixture.scratch.path, 0o777)
        #expect(try await fixture.end("run m.yaml -o out --shard 1/1", user: 65533).exit == 0)
        try await fixture.end("run m.yaml -o out --shard 1/1", user: 65534).shows(
            exit: 77, output: .nothing,
            errors: """
                darkroom: out/.darkroom: this folder belongs to the user with the number 65533, and not to 65534, who runs the command
                darkroom: Whoever can write to it could exchange files during the run. Run the command as its user, name another folder, or remove this one.

                """)
        try await fixture.end("merge out", user: 65534).shows(exit: 77)
    }

    // MARK: The process

    /// The kernel's signal would end the program without a word.
    @Test(
        arguments: [
            ("run m.yaml -o out --progress none", [3, 74]), ("filter small.png -o r.png", [74]),
        ] as [(String, [Int32])])
    func saysThatAFileIsTooLarge(line: String, exits: [Int32]) async throws {
        let result = try await fixture.end(line, before: "ulimit -f 1")
        #expect(exits.contains(result.exit), "\(result)")
        #expect(result.errors.contains("File too large"), "\(result)")
        #expect(!fixture.exists("r.png"))
    }

    /// Dispatch would end the process by a signal.
    @Test(arguments: 5...14) func saysThatItMayOpenTooFewFiles(limit: Int) async throws {
        let result = try await fixture.end(
            "submit m.yaml --spool none", before: "ulimit -n \(limit)")
        let message =
            "darkroom: the limit of open files (RLIMIT_NOFILE) is \(limit), and 3 are open already, but at least 8 more "
        #expect(result.exit == (limit < 11 ? 74 : 66), "\(result)")
        #expect(result.errors.hasPrefix(message) == (limit < 11), "\(result)")
    }

    @Test func mergeSaysThatAFileIsTooLarge() async throws {
        #expect(try await fixture.end("run m.yaml -o out --shard 1/1").exit == 0)
        let merge = try await fixture.end("merge out", before: "ulimit -f 1")
        merge.expect(
            exit: 74,
            errors:
                "darkroom: out/.darkroom/status.new: cannot write: File too large\n")
        #expect(!fixture.exists("out/status.json"))
        #expect(try await fixture.end("merge out").exit == 0)
    }

    /// While it waits for its manifest, it ends at once, and as a run that was stopped.
    @Test(arguments: [SIGUSR1, SIGTERM, SIGINT, SIGHUP], [[], ["--json"]] as [[String]])
    func aSignalEndsTheReading(signal: CInt, options: [String]) async throws {
        let run = try fixture.begin(
            ["-", "-o", "out"] + options, before: "mkfifo p; exec 0<>p")
        try await eventually("blocked signals", context: { run.text("errors") }) {
            run.expects(signal) ? true : nil
        }
        run.send(signal)
        let result = try await run.result()
        let name = [SIGINT: "SIGINT", SIGTERM: "SIGTERM", SIGHUP: "SIGHUP", SIGUSR1: "SIGUSR1"]
        result.shows(
            exit: 75,
            errors: "darkroom: stopped by \(name[signal] ?? "?") before anything was done\n")
        #expect(result.output.contains(#""exit":75"#) == !options.isEmpty)
        #expect(!fixture.exists("out"))
    }

    /// With each limit it either works or says why not. Nobody else is one of these users.
    @Test(.enabled(if: geteuid() == 0, "root has no limit of threads"), arguments: 1...24)
    func worksOrSaysThatThereAreTooFewThreads(limit: Int) async throws {
        chmod(fixture.scratch.path, 0o777)
        let result = try await fixture.end(
            "run m.yaml -o out --quiet", before: "ulimit -p \(limit)", user: 64_100 + UInt32(limit))
        guard result.exit != 0 else { return }
        #expect(limit <= ThreadLimit.least)
        result.expect(
            exit: 74,
            errors:
                "darkroom: only \(limit - 1) of \(ThreadLimit.least) threads can be started: Resource temporarily unavailable; "
                + "raise the limit of threads (ulimit -u) or of memory (ulimit -v)\n")
        #expect(!fixture.exists("out"))
    }

    // MARK: A read-only file system

    @Test(
        .enabled(if: SmallDisk.isAvailable, "only root can mount"),
        arguments: ["", " --shard 1/1"])
    func aFinishedRunOnAReadOnlyMountIsLookedAt(shard: String) async throws {
        let line = "run m.yaml -o out\(shard)"
        #expect(try await fixture.end(line).exit == 0)
        if !shard.isEmpty { #expect(try await fixture.end("merge out").exit == 0) }
        let expected = try await fixture.end(line)
        #expect(expected.exit == 0 && expected.output.hasSuffix("; nothing to do\n"))
        let share = try ReadOnlyShare(of: fixture.url("out").path)
        func there(_ line: String) async throws -> ClientProcess.Result {
            try await fixture.end(line.replacing(" out", with: " \(share.path)"))
                .replacing(share.path, with: "out")
        }
        #expect(try await there(line) == expected)
        for line in ["verify out", "verify out --again"] {
            let result = try await there(line)
            #expect(result.exit == 0 && result.errors == "", "\(line): \(result)")
        }
        // What somebody writes to elsewhere is not looked at.
        let other = fixture.url("out/.darkroom\(shard.isEmpty ? "" : "/shard-1-of-1")").path
        let lock = try SpoolLock.take(Directory(path: other), for: "somebody")
        try await there(line).shows(exit: 75, errors: .has("out is in use by somebody, process "))
        _ = consume lock
        // What is missing cannot be made there.
        try fixture.remove("out/gray.png")
        try await there(line).shows(
            exit: 73, output: .nothing, errors: .has("Read-only file system"))
        #expect(try await fixture.end(line).exit == 0)
        let again = try await fixture.end(line)
        #expect(again.exit == 0 && again.output.hasSuffix("; nothing to do\n"))
        #expect(try await there(line) == again)
    }

    /// It reads, and says what is missing.
    @Test(.enabled(if: SmallDisk.isAvailable, "only root can mount"))
    func mergeReadsAReadOnlyMount() async throws {
        #expect(try await fixture.end("run m.yaml -o out --shard 1/2").exit == 0)
        let share = try ReadOnlyShare(of: fixture.url("out").path)
        try await fixture.end("merge \(share.path)").expect(
            exit: 8, output: "--array=2\n",
            errors: """
                darkroom: shard 2: it has not begun
                darkroom: 1 of 2 shards must run again.

                """)
        let new = try await fixture.end("run m.yaml -o \(share.path) --shard 2/2")
        #expect(new.exit == 73 && new.errors.contains("Read-only file system"), "\(new)")
        #expect(try await fixture.end("run m.yaml -o out --shard 2/2").exit == 0)
        try await fixture.end("merge \(share.path)").shows(
            exit: 73, errors: .has("status.new: cannot create: Read-only file system"))
    }

    // MARK: Shards in work

    @Test func mergeSaysWhichShardIsInWork() async throws {
        let run = try fixture.begin(
            [
                "m.yaml", "-o", "out", "--shard", "1/1", "--quiet", "--jobs", "2", "--set",
                "stop.timeout=0s",
            ],
            environment: ["DARKROOM_FAULT": "decode=gray:hang"])
        try await eventually("the other images", context: { run.text("errors") }) {
            // It appears after the folder.
            let folder = try? Directory(path: fixture.url("out/.darkroom/shard-1-of-1").path)
            let status = folder.flatMap { try? Status(in: $0) }
            return status?.counts.filtered == 3 ? true : nil
        }
        try await fixture.end("merge out").expect(
            exit: 8,
            errors: """
                darkroom: shard 1: it is in work; 3 of 4 images are done
                darkroom: 1 of 1 shard is in work.

                """)
        let json = try await fixture.end("merge out --json")
        #expect(json.exit == 8 && json.output.contains(#""inWork":true"#), "\(json)")
        #expect(!json.output.contains(#""array""#))
        run.send(SIGTERM)
        #expect(try await run.result().exit == 75)
        try await fixture.end("merge out").shows(
            exit: 8, output: "--array=1\n", errors: .has("1 of 1 shard must run again."))
    }

    // MARK: verify

    private func beginVerify() async throws -> ClientProcess {
        let before = Set(fixture.list(""))
        let verify = try ClientProcess(
            ["verify", "out", "--again", "--set", "stop.timeout=0s"], folder: fixture.scratch.path,
            environment: [
                "TMPDIR": fixture.scratch.path, "DARKROOM_FAULT": "decode=gray:hang",
            ])
        try await eventually("a picture in work", context: { verify.text("errors") }) {
            let scratch = fixture.list("").first {
                $0.hasPrefix(".darkroom-") && !before.contains($0)
            }
            let folder = scratch.map { "\($0)/out/.darkroom/shard-1-of-1/active/again" }
            return folder.map { fixture.list($0).contains("journal") } == true
                ? true : nil
        }
        return verify
    }

    private var scratchFolders: [String] {
        fixture.list("").filter { $0.hasPrefix(".darkroom-") }
    }

    @Test func aSignalEndsVerify() async throws {
        #expect(try await fixture.end("run m.yaml -o out").exit == 0)
        let verify = try await beginVerify()
        verify.send(SIGUSR1)
        try await verify.result().shows(
            exit: 75, output: .nothing,
            errors: .ends("darkroom: stopped by SIGUSR1 before the end\n"))
        #expect(scratchFolders == [])
    }

    /// The next one removes it, and nothing of a living process or of others.
    @Test func aKilledVerifyLeavesNothingForLong() async throws {
        #expect(try await fixture.end("run m.yaml -o out").exit == 0)
        let killed = try await beginVerify()
        killed.send(SIGKILL)
        #expect(try await killed.result().exit == 128 + SIGKILL)
        let left = scratchFolders
        #expect(left.count == 1)
        // Not a folder of its own, although it is named like one.
        let link = ".darkroom-1-2"
        #expect(symlink(fixture.url("out").path, fixture.url(link).path) == 0)
        var kept = [link]
        if geteuid() == 0 {
            kept.append(".darkroom-1-3")
            try fixture.write("a", to: ".darkroom-1-3/a")
            #expect(chown(fixture.url(".darkroom-1-3").path, 65534, 65534) == 0)
        }
        let living = try await beginVerify()
        #expect(!left.contains(where: scratchFolders.contains))
        let own = scratchFolders.filter { !kept.contains($0) }
        #expect(own.count == 1)
        try await fixture.end("verify out --again", environment: ["TMPDIR": fixture.scratch.path])
            .shows(exit: 0)
        #expect(scratchFolders == (kept + own).sorted())
        living.send(SIGTERM)
        #expect(try await living.result().exit == 75)
        #expect(scratchFolders == kept)
        #expect(fixture.exists("out/gray.png"))
    }
}
