import Foundation
import Glibc
import TestSupport
import Testing

/// Hot folders with the real daemon: each picture gets exactly one answer.
@Suite(.fewAtATime) struct HotFolderTests {
    // MARK: Taken

    @Test func takesWhatIsThereAndWhatComes() async throws {
        let fixture = try HotFolderFixture()
        try fixture.put("a.png", 1)
        try fixture.put("2026/may/b.PNG", 2)
        var daemon = try await fixture.run()
        try await fixture.expectAnswers(["a.png", "2026-may-b.PNG"], daemon)
        // A folder that appears with its content, one that is filled, and a file that is written in place.
        let other = try ScratchDirectory()
        try other.write(HotFolderFixture.picture(3), to: "c.png")
        #expect(rename(other.path, fixture.path("moved")) == 0)
        try fixture.put("new/deep/d.png", 4)
        try fixture.write(HotFolderFixture.picture(5), to: "e.png")
        let all = ["a.png", "2026-may-b.PNG", "moved-c.png", "new-deep-d.png", "e.png"]
        var answers = try await fixture.expectAnswers(all, daemon)
        #expect(answers.allSatisfy { $0.state == .filtered && $0.image.output?.width == 8 })
        #expect(
            answers.map(\.image.name).sorted() == ["2026-may-b", "a", "e", "moved-c", "new-deep-d"])
        // The batch belongs to the daemon's user and has the recipe.
        let status = try #require(try fixture.spool.status(of: answers[0].id))
        #expect(status.manifest.uid == geteuid() && status.recipes?.map(\.name) == ["small"])
        #expect(status.id.hasPrefix("scans-") && status.manifest.isFolder == true)
        let report = try await fixture.waitForReport(daemon, "all") { $0.remembered == 5 }
        #expect(report.state == .watching && report.files == [] && report.message == nil)
        #expect(
            report.path == fixture.folder && report.recipe == "small" && report.originals == .keep)
        // What came while no daemon ran; nothing else is taken again.
        #expect(try await daemon.stop() == .exited(0))
        try fixture.put("new/f.png", 6)
        daemon = try await fixture.run()
        answers = try await fixture.expectAnswers(all + ["new-f.png"], daemon)
        try await fixture.waitForNoRecords(daemon)
        #expect(fixture.left.filter { $0.lowercased().hasSuffix(".png") }.count == 6)
        #expect(try await daemon.stop() == .exited(0))
    }

    @Test func picturesThatComeTogetherShareABatch() async throws {
        let fixture = try HotFolderFixture(options: ", within: 1s, batch: 4")
        for index in 0..<10 { try fixture.put("\(index).png", index) }
        let daemon = try await fixture.run()
        let answers = try await fixture.expectAnswers((0..<10).map { "\($0).png" }, daemon)
        let sizes = Dictionary(grouping: answers, by: \.id).values.map(\.count).sorted()
        #expect(sizes == [2, 4, 4])
        #expect(try await daemon.stop() == .exited(0))
    }

    @Test func aSlowWriterIsWaitedFor() async throws {
        let fixture = try HotFolderFixture()
        let daemon = try await fixture.run()
        try await fixture.waitForReport(daemon, "a watch") { $0.state == .watching }
        let bytes = HotFolderFixture.picture(1)
        let writer = open(fixture.path("slow.png"), O_WRONLY | O_CREAT | O_EXCL, 0o644)
        bytes.withUnsafeBytes { #expect(write(writer, $0.baseAddress, 100) == 100) }
        let report = try await fixture.waitForReport(daemon, "a writer") {
            $0.files.map(\.reason) == [.beingWritten]
        }
        #expect(report.files.map(\.path) == ["slow.png"])
        #expect(report.files.map(\.message) == ["its writer has not closed it"])
        // Another picture is taken meanwhile, long after `inbox.settle`.
        try fixture.put("fast.png", 2)
        try await fixture.expectAnswers(["fast.png"], daemon)
        #expect(try fixture.report()?.folders.first?.files.map(\.reason) == [.beingWritten])
        bytes.dropFirst(100).withUnsafeBytes { rest in
            #expect(write(writer, rest.baseAddress, rest.count) == rest.count)
        }
        close(writer)
        let answers = try await fixture.expectAnswers(["fast.png", "slow.png"], daemon)
        #expect(answers.allSatisfy { $0.state == .filtered })
        #expect(try await daemon.stop() == .exited(0))
    }

    // MARK: The same, or another one

    @Test func aChangedPictureIsANewOneAndATouchedOneIsNot() async throws {
        let fixture = try HotFolderFixture()
        for name in ["same.png", "touched.png", "rewritten.png", "renamed.png", "removed.png"] {
            try fixture.put(name, name.utf8.count)
        }
        let daemon = try await fixture.run()
        let first = ["same.png", "touched.png", "rewritten.png", "renamed.png", "removed.png"]
        try await fixture.expectAnswers(first, daemon)
        try fixture.write(HotFolderFixture.picture("touched.png".utf8.count), to: "touched.png")
        try fixture.write(HotFolderFixture.picture(99), to: "rewritten.png")
        #expect(rename(fixture.path("renamed.png"), fixture.path("other.png")) == 0)
        #expect(link(fixture.path("same.png"), fixture.path("linked.png")) == 0)
        #expect(unlink(fixture.path("removed.png")) == 0)
        try fixture.put("removed.png", 5)
        try fixture.put("copy.png", "same.png".utf8.count)
        let all = first + ["rewritten.png", "removed.png", "copy.png"]
        try await fixture.expectAnswers(all, daemon)
        #expect(try await daemon.stop() == .exited(0))
        let again = try await fixture.run()
        try fixture.put("last.png", 77)
        try await fixture.expectAnswers(all + ["last.png"], again)
        #expect(try await again.stop() == .exited(0))
    }

    /// An entry of the ledger is forgotten when its file is gone, and only then.
    @Test func theLedgerForgetsWhatIsGone() async throws {
        let fixture = try HotFolderFixture()
        for index in 0..<5 { try fixture.put("\(index).png", index) }
        let daemon = try await fixture.run(["inbox.rescan": "500ms"])
        try await fixture.expectAnswers((0..<5).map { "\($0).png" }, daemon)
        for index in 0..<3 { #expect(unlink(fixture.path("\(index).png")) == 0) }
        try await fixture.waitForReport(daemon, "two pictures") { $0.remembered == 2 }
        #expect(try await daemon.stop() == .exited(0))
        // Also on the disk.
        let again = try await fixture.run()
        try await fixture.waitForReport(again, "two pictures") { $0.remembered == 2 }
        #expect(try await again.stop() == .exited(0))
    }

    // MARK: Not taken

    @Test func whatIsNotTakenHasItsReason() async throws {
        let fixture = try HotFolderFixture()
        let outside = try ScratchDirectory()
        try outside.write(HotFolderFixture.picture(1), to: "secret.png")
        try fixture.put("good.png", 1)
        for name in [".hidden.png", "a.png~", "b.png.part", "c.tmp", ".git/d.png"] {
            try fixture.put(name)
        }
        try fixture.put("letter.pdf", Data("%PDF".utf8))
        try fixture.put("empty.png", Data())
        try fixture.put("large.png", Data(count: 100_000))
        #expect(symlink("\(outside.path)/secret.png", fixture.path("link.png")) == 0)
        #expect(symlink(outside.path, fixture.path("linked")) == 0)
        #expect(mkfifo(fixture.path("fifo.png"), 0o644) == 0)
        let daemon = try await fixture.run(["downloads.maxBytes": "50000"])
        try await fixture.expectAnswers(["good.png"], daemon)
        let report = try await fixture.waitForReport(daemon, "the others") {
            $0.files.count == 6 && $0.remembered == 1
                && !$0.files.contains { $0.path == "good.png" }
        }
        #expect(
            report.files.map { "\($0.path): \($0.reason.rawValue)" } == [
                "letter.pdf: not-a-picture", "linked: not-a-picture", "fifo.png: not-a-file",
                "link.png: not-a-file", "large.png: too-large", "empty.png: empty",
            ])
        #expect(report.counts["not-a-picture"] == 2 && report.lasting == 5)
        try await daemon.says(
            "scans/letter.pdf is not taken: its name does not end like that of a picture")
        try await daemon.waitForStatusText(
            "Idle; 1 batch finished since the start; 5 files in hot folders cannot be taken")
        // Nothing was removed.
        #expect(fixture.left.count == 13)
        #expect(try await daemon.stop() == .exited(0))
    }

    /// Names of any bytes, and such that mean something in a source.
    @Test func hostileNamesAreNames() async throws {
        let fixture = try HotFolderFixture()
        let texts = [
            "a*b.png", "http:c.png", "d%20?#e.png", "\u{1F4F7} f.png", "h\ni.png", "-j.png",
            "manifest.png", "status.json.png", String(repeating: "k", count: 251) + ".png",
            "l-m.png",
        ]
        var names = texts.map { Array($0.utf8) }
        // Not UTF-8.
        names.append([0xFF, 0xFE, 0x2E, 0x70, 0x6E, 0x67])
        for (index, name) in names.enumerated() {
            let path = Array(fixture.folder.utf8) + [UInt8(ascii: "/")] + name + [0]
            let file = path.withUnsafeBytes { bytes in
                bytes.withMemoryRebound(to: CChar.self) {
                    open($0.baseAddress!, O_WRONLY | O_CREAT, 0o644)
                }
            }
            HotFolderFixture.picture(index).withUnsafeBytes {
                #expect(write(file, $0.baseAddress, $0.count) > 0)
            }
            close(file)
        }
        // The same name as one above, with its folder.
        try fixture.put("l/m.png", 50)
        let daemon = try await fixture.run()
        let found = try await eventually("12 answers", context: { daemon.describe() }) {
            let answers = try fixture.answers()
            return answers.count >= 12 && fixture.isIdle ? answers : nil
        }
        #expect(found.count == 12 && found.allSatisfy { $0.state == .filtered })
        // They come in more than one batch if the daemon looks twice, and each batch has a folder of its own.
        #expect(Set(found.map { "\($0.id)/\($0.image.name)" }).count == 12)
        #expect(
            found.map(\.source).contains("a_b.png") && found.map(\.source).contains("d_20__e.png"))
        #expect(try await daemon.stop() == .exited(0))
    }

    /// A file that is no picture fails, once; one that ends the daemon is quarantined, and the others are filtered.
    @Test func aBadPictureHasItsAnswerToo() async throws {
        let fixture = try HotFolderFixture(originals: "remove")
        try fixture.put("bad.png", Data("no picture".utf8))
        for index in 0..<3 { try fixture.put("\(index).png", index) }
        for _ in 0..<2 {
            try await fixture.die(at: "decode=1:segv", by: SIGSEGV)
        }
        let daemon = try await fixture.run(environment: ["DARKROOM_FAULT": "decode=1:segv"])
        let answers = try await fixture.expectAnswers(
            ["0.png", "1.png", "2.png", "bad.png"], daemon)
        #expect(answers.map(\.state) == [.filtered, .failed, .filtered, .failed])
        #expect(answers[1].image.error?.code == "quarantined")
        #expect(answers[3].image.error?.code == "not-a-picture")
        // Their originals stay and are not taken again.
        try await fixture.waitForNoRecords(daemon)
        #expect(fixture.left == ["1.png", "bad.png"])
        #expect(try await daemon.stop() == .exited(0))
        let again = try await fixture.run()
        try fixture.put("new.png", 9)
        try await fixture.expectAnswers(["0.png", "1.png", "2.png", "bad.png", "new.png"], again)
        #expect(try await again.stop() == .exited(0))
    }

    // MARK: Originals

    @Test(arguments: ["move", "remove"])
    func originalsGoWhenTheirOutputsAreThere(originals: String) async throws {
        let fixture = try HotFolderFixture(originals: originals)
        try fixture.put("sub/a.png", 1)
        try fixture.put("b.png", 2)
        let daemon = try await fixture.run(["status.interval": "0"])
        let answers = try await fixture.expectAnswers(["b.png", "sub-a.png"], daemon)
        try await fixture.waitForNoRecords(daemon)
        #expect(fixture.left == ["sub"])
        for (answer, seed) in zip(answers, [2, 1]) {
            let original = "outbox/\(answer.id)/\(answer.image.name).original.png"
            #expect(fixture.spool.exists(original) == (originals == "move"))
            if originals == "move" {
                #expect(Data(try fixture.spool.bytes(original)) == HotFolderFixture.picture(seed))
            }
        }
        // The same file comes again: it is a new one.
        try fixture.put("b.png", 2)
        try await fixture.expectAnswers(["b.png", "b.png", "sub-a.png"], daemon)
        try await eventually("no original") { fixture.left == ["sub"] ? true : nil }
        #expect(try await daemon.stop() == .exited(0))
    }

    /// A picture that changes while its batch is in work is another one: it stays, and gets its own answer.
    @Test func aPictureThatChangesMeanwhileIsNotRemoved() async throws {
        let fixture = try HotFolderFixture(originals: "remove")
        try fixture.put("a.png", 1)
        try fixture.pause()
        let daemon = try await fixture.run()
        try await fixture.waitForRecords(1, daemon)
        try fixture.put("a.png", 2)
        try await fixture.waitForRecords(2, daemon)
        try fixture.write(HotFolderFixture.picture(3), to: "b.png")
        daemon.send(SIGUSR2)
        let answers = try await fixture.expectAnswers(["a.png", "a.png", "b.png"], daemon)
        #expect(Set(answers.map(\.image.sourceSHA256)).count == 3)
        try await fixture.waitForNoRecords(daemon)
        #expect(fixture.left == [])
        #expect(try await daemon.stop() == .exited(0))
    }

    @Test func withoutAnAnswerTheOriginalsStay() async throws {
        let fixture = try HotFolderFixture(originals: "remove")
        try fixture.put("a.png", 1)
        try await fixture.die(at: "final-status-synced")
        for id in fixture.spool.list("outbox") {
            try fixture.spool.remove("outbox/\(id)")
        }
        for id in fixture.spool.list("active") {
            try fixture.spool.remove("active/\(id)")
        }
        let daemon = try await fixture.run()
        try await daemon.says("because its answer does not exist any more")
        try await fixture.waitForNoRecords(daemon)
        #expect(fixture.left == ["a.png"] && fixture.spool.list("outbox") == [])
        #expect(try await daemon.stop() == .exited(0))
    }

    // MARK: The folder

    @Test func nothingIsConcludedFromAFolderThatVanishes() async throws {
        let fixture = try HotFolderFixture()
        for index in 0..<3 { try fixture.put("\(index).png", index) }
        let daemon = try await fixture.run(["inbox.rescan": "300ms"])
        let first = (0..<3).map { "\($0).png" }
        try await fixture.expectAnswers(first, daemon)
        let away = "\(fixture.scratch.path)/away"
        #expect(rename(fixture.folder, away) == 0)
        let missing = try await fixture.waitForReport(daemon, "its loss") { $0.state == .missing }
        #expect(missing.remembered == 3)
        #expect(missing.message == "\(fixture.folder): cannot open: No such file or directory")
        // On a busy machine, not all pictures come with the first listing.
        let batches = fixture.spool.list("outbox").count
        try await daemon.waitForStatusText(
            "Idle; \(batches) \(batches == 1 ? "batch" : "batches") finished since the start; "
                + "hot folder \(fixture.folder) is missing")
        try HotFolderFixture.picture(7).write(to: URL(filePath: "\(away)/7.png"))
        // The mount point of a share that is not mounted: empty, and somebody puts a picture into it.
        #expect(mkdir(fixture.folder, 0o755) == 0)
        try await fixture.waitForReport(daemon, "another folder") {
            $0.state == .watching
                && $0.message?.hasPrefix("it is another folder than before") == true
        }
        try fixture.put("stray.png", 8)
        try await fixture.expectAnswers(first + ["stray.png"], daemon)
        // Several listings later, all are still remembered.
        try await Task.sleep(for: .seconds(1.5))
        #expect(try fixture.report()?.folders.first?.remembered == 4)
        #expect(rename(fixture.folder, "\(fixture.scratch.path)/stray") == 0)
        #expect(rename(away, fixture.folder) == 0)
        try await fixture.expectAnswers(first + ["stray.png", "7.png"], daemon)
        try await fixture.waitForReport(daemon, "its return") {
            $0.state == .watching && $0.message == nil
        }
        #expect(try await daemon.stop() == .exited(0))
    }

    @Test func aReloadAddsAndRemovesFolders() async throws {
        let fixture = try HotFolderFixture()
        try fixture.put("a.png", 1)
        let other = try ScratchDirectory()
        func configure(_ folders: String) throws {
            try "folders: \(folders)\n".write(
                toFile: fixture.configuration, atomically: true, encoding: .utf8)
        }
        try configure("[]")
        let daemon = try await fixture.base.run(
            HotFolderFixture.settings, arguments: ["--config", fixture.configuration])
        #expect(try fixture.report() == nil)
        try configure(fixture.setting)
        try await daemon.reload()
        try await fixture.expectAnswers(["a.png"], daemon)
        try fixture.recipe("filters: {resize: 4}\n", "tiny")
        try configure("[{path: \(other.path), recipe: tiny, within: 0s}]")
        try await daemon.reload()
        try fixture.put("b.png", 2)
        try other.write(HotFolderFixture.picture(3), to: "c.png")
        var answers = try await fixture.expectAnswers(["a.png", "c.png"], daemon)
        #expect(answers[1].image.output?.width == 4)
        // A refused configuration changes nothing.
        try configure("[{path: \(other.path), recipe: smal}]")
        try await daemon.reload()
        try await daemon.says("there is no recipe smal; did you mean small?")
        try other.write(HotFolderFixture.picture(4), to: "d.png")
        try await fixture.expectAnswers(["a.png", "c.png", "d.png"], daemon)
        try configure(fixture.setting)
        try await daemon.reload()
        answers = try await fixture.expectAnswers(["a.png", "b.png", "c.png", "d.png"], daemon)
        #expect(try await daemon.stop() == .exited(0))
    }

    /// What storage boxes and desktops put beside pictures is never taken, and so never removed; a reload changes the
    /// further names.
    @Test func leavesAloneWhatMachinesMake() async throws {
        let fixture = try HotFolderFixture(originals: "remove")
        let alone = [
            "#recycle/old.jpg", "$RECYCLE.BIN/S-1/a.jpg", "._a.jpg", ".@__thumb/b.jpg",
            "@eaDir/a.jpg/SYNOFILE_THUMB_XL.jpg", "Thumbs.db", "desktop.ini", "lost+found/x.jpg",
            "sub/@eaDir/c.jpg",
        ]
        for (index, name) in alone.enumerated() { try fixture.put(name, index) }
        try fixture.put("a.png", 50)
        try fixture.put("sub/b.png", 51)
        try fixture.put("draft.png", 52)
        func configure(_ ignore: String) throws {
            try "sources: {ignore: \(ignore)}\n".write(
                toFile: fixture.configuration, atomically: true, encoding: .utf8)
        }
        try configure("[draft*]")
        let daemon = try await fixture.run()
        try await fixture.expectAnswers(["a.png", "sub-b.png"], daemon)
        // Also those that events tell of.
        try fixture.put("@eaDir/d.jpg/later.jpg", 60)
        try fixture.put("new/#recycle/later.jpg", 61)
        try fixture.put("c.png", 62)
        try await fixture.expectAnswers(["a.png", "sub-b.png", "c.png"], daemon)
        try configure("[]")
        try await daemon.reload()
        try await fixture.expectAnswers(["a.png", "sub-b.png", "c.png", "draft.png"], daemon)
        try await fixture.waitForNoRecords(daemon)
        let files = fixture.left.filter { name in
            var isFolder: ObjCBool = false
            _ = FileManager.default.fileExists(atPath: fixture.path(name), isDirectory: &isFolder)
            return !isFolder.boolValue
        }
        #expect(
            files.sorted()
                == (alone + ["@eaDir/d.jpg/later.jpg", "new/#recycle/later.jpg"]).sorted())
        // They are no reason for a report either.
        try await fixture.waitForReport(daemon, "no file") { $0.files.isEmpty }
        #expect(try await daemon.stop() == .exited(0))
    }

    /// A link hides where the folder leads, and the spool itself may be behind it.
    @Test func aLoopThatAppearsLaterIsRefused() async throws {
        let fixture = try HotFolderFixture()
        #expect(rmdir(fixture.folder) == 0)
        let daemon = try await fixture.run()
        try await fixture.waitForReport(daemon, "its loss") { $0.state == .missing }
        #expect(symlink(fixture.spool.path, fixture.folder) == 0)
        let report = try await fixture.waitForReport(daemon, "the loop") { $0.state == .refused }
        #expect(report.message?.contains("outputs would be taken as pictures again") == true)
        #expect(try await daemon.stop() == .exited(0))
    }

    /// Until the rights of the folder above it are corrected.
    @Test func aFolderThatOthersCouldReplaceIsRefused() async throws {
        let fixture = try HotFolderFixture()
        try fixture.put("deep/a.png", 1)
        #expect(chmod(fixture.folder, 0o777) == 0)
        let deep = fixture.path("deep")
        let daemon = try await fixture.run([
            "folders": "[{path: \(deep), recipe: small, within: 100ms}]"
        ])
        let report = try await fixture.waitForReport(daemon, "the danger") { $0.state == .refused }
        #expect(
            report.message
                == "everybody may write to \(fixture.folder), and put another folder in its place")
        #expect(chmod(fixture.folder, 0o755) == 0)
        try await fixture.expectAnswers(["a.png"], daemon)
        try await fixture.waitForReport(daemon, "a watch") { $0.state == .watching }
        #expect(try await daemon.stop() == .exited(0))
    }
}
