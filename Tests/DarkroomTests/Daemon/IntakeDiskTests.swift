import TestSupport
import Testing

@testable import DarkroomCore
@testable import DarkroomDaemon
@testable import DarkroomFixtures
@testable import DarkroomManifest

/// Manifests on a disk that is really full.
@Suite(.enabled(if: SmallDisk.isAvailable, "only root can mount a small file system"))
struct IntakeDiskTests {
    let disk: SmallDisk

    init() throws {
        disk = try SmallDisk(kilobytes: 2048)
    }

    /// Puts manifests into the inbox when no byte is free on the disk but theirs.
    private func dropWhenFull(_ names: [FileName], _ fixture: IntakeFixture) throws {
        let tmp = fixture.spool.tmp
        for name in names {
            try tmp.write(Array(IntakeFixture.manifest.utf8), to: name, durably: false)
        }
        try disk.fill(butFor: 0)
        let inbox = try fixture.spool.openInbox()
        for name in names { try tmp.rename(name, to: inbox, as: name) }
    }

    /// With no byte left a manifest is neither lost nor answered twice.
    @Test func manifestsWaitForSpace() async throws {
        let fixture = try IntakeFixture(spoolPath: disk.root.path).started()
        try dropWhenFull(["a.json", "b.json", "c.json"], fixture)
        try await fixture.wait(for: .storageWaits)
        #expect(try fixture.report().why?.code == "disk")
        try await fixture.wait(for: "some tries") {
            fixture.time.advance(by: 1)
            return (fixture.base.storage.report?.secondsBetweenAttempts ?? 0) >= 8
        }
        #expect(try fixture.spool.outbox.names() == [])
        disk.empty()
        try await fixture.wait(for: "their claims") {
            fixture.time.advance(by: 1)
            return fixture.claimed.count == 3
        }
        try await fixture.finish()
        #expect(fixture.claimed.sorted() == ["a.json", "b.json", "c.json"])
        #expect(try fixture.base.finished.keys.sorted() == ["a", "b", "c"])
        #expect(try fixture.names == [])
        #expect(try fixture.report().why == nil)
    }

    /// What a former daemon has left is taken over when there is room.
    @Test func recoveryWaitsForSpace() async throws {
        let fixture = try IntakeFixture(spoolPath: disk.root.path)
        // Its receipt is still to be written.
        let images = [Manifest.Image(name: "i", origin: .source("s"))]
        let prepared = try fixture.base.prepare("left", Manifest(images: images))
        try fixture.spool.outbox.removeTree("left")
        try disk.fill(butFor: 0)
        try fixture.start()
        try await fixture.wait(for: .storageWaits)
        #expect(fixture.journal.all(.batchResumed).isEmpty)
        disk.empty()
        try await fixture.wait(for: "the resumption") {
            fixture.time.advance(by: 1)
            return fixture.journal.all(.batchResumed).count == 1
        }
        try await fixture.finish()
        #expect(try fixture.base.finished == [prepared.id: .completed])
    }

    /// A control file that has acted stays until the disk permits its removal. It acts once.
    @Test func aControlFileIsRemovedWhenTheDiskPermitsIt() async throws {
        let fixture = try IntakeFixture(settle: 0, spoolPath: disk.root.path).started()
        try fixture.spool.tmp.write([], to: "nobody.cancel", durably: false)
        try disk.setFreeFiles(0)
        let inbox = try fixture.spool.openInbox()
        try fixture.spool.tmp.rename("nobody.cancel", to: inbox, as: "nobody.cancel")
        try await fixture.wait(for: .storageWaits)
        fixture.intake.queue.sync {}
        #expect(try fixture.names == ["nobody.cancel"])
        try disk.setFreeFiles(nil)
        // The guard's attempt.
        fixture.time.advance(by: 1)
        try await fixture.wait(for: "its removal") { try fixture.names == [] }
        fixture.intake.queue.sync {}
        #expect(fixture.journal.all(.controlIdle).count == 1 && fixture.base.storage.mayWork)
    }

    /// Control files act on batches in work although no manifest is claimed.
    @Test func controlFilesAct() async throws {
        let fixture = try IntakeFixture(spoolPath: disk.root.path).started()
        fixture.base.holdOperations()
        try fixture.drop("a.json")
        try await fixture.wait(for: .batchClaimed)
        try fixture.spool.tmp.write([], to: "a.cancel", durably: false)
        try dropWhenFull(["b.json"], fixture)
        try await fixture.wait(for: .storageWaits)
        let inbox = try fixture.spool.openInbox()
        try fixture.spool.tmp.rename("a.cancel", to: inbox, as: "a.cancel")
        try await fixture.wait(for: .batchCancelled)
        disk.empty()
        fixture.base.releaseOperations()
        try await fixture.wait(for: "their ends") {
            fixture.time.advance(by: 1)
            return try fixture.base.finished.count == 2
        }
        #expect(try fixture.base.finished == ["a": .cancelled, "b": .completed])
        try await fixture.wait(for: "its removal") { try fixture.names == [] }
    }
}
