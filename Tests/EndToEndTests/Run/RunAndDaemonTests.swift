import DarkroomAnswer
import Foundation
import TestSupport
import Testing

/// A run writes what the daemon writes.
@Suite(.fewAtATime) struct RunAndDaemonTests {
    /// A status without what differs between two runs of the same work.
    private static func comparable(_ status: Status) -> Status {
        var status = status
        status.times = Status.Times(received: "")
        status.written = nil
        status.manifest.identity = nil
        status.images = status.images.map { image in
            var image = image
            image.milliseconds = ImageStatus.Milliseconds()
            image.times = nil
            // Only a run looks at its sources again.
            image.sourceIdentity = nil
            return image
        }
        return status
    }

    private func compare(_ fixture: DaemonFixture, _ id: String, _ folder: String) throws {
        let answer = fixture.spool.root.appending(path: "outbox/\(id)")
        let run = fixture.documents.url.appending(path: folder)
        let names = try FileManager.default.contentsOfDirectory(atPath: run.path)
            .filter { $0 != ".darkroom" }.sorted()
        #expect(fixture.spool.list("outbox/\(id)") == names)
        for name in names where name != "status.json" && name != "progress.json" {
            let bytes = [answer, run].map {
                FileManager.default.contents(atPath: $0.appending(path: name).path)
            }
            #expect(bytes[0] == bytes[1], "\(name)")
        }
        let statuses = try [answer, run].map { folder in
            let data = try Data(contentsOf: folder.appending(path: "status.json"))
            return try #require(Status(decoding: Array(data)))
        }
        #expect(Self.comparable(statuses[0]) == Self.comparable(statuses[1]))
    }

    @Test func theTourIsTheSame() async throws {
        let fixture = try DaemonFixture(pictures: 0)
        for name in ["tour.json", "pictures"] {
            try FileManager.default.copyItem(
                at: Repository.root.appending(path: "etc/samples/\(name)"),
                to: fixture.documents.url.appending(path: name))
        }
        let daemon = try await fixture.run(fixture.readsDocuments)
        try await compareBoth(fixture, "tour.json", id: "tour", exit: 0)
        #expect(try await daemon.stop() == .exited(0))
    }

    @Test func failuresAreTheSame() async throws {
        let fixture = try DaemonFixture(pictures: 2)
        try fixture.write("words", to: "words.png")
        try fixture.write(
            String(decoding: DaemonFixture.picture.prefix(40), as: UTF8.self), to: "cut.png")
        try fixture.write(
            """
            priority: low
            images:
              good: 0.png
              web: {source: '\(fixture.url("1.png"))', output: {format: jpeg}}
              words: words.png
              cut: cut.png
              orphan: {from: cut}
              late: {source: 1.png, after: [cut], filters: [{overlay: {from: good}}]}
              gone: '\(fixture.url("none.png"))'

            """, to: "mixed.yaml")
        let daemon = try await fixture.run(
            fixture.readsDocuments.merging(["cache.maxBytes": "0"]) { $1 })
        try await compareBoth(fixture, "mixed.yaml", id: "mixed", exit: 3)
        #expect(try await daemon.stop() == .exited(0))
    }

    private func compareBoth(
        _ fixture: DaemonFixture, _ name: String, id: String, exit: Int32
    ) async throws {
        try await fixture.client("submit", name, "--wait").shows(exit: exit)
        // The settings of the tests' daemon that concern the result.
        try await ClientProcess.end(
            [
                "run", name, "-o", "out", "--set", "downloads.allowNetworks=[127.0.0.0/8]", "--set",
                "downloads.retries=4", "--set", "sources.roots=[\(fixture.documents.path)]",
            ], folder: fixture.documents.path
        ).shows(exit: exit)
        try compare(fixture, id, "out")
    }
}
