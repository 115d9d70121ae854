import Glibc
import TestSupport
import Testing

@testable import DarkroomAnswer
@testable import DarkroomCore
@testable import DarkroomManifest
@testable import DarkroomSpool

/// The manifest whose copy in the answer is redacted, and its life.
final class ExactManifestsTests: SpoolSuite {
    private static let text = #"{"images": {"a": "https://ann:top5ecret@h/a.png?k=an0ther"}}"#

    private func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }

    /// Takes a manifest and answers it.
    @discardableResult
    private func answer(
        _ text: String = text, _ format: ManifestFormat = .json
    ) throws -> Status {
        let folders = try spool.makeBatch("x")
        let name = BatchFile.manifest(format)
        try folders.active().write(bytes(text), to: name, durably: false)
        let reading = try examination.read(OpenManifest(name, format, in: folders.active()))
        let claimed = ClaimedManifest(
            folders: folders, name: "x.\(format.rawValue)", format: format,
            received: Clock.timestamp, reading: reading, uid: geteuid())
        return try Receipt.issue(for: claimed, durably: true).1
    }

    /// Ends it without a success.
    private func end(_ status: Status) throws {
        var status = status
        status.state = .completedWithErrors
        status.times.finished = Clock.timestamp
        for index in status.images.indices { status.images[index].state = .failed }
        status.counts = Status.Counts()
        status.counts.total = status.images.count
        status.counts.failed = status.images.count
        try folders.writeLastStatus(status, durably: true)
        try Receipt.finish(folders, format: .json, durably: true)
    }

    private func mode(_ name: FileName, in folder: Directory) throws -> mode_t? {
        try folder.information(of: name).map { $0.st_mode & 0o777 }
    }

    private var exact: Directory { get throws { try Directory("private", in: spool.root) } }

    private func retry() throws -> Reopening.Outcome {
        try reopening.reopen("x", ControlRecord(.retry, uid: geteuid()))
    }

    @Test func theAnswerHasARedactedCopy() throws {
        let status = try answer()
        let copy = try folders.outbox().read("manifest.json")
        #expect(status.manifest.sha256 == SHA256Digest.hex(of: bytes(Self.text)))
        #expect(status.manifest.redacted?.sha256 == SHA256Digest.hex(of: copy))
        #expect(status.manifest.redacted?.bytes == copy.count)
        let read = Status(decoding: try folders.outbox().read("status.json"))
        #expect(read?.manifest == status.manifest)
        for name in try folders.outbox().names() {
            let text = String(decoding: try folders.outbox().read(name), as: UTF8.self)
            for secret in ["ann", "top5ecret", "an0ther"] { #expect(!text.contains(secret)) }
        }
        #expect(try mode("manifest.json", in: folders.outbox()) != 0o600)
        #expect(try mode("private", in: spool.root) == 0o700)
        #expect(try mode("x.json", in: exact) == 0o600)
        #expect(try exact.read("x.json") == bytes(Self.text))
    }

    @Test func aManifestWithoutSecretsHasNoOther() throws {
        #expect(try answer(#"{"images": ["a.png"]}"#).manifest.redacted == nil)
        #expect(try !spool.root.exists("private"))
    }

    /// It cannot be shown, or is refused.
    @Test(arguments: [
        #"{"images": {"top5ecret": "https://ann:top5ecret@h/a.png"}}"#,
        #"{"images": {"a": "https://ann:top5ecret@h/a.png"}, "imagez": 1}"#,
    ])
    func theExactCopyIsClosed(text: String) throws {
        #expect(try answer(text).manifest.redacted == nil)
        #expect(try folders.outbox().read("manifest.json") == bytes(text))
        #expect(try mode("manifest.json", in: folders.outbox()) == 0o600)
        #expect(try !spool.root.exists("private"))
    }

    @Test func aRetryReadsTheExactOne() throws {
        try end(answer())
        guard case .reopened(let prepared) = try retry() else { throw Unexpected() }
        #expect(
            prepared.manifest.images.map(\.origin)
                == [.source("https://ann:top5ecret@h/a.png?k=an0ther")])
        #expect(prepared.status.manifest.redacted != nil)
        #expect(try folders.active().read("manifest.json") == bytes(Self.text))
    }

    @Test func aRetryWithoutItIsRefused() throws {
        try end(answer())
        try exact.remove("x.json")
        guard case .unusable(let reason) = try retry() else { throw Unexpected() }
        #expect(
            reason
                == "the copy of its manifest has *** for users, passwords and queries of URLs, and the exact one is "
                + "gone from the spool; submit the manifest again [manifest-redacted]")
        #expect(try !spool.active.exists("x"))
    }

    /// Somebody has removed the manifest of a batch in work.
    @Test func aRestartReadsTheExactOne() throws {
        try answer()
        try folders.active().remove("manifest.json")
        let prepared = try resume()
        #expect(
            prepared.manifest.images.map(\.origin)
                == [.source("https://ann:top5ecret@h/a.png?k=an0ther")])
        #expect(prepared.status.manifest.redacted != nil)
    }

    /// Somebody has removed the copy of a batch in work: the answer gets the exact one, and the group must not read it.
    @Test func theEndClosesWhatItMoves() throws {
        let status = try answer()
        try folders.outbox().remove("manifest.json")
        try end(status)
        #expect(try folders.outbox().read("manifest.json") == bytes(Self.text))
        #expect(try mode("manifest.json", in: folders.outbox()) == 0o600)
    }

    @Test func aRemovalRemovesIt() throws {
        try end(answer())
        #expect(try finished("x").takeOut(of: spool) == ".expired-x")
        #expect(try exact.names().isEmpty)
    }

    /// A user has removed the answer, and perhaps submitted another manifest with the same name.
    @Test func aSweepRemovesWhatNobodyNeeds() throws {
        let manifests = ExactManifests(spool: spool)
        try end(answer())
        try exact.write([1], to: "y.yaml", durably: false)
        try exact.write([1], to: "x.yaml", durably: false)
        #expect(try manifests.sweep { false } == 2)
        #expect(try exact.names() == ["x.json"])
        try spool.outbox.removeTree("x")
        try spool.active.makeDirectory("x")
        #expect(try manifests.sweep { false } == 0)
        try spool.active.removeDirectory("x")
        #expect(try manifests.sweep { true } == 0)
        #expect(try manifests.sweep { false } == 1)
        #expect(try exact.names().isEmpty)
        try answer(#"{"images": ["a.png"]}"#)
        try exact.write([1], to: "x.json", durably: false)
        #expect(try manifests.sweep { false } == 0)
        try folders.active().remove("manifest.json")
        try spool.active.removeTree("x")
        #expect(try manifests.sweep { false } == 1)
    }
}
