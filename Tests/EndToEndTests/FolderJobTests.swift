import DarkroomCore
import DarkroomSpool
import Foundation
import TestPictures
import TestSupport
import Testing

/// Folders in the inbox: a manifest with its pictures.
@Suite(.fewAtATime) struct FolderJobTests {
    // MARK: Taken

    @Test func isOneManifestWithItsPictures() async throws {
        let (fixture, daemon) = try await DaemonFixture.running(pictures: 1)
        try fixture.dropFolder(
            "summer.2026",
            images: [
                ("relative", "sub/a b.png"), ("absolute", "/home/me/a.png"),
                ("url", "file:///home/me/b%20%23.png"), ("up", "sub/../c.png"),
                ("remote", fixture.url("0.png")),
            ],
            pictures: ["sub/a b.png", "home/me/a.png", "home/me/b #.png", "c.png"])
        let status = try await fixture.complete("summer.2026", daemon)
        #expect(status.manifest.name == "summer.2026")
        #expect(status.manifest.isFolder == true)
        #expect(status.manifest.uid == geteuid())
        // The answer names them as the manifest does.
        #expect(try status.image("absolute").source == "/home/me/a.png")
        // The next one of this name gets a number after the whole name.
        try fixture.dropFolder("summer.2026", images: [("c", "c.png")], pictures: ["c.png"])
        try await fixture.complete("summer.2026-2", daemon)
        #expect(fixture.spool.list("inbox") == [])
    }

    /// The same paths, other pictures: nothing is shared between batches, and nothing is taken from the roots.
    @Test func eachBatchHasItsOwn() async throws {
        let fixture = try DaemonFixture(pictures: 0)
        let roots = try ScratchDirectory()
        let pictures = (1...4).map { Starfield.png(width: 20, height: 10, seed: UInt64($0)) }
        try roots.write(pictures[3], to: "a.png")
        let daemon = try await fixture.run(["sources.roots": "[\(roots.path)]"])
        let path = roots.path + "/a.png"
        for index in 0..<3 {
            try fixture.dropFolder(
                "job\(index)", images: [("a", "a.png"), ("b", path)],
                pictures: ["a.png", String(path.dropFirst())], bytes: pictures[index])
        }
        try fixture.drop("root", images: [("a", "a.png"), ("b", path)])
        var sums: [[String?]] = []
        for id in ["job0", "job1", "job2", "root"] {
            let status = try await fixture.complete(id, daemon)
            sums.append(status.images.map(\.output?.sha256))
        }
        #expect(sums.allSatisfy { $0[0] != nil && $0[0] == $0[1] })
        #expect(Set(sums).count == 4)
    }

    @Test func whatIsNotInItIsInTheRoots() async throws {
        let fixture = try DaemonFixture(pictures: 1)
        let daemon = try await fixture.run(fixture.readsDocuments)
        try fixture.dropFolder(
            "job",
            images: [("a", "0.png"), ("b", "\(fixture.documents.path)/0.png"), ("c", "none.png")],
            pictures: [])
        let status = try await fixture.spool.finish("job", daemon)
        #expect(status.images.map(\.state) == [.filtered, .filtered, .failed])
        let error = try #require(try status.image("c").error)
        #expect(error.code == "source-missing")
        #expect(
            error.message
                == "none.png: no such file in the submitted folder, nor in sources.roots (\(fixture.documents.path))"
        )
    }

    // MARK: Not taken

    @Test func staysWithItsReason() async throws {
        let (fixture, daemon) = try await DaemonFixture.running(pictures: 0, ["inbox.settle": "0s"])
        for (name, files) in [
            ("none", ["a.png"]), ("several", ["manifest.json", "manifest.yaml"]),
            ("other.jpg", ["holiday.json"]),
        ] {
            try fixture.makeFolder(name, files: files.map { ($0, Array("{}".utf8)) })
            try fixture.dropMade(name)
        }
        let path = fixture.spool.path
        try #require(symlink(path + "/tmp", path + "/inbox/link") == 0)
        try #require(mkdir(path + "/inbox/x.hold", 0o777) == 0)
        let report = try await fixture.waitForReport(daemon, "the folders") {
            $0.counts["folder"] == 3 && $0.counts["not-a-file"] == 1
        }
        let without = SkipReason.folder(.noManifest).words
        let names = "manifest.json, manifest.yaml, manifest.yml or manifest.plist"
        let found = report.files.map { "\($0.name): \($0.reason.rawValue): \($0.message)" }
        #expect(
            found == [
                "x.hold: not-a-file: it is not a regular file",
                "none: folder: \(without)",
                "other.jpg: folder: \(without)",
                "several: folder: it is a folder with several manifests; one of \(names) is taken",
                "link: ignored-name: \(SkipReason.otherEnding.words)",
            ])
        #expect(fixture.spool.list("inbox/none") == ["a.png"])
        // What is put right is taken.
        try FileManager.default.removeItem(atPath: path + "/inbox/several/manifest.yaml")
        let status = try await fixture.spool.finish("several", daemon)
        #expect(status.state == .rejected)
    }

    /// Makes a folder in the inbox itself, and moves the files into it.
    private func fill(_ files: [String], _ fixture: DaemonFixture) throws {
        try fixture.spool.makeFolder("inbox/job")
        try fixture.makeFolder("job", images: [("a", "a.png")], pictures: ["a.png"])
        for file in files { try fixture.spool.move("tmp/job/\(file)", to: "inbox/job/\(file)") }
    }

    @Test func aFolderThatIsBeingWrittenIsLeftAlone() async throws {
        let (fixture, daemon) = try await DaemonFixture.running(pictures: 0, ["inbox.settle": "1h"])
        try fill(["manifest.json", "a.png"], fixture)
        _ = try await fixture.waitForReport(daemon, "the folder") { $0.counts["settling"] == 1 }
        // A rename says that it is complete.
        try fixture.spool.remove("tmp/job")
        try fixture.spool.move("inbox/job", to: "tmp/job")
        try fixture.dropMade("job")
        try await fixture.complete("job", daemon)
    }

    @Test func isTakenWhenItIsStill() async throws {
        let (fixture, daemon) = try await DaemonFixture.running(
            pictures: 0, ["inbox.settle": "0.2s"])
        try fill(["a.png", "manifest.json"], fixture)
        try await fixture.complete("job", daemon)
    }

    // MARK: Ends

    @Test func aRejectedOneLeavesItsManifest() async throws {
        let (fixture, daemon) = try await DaemonFixture.running(pictures: 0)
        try fixture.makeFolder(
            "job", files: [("manifest.yaml", Array("imagse: []\n".utf8)), ("a.png", [1])])
        try fixture.dropMade("job")
        let status = try await fixture.spool.finish("job", daemon)
        #expect(status.state == .rejected)
        #expect(try fixture.spool.bytes("outbox/job/manifest.yaml") == Array("imagse: []\n".utf8))
        try fixture.checkOutcome(status)
    }

    /// A manifest that cannot be kept in the answer is not lost, nor are its pictures.
    @Test func onesWithATooLargeManifestAreGivenBack() async throws {
        let (fixture, daemon) = try await DaemonFixture.running(
            pictures: 0, ["manifests.maxBytes": "64KiB"])
        let text = [UInt8](repeating: UInt8(ascii: "\n"), count: 70_000)
        try fixture.makeFolder("job", files: [("manifest.yaml", text), ("a.png", [1])])
        try fixture.dropMade("job")
        let status = try await fixture.spool.finish("job", daemon)
        #expect(status.errors?.map(\.code) == ["too-large"])
        #expect(fixture.spool.list("tmp/job") == ["a.png", "manifest.yaml"])
    }

    @Test func aRetryKeepsTheErrorsOfPicturesThatAreGone() async throws {
        let fixture = try DaemonFixture(pictures: 1)
        let daemon = try await fixture.run(fixture.readsDocuments)
        try fixture.makeFolder(
            "job",
            images: [
                ("a", "a.png"), ("b", "/b.png"), ("c", fixture.documents.path + "/0.png"),
                ("d", "1.png"),
            ], pictures: ["a.png"])
        for name in ["b", "1"] { try fixture.spool.write([0], to: "tmp/job/\(name).png") }
        try fixture.dropMade("job")
        let first = try await fixture.spool.finish("job", daemon)
        #expect(first.images.map(\.state) == [.filtered, .failed, .filtered, .failed])
        // Another picture of the same relative path is not the one that was sent.
        try fixture.documents.write(DaemonFixture.picture, to: "1.png")
        // What an absolute path names in the roots can be filtered again.
        try fixture.spool.remove("outbox/job/c.png")
        try fixture.spool.drop("job.retry", "")
        let second = try await fixture.spool.waitForRetry(1, of: "job", daemon)
        #expect(second.images.map(\.state) == [.filtered, .failed, .filtered, .failed])
        // What cannot be repeated keeps its own error.
        for name in ["b", "d"] {
            #expect(try second.image(name) == first.image(name))
            #expect(try second.image(name).error?.code == "not-a-picture")
        }
        try await fixture.client("retry", "job").expect(
            exit: 1,
            errors:
                "darkroom: job has nothing that can be repeated: the pictures that came with it were removed when it ended; submit them again (darkroom logs with its ID tells more)\n"
        )
        #expect(
            daemon.outputText.contains(
                "nothing of the batch can be repeated: the pictures that came with it were removed")
        )
        try await fixture.waitForRemoval()
    }

    @Test func isHeldAndCancelledByItsName() async throws {
        let (fixture, daemon) = try await DaemonFixture.running(pictures: 0)
        try fixture.spool.drop("job.v2.hold", "")
        try fixture.dropFolder(
            "job.v2", images: [("a", "a.png")], pictures: ["a.png", "b/c/d.png"])
        _ = try await fixture.spool.waitForStatus(of: "job.v2", daemon, .held)
        #expect(fixture.spool.exists("active/job.v2/submitted/job.v2/b/c/d.png"))
        try fixture.spool.drop("job.v2.cancel", "")
        let status = try await fixture.spool.finish("job.v2", daemon)
        #expect(status.state == .cancelled)
        try fixture.checkOutcome(status)
    }

    // MARK: Crashes

    static let points: [FaultPoint] = [
        .claimFolderMade, .claimPlaceMade, .claimMoved, .claimCopied, .claimFolderSynced,
        .claimActiveSynced, .claimInboxSynced, .receiptFolderMade, .receiptStatusWritten,
        .receiptManifestWritten, .receiptSynced, .receiptMoved, .receiptOutboxSynced, .filterBegan,
        .publishOutputMoved, .finalStatusMoved, .treeEntryRemoved, .activeRemoved,
    ]

    @Test(arguments: points) func aCrashLosesNothing(point: FaultPoint) async throws {
        let fixture = try DaemonFixture(pictures: 0)
        let first = try await fixture.run(environment: point.environment)
        try fixture.dropFolder(
            "job", images: [("a", "a.png"), ("b", "/x/y/b.png")], pictures: ["a.png", "x/y/b.png"])
        #expect(try await first.waitForEnding() == .killed(signal: SIGKILL))
        let second = try await fixture.run()
        let status = try await fixture.spool.finish("job", second)
        try fixture.checkCompleted(status)
        #expect(status.manifest.isFolder == true && status.manifest.name == "job")
        #expect(fixture.spool.list("outbox") == ["job"])
        try await fixture.waitForRemoval()
    }

    // MARK: Other users

    /// A daemon that may not remove a folder: the batch ends, its ID is free, and the rest goes when it can.
    @Test(.enabled(if: geteuid() == 0, "only root can be another user"))
    func aSubmitterCannotPreventTheEnd() async throws {
        let fixture = try DaemonFixture(pictures: 0)
        let spool = fixture.spool.path
        var daemon = try await fixture.runAsAnotherUser()
        for (folder, mode) in [("job", mode_t(0o770)), ("closed", 0o750), ("sticky", 0o1770)] {
            try fixture.makeFolderOfAnotherUser(
                folder, mode, pictures: ["a.png"] + (folder == "job" ? ["sub/b.png"] : []))
        }
        let submitter = DaemonFixture.submitter
        try #require(chown(spool + "/tmp/job/sub", submitter, submitter) == 0)
        try #require(chmod(spool + "/tmp/job/sub", 0o700) == 0)
        for name in ["closed", "sticky", "job"] { try fixture.dropMade(name) }
        try await fixture.complete("job", daemon, mayRemove: false)
        let left = try #require(fixture.spool.list("active").first)
        #expect(left.hasPrefix(".ended-job.") && fixture.spool.list("active").count == 1)
        _ = try await fixture.waitForReport(daemon, "the folders that cannot be removed") {
            $0.files.map(\.message)
                == Array(
                    repeating:
                        "it is a folder that darkroomd may not read, enter and write (or it has the sticky bit), so it could not remove it afterwards",
                    count: 2)
        }
        #expect(fixture.spool.list("inbox") == ["closed", "sticky"])
        #expect(try await daemon.stop() == .exited(0))
        for path in try FileManager.default.subpathsOfDirectory(atPath: "\(spool)/active") {
            try #require(chmod("\(spool)/active/\(path)", 0o777) == 0)
        }
        daemon = try fixture.launch(user: DaemonFixture.daemonUser)
        try await fixture.waitForRemoval()
    }

    /// What its submitter does after the daemon has taken the folder and was killed: the modes of the folder and of its
    /// manifest, and where the folder is afterwards.
    static let closings: [(folder: mode_t, manifest: mode_t, isAnswered: Bool)] = [
        (0o700, 0o600, true), (0o710, 0o600, true), (0o730, 0o600, false), (0o770, 0o600, false),
    ]

    @Test(.enabled(if: geteuid() == 0, "only root can be another user"), arguments: closings)
    func aClaimedOneThatCannotBeReadAnyMore(
        folder: mode_t, manifest: mode_t, isAnswered: Bool
    ) async throws {
        let fixture = try DaemonFixture(pictures: 0)
        let spool = fixture.spool.path
        let first = try await fixture.runAsAnotherUser(
            environment: FaultPoint.claimMoved.environment)
        try fixture.makeFolderOfAnotherUser("job")
        try fixture.dropMade("job")
        #expect(try await first.waitForEnding() == .killed(signal: SIGKILL))
        let claimed = spool + "/active/job/submitted/job"
        try #require(chmod(claimed + "/manifest.json", manifest) == 0)
        try #require(chmod(claimed, folder) == 0)

        let second = try fixture.launch(user: DaemonFixture.daemonUser)
        if isAnswered {
            let status = try await fixture.spool.finish("job", second)
            #expect(status.state == .rejected && status.manifest.isFolder == true)
            #expect(status.errors?.map(\.code) == ["unreadable"])
            let place = try #require(fixture.spool.list("tmp").first)
            #expect(place.hasPrefix("job.") && place.hasSuffix("~"))
            #expect(fixture.spool.list("tmp/\(place)/job") == ["a.png", "manifest.json"])
        } else {
            let isListed = folder & 0o40 != 0
            let expected =
                isListed
                ? "manifest.json: cannot open: Permission denied"
                : "it is a folder that darkroomd may not read, enter and write (or it has the sticky bit), so it could not remove it afterwards"
            _ = try await fixture.waitForReport(second, "why it is not taken") {
                $0.files.count == 1 && $0.files[0].message.contains(expected)
            }
            #expect(fixture.spool.list("inbox") == ["job"] && fixture.spool.list("outbox") == [])
        }
        try await fixture.waitForRemoval()
        #expect(try await second.stop() == .exited(0))
    }
}
