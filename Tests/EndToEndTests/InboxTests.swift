import Foundation
import TestSupport
import Testing

/// How manifests come to lie in the inbox, and what else lies there.
@Suite(.fewAtATime) struct InboxTests {
    @Test func leavesOtherFilesAlone() async throws {
        let (fixture, daemon) = try await DaemonFixture.running(["inbox.settle": "0s"])
        let names = [
            ".hidden.json", "half.json.tmp", "half.json.part", "backup.json~", "notes.txt",
            "without-ending",
        ]
        let manifest = try DaemonFixture.json(["images": [fixture.url("0.png")]])
        for name in names { try fixture.spool.drop(name, manifest) }
        let folder = fixture.spool.root.appending(path: "inbox/folder.json")
        try FileManager.default.makeFolder(at: folder)
        try fixture.spool.link("inbox/link.json", to: "/etc/hostname")
        #expect(mkfifo(fixture.spool.root.appending(path: "inbox/fifo.json").path, 0o644) == 0)

        // Whatever is dropped after them is looked at after them.
        try fixture.spool.drop("last.json", manifest)
        try await fixture.complete("last", daemon)

        let left = names + ["folder.json", "link.json", "fifo.json"]
        #expect(fixture.spool.list("inbox") == left.sorted())
        #expect(fixture.spool.list("outbox") == ["last"])
        // Each has a visible reason, except those whose names ask not to be looked at.
        for name in ["notes.txt", "without-ending", "folder.json", "link.json", "fifo.json"] {
            try await daemon.says("inbox/\(name) is not taken")
        }
    }

    @Test func neverOverwritesABatchOfTheSameName() async throws {
        let (fixture, daemon) = try await DaemonFixture.running()
        var identities: [SpoolFixture.FileIdentity] = []
        for (index, id) in ["trip", "trip-2", "trip-3"].enumerated() {
            try fixture.spool.drop(
                "trip.json", try DaemonFixture.json(["images": ["p": fixture.url("\(index).png")]]))
            let status = try await fixture.complete(id, daemon)
            #expect(status.manifest.name == "trip.json")
            identities.append(try fixture.spool.identity("outbox/\(id)/p.png"))
        }
        // Another ending, the same ID.
        try fixture.spool.drop("trip.yaml", "images: {p: \(fixture.url("3.png"))}")
        try await fixture.complete("trip-4", daemon)
        for (id, identity) in zip(["trip", "trip-2", "trip-3"], identities) {
            #expect(try fixture.spool.identity("outbox/\(id)/p.png") == identity)
        }
    }

    enum Removal: CaseIterable, Sendable { case removed, renamed }

    @Test(arguments: Removal.allCases)
    func putsTheInboxBack(removal: Removal) async throws {
        let (fixture, daemon) = try await DaemonFixture.running()
        let inbox = fixture.spool.root.appending(path: "inbox")
        switch removal {
        case .removed: try FileManager.default.removeItem(at: inbox)
        case .renamed:
            try FileManager.default.moveItem(
                at: inbox, to: fixture.spool.root.appending(path: "elsewhere"))
        }
        try await daemon.waitUntil("the inbox's return") { _ in fixture.spool.exists("inbox") }
        try fixture.drop("after", images: [("a", fixture.url("0.png"))])
        try await fixture.complete("after", daemon)
        // And the new watch is a watch: events come, not only a scan.
        try fixture.drop("later", images: [("a", fixture.url("0.png"))])
        try await fixture.complete("later", daemon)
    }
}
