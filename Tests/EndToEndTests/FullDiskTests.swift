import Foundation
import TestPictures
import TestSupport
import Testing

/// A spool whose disk is really full, and later gets space.
@Suite(
    .fewAtATime, .enabled(if: SmallDisk.isAvailable, "only root can mount a small file system"))
struct FullDiskTests {
    static let beginning = "no further work begins until this has passed"
    static let end = "The spool can be written to again"

    private func count(_ words: String, in daemon: DaemonProcess) -> Int {
        daemon.outputText.split(separator: "\n").count { $0.contains(words) }
    }

    /// The wait is doubled by each attempt that meets the same problem.
    private func waitForAttempts(_ daemon: DaemonProcess) async throws {
        try await daemon.waitUntil("further attempts") { daemon in
            ["4 s", "8 s", "16 s", "30 s"].contains {
                daemon.statusText.contains("; next attempt in \($0)")
            }
        }
    }

    private func waitForTheEnd(of daemon: DaemonProcess) async throws {
        try await daemon.waitUntil("the end of the trouble") { _ in
            count(Self.end, in: daemon) == 1
        }
        #expect(count(Self.beginning, in: daemon) == 1)
        #expect(!daemon.outputText.contains("failed"))
    }

    @Test func imagesWaitForSpace() async throws {
        let disk = try SmallDisk(kilobytes: 8192)
        let (fixture, daemon) = try await DaemonFixture.running(
            pictures: 60, spool: SpoolFixture(root: disk.root))
        try disk.fill(butFor: 300)
        try fixture.drop("work", images: (0..<60).map { ("\($0)", fixture.url("\($0).png")) })
        // Between two attempts it says that it works.
        try await daemon.waitUntil("the reason") {
            let text = $0.statusText
            return text.hasPrefix("Waiting: ") && text.hasSuffix("; 1 batch unfinished")
                && text.contains("No space left on device; next attempt in ")
        }
        // The outputs may have taken the very last page, and then there is none for the status that says so.
        let given = Task {
            while !Task.isCancelled {
                try await Task.sleep(for: .seconds(3))
                try disk.empty(kilobytes: 8)
            }
        }
        let waiting = try await fixture.spool.waitForStatus(of: "work", daemon, "waiting") {
            $0.waiting != nil
        }
        given.cancel()
        #expect(waiting.waiting?.code == "disk-full")
        #expect(waiting.waiting?.message.contains(disk.root.path) == true)
        #expect(waiting.counts.failed == 0 && waiting.counts.finished < 60)
        // After further attempts nothing has changed.
        try await waitForAttempts(daemon)
        #expect(try fixture.spool.status(of: "work")?.counts.failed == 0)
        #expect(fixture.spool.list("active") == ["work"])

        disk.empty()
        let status = try await fixture.complete("work", daemon)
        #expect(status.waiting == nil)
        try await waitForTheEnd(of: daemon)
        try await daemon.waitForStatusText("Idle")
        #expect(try await daemon.stop() == .exited(0))
    }

    /// Space that images take from each other: there is room for all outputs, and for one image in work.
    @Test func imagesTakeTurnsOnADiskThatIsNearlyFull() async throws {
        let disk = try SmallDisk(kilobytes: 8192)
        let fixture = try DaemonFixture(pictures: 0, spool: SpoolFixture(root: disk.root))
        let picture = Starfield.png(width: 400, height: 300, seed: 5)
        for index in 0..<8 {
            try fixture.documents.write(picture, to: "\(index).png")
        }
        let daemon = try await fixture.run()
        // How large an output is, and how much the rest takes.
        let first = try await fixture.finish("first", images: [("a", fixture.url("0.png"))], daemon)
        let output = try #require(try first.image("a").output).bytes
        try disk.fill(butFor: (8 * output + 2 * picture.count + (64 << 10)) / 1024)
        try await fixture.complete(
            "turns", images: (0..<8).map { ("\($0)", fixture.url("\($0).png")) }, daemon)
        #expect(count(Self.beginning, in: daemon) == 1)
    }

    /// A daemon starts where not even its name can be written into the lock.
    @Test func startsWithNoByteLeft() async throws {
        let disk = try SmallDisk(kilobytes: 4096)
        let fixture = try DaemonFixture(pictures: 2, spool: SpoolFixture(root: disk.root))
        try fixture.spool.makeFolders()
        for folder in ["active", "outbox"] {
            try disk.makeFolder(folder)
        }
        try fixture.dropWhenFull(["first"], disk)
        let daemon = try await fixture.run()
        try await daemon.waitForStatusText("Waiting: ")
        disk.empty()
        try await fixture.complete("first", daemon)
    }

    /// A stop does not wait for space, and the next start goes on.
    @Test func stopsAndStartsOnAFullDisk() async throws {
        let disk = try SmallDisk(kilobytes: 8192)
        let fixture = try DaemonFixture(pictures: 40, spool: SpoolFixture(root: disk.root))
        let first = try await fixture.run(["stop.timeout": "3600s"])
        try disk.fill(butFor: 200)
        try fixture.drop("work", images: (0..<40).map { ("\($0)", fixture.url("\($0).png")) })
        try await first.waitForStatusText("Waiting: ")
        #expect(try await first.stop() == .exited(0))

        let second = try await fixture.run()
        try await second.waitForStatusText("Waiting: ")
        disk.empty()
        try await fixture.complete("work", second)
    }
}

/// Conditions of the process rather than of the disk.
@Suite(.fewAtATime) struct ProcessLimitTests {
    @Test func waitsForFileDescriptors() async throws {
        let (fixture, daemon) = try await DaemonFixture.running(pictures: 30)
        // The start and the first scan have files open for a moment.
        _ = try await fixture.waitForReport(daemon, "the first scan") { $0.scanned != nil }
        var counts: [Int] = []
        let open = try await eventually("the number of open files to stay") {
            counts = try counts.suffix(9) + [daemon.openFiles()]
            return counts.count == 10 && Set(counts).count == 1 ? counts[0] : nil
        }
        try daemon.limit("nofile", to: open + 3)
        try fixture.drop("work", images: (0..<30).map { ("\($0)", fixture.url("\($0).png")) })
        try await daemon.waitUntil("the reason") {
            let text = $0.statusText
            return text.hasPrefix("Waiting: ") && text.contains("Too many open files")
        }
        try await daemon.waitUntil("further attempts") {
            $0.statusText.contains(/; next attempt in (4|8|16) s/)
        }
        try daemon.limit("nofile", to: 1024)
        try await fixture.complete("work", daemon)
        #expect(fixture.spool.list("outbox") == ["work"])
    }

    /// A file above the largest that the process may write is that image's trouble and nobody else's.
    @Test func failsAnImageThatIsLargerThanAFileMayBe() async throws {
        let fixture = try DaemonFixture(pictures: 1)
        try fixture.documents.write(
            Starfield.png(width: 400, height: 300, seed: 3), to: "large.png")
        let daemon = try await fixture.run()
        try daemon.limit("fsize", to: 32 << 10)
        let status = try await fixture.finish(
            "sizes",
            images: [("small", fixture.url("0.png")), ("large", fixture.url("large.png"))], daemon)
        #expect(try status.image("small").state == .filtered)
        let error = try #require(try status.image("large").error)
        #expect(error.code == "write-failed")
        #expect(error.message.contains("File too large"))
        try fixture.checkOutcome(status)
        #expect(!daemon.outputText.contains(FullDiskTests.beginning))
    }
}

/// What people do to the spool's folders behind the daemon's back.
@Suite(.fewAtATime) struct RemovedFolderTests {
    @Test func aBatchWhoseFolderIsRemovedEnds() async throws {
        let (fixture, daemon) = try await DaemonFixture.running(
            pictures: DaemonFixture.many, ["downloads.concurrency": "2"])
        try fixture.drop("gone", images: fixture.slowImages())
        _ = try await fixture.spool.waitForStatus(of: "gone", daemon, filtered: 3)
        // At one blow. File by file, an image could fail for the want of its own file before all are gone, and what
        // the daemon writes meanwhile would be in the way.
        try fixture.spool.move("active/gone", to: "elsewhere")
        let status = try await fixture.spool.finish("gone", daemon)
        #expect(status.state == .completedWithErrors)
        #expect(status.counts.filtered >= 3 && status.counts.failed > 0)
        for image in status.images where image.state == .failed {
            #expect(image.error?.code == "batch-removed")
        }
        try fixture.checkOutcome(status)
        // The others are not concerned.
        try await fixture.complete("after", images: [("a", fixture.url("0.png"))], daemon)
    }

    /// Without inotify no event tells of a new inbox.
    @Test(.enabled(if: DaemonProcess.canForbidInotify, "user namespaces are not allowed"))
    func pollingNoticesANewInbox() async throws {
        let fixture = try DaemonFixture(pictures: 1)
        let daemon = try await DaemonProcess.run(
            spool: fixture.spool.path, settings: ["inbox.poll": "0.1s"], withInotify: false)
        try await daemon.says("because inotify does not work")
        let inbox = fixture.spool.root.appending(path: "inbox")
        try FileManager.default.removeItem(at: inbox)
        try await daemon.waitUntil("the inbox's return") { _ in fixture.spool.exists("inbox") }
        try await fixture.complete("removed", images: [("a", fixture.url("0.png"))], daemon)

        // Renamed away, and another put in its place at once.
        try FileManager.default.moveItem(
            at: inbox, to: fixture.spool.root.appending(path: "elsewhere"))
        try? FileManager.default.makeFolder(at: inbox)
        try await fixture.complete("renamed", images: [("a", fixture.url("0.png"))], daemon)
    }

    /// A link into the inbox whose first name is gone before anyone looked is to inotify a file that is being
    /// written, and to the rescan a file that is there.
    @Test func theRescanTakesAManifestWhoseFirstNameIsGone() async throws {
        let (fixture, daemon) = try await DaemonFixture.running(
            pictures: 1, ["inbox.rescan": "1s", "inbox.settle": "0.1s"])
        for index in 0..<5 {
            let draft = fixture.spool.root.appending(path: "tmp/draft")
            let manifest = try DaemonFixture.json(["images": ["a": fixture.url("0.png")]])
            try manifest.write(to: draft, atomically: false, encoding: .utf8)
            try FileManager.default.linkItem(
                at: draft, to: fixture.spool.root.appending(path: "inbox/linked\(index).json"))
            try FileManager.default.removeItem(at: draft)
        }
        for index in 0..<5 {
            try await fixture.complete("linked\(index)", daemon)
        }
    }
}

extension DaemonFixture {
    /// Puts manifests into the inbox when no byte is free on the disk but theirs.
    fileprivate func dropWhenFull(_ ids: [String], _ disk: SmallDisk) throws {
        let manifest = try Self.json(["images": ["a": url("0.png"), "b": url("1.png")]])
        for id in ids {
            try spool.write(manifest, to: "tmp/\(id)")
        }
        try disk.fill(butFor: 0)
        for id in ids {
            try spool.move("tmp/\(id)", to: "inbox/\(id).json")
        }
    }
}
