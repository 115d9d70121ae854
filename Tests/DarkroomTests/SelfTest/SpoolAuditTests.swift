import Foundation
import TestSupport
import Testing

@testable import DarkroomAnswer
@testable import DarkroomCore
@testable import DarkroomSelfTest

/// What the self-tests' audit finds wrong: each defect is made by hand, as no daemon should make it.
struct SpoolAuditTests {
    static let picture = Array("the picture".utf8)
    static let reference: SpoolAudit.Reference = [
        "single": ["small": .filtered(file: "small.png", picture)]
    ]

    let scratch: ScratchDirectory
    let folder: Directory
    let spool: TestSpool
    let id: String

    init() throws {
        scratch = try ScratchDirectory()
        folder = try Directory(path: scratch.path)
        spool = try TestSpool("spool", in: folder, program: "/bin/false")
        id = try spool.drop(.single)
        for name in ["active", "outbox"] { try root().makeDirectory(FileName(name)) }
    }

    private func root() throws -> Directory { try Directory("spool", in: folder) }

    private func audit(isFinal: Bool = false) throws -> SpoolAudit {
        var audit = SpoolAudit(spool, Self.reference)
        try audit.look(isFinal: isFinal)
        return audit
    }

    private func write(_ text: some Sequence<UInt8>, _ path: String) throws {
        let url = scratch.url.appending(path: "spool/\(path)")
        try FileManager.default.makeFolder(at: url.deletingLastPathComponent())
        try Data(text).write(to: url)
    }

    private func remove(_ path: String) throws {
        try scratch.remove("spool/\(path)")
    }

    private func status(_ state: BatchState, _ image: ImageState, id: String) -> Status {
        var image = ImageStatus(name: "small", source: "small.png", state: image)
        var counts = Status.Counts()
        counts.total = 1
        counts[image.state] = 1
        if image.state == .filtered {
            image.output = .init(
                file: "small.png", format: .png, sha256: SHA256Digest.hex(of: Self.picture),
                bytes: Self.picture.count, width: 1, height: 1, depth: 8, channels: 3)
        }
        if image.state == .failed {
            image.error = Failure(code: "write-failed", message: "x: y: z")
        }
        return Status(
            id: id,
            manifest: .init(name: "\(id).json", file: "manifest.json", sha256: "", bytes: 0),
            state: state, times: .init(received: ""), counts: counts, images: [image])
    }

    /// Takes the manifest out of the inbox and answers it.
    private func answer(
        _ state: BatchState = .completed, _ image: ImageState = .filtered,
        picture: [UInt8]? = picture,
        id: String? = nil
    ) throws {
        let id = id ?? self.id
        let status = status(state, image, id: id)
        try write(status.encoded(), "outbox/\(id)/status.json")
        try write(BatchProgress(of: status).encoded(), "outbox/\(id)/progress.json")
        try write(SampleManifest.single.text.utf8, "outbox/\(id)/manifest.json")
        if let picture { try write(picture, "outbox/\(id)/small.png") }
        if try spool.names("inbox") != [] { try remove("inbox/\(self.id).json") }
    }

    @Test func whatIsTooLargeIsInTmpAgain() throws {
        try answer()
        let long = try spool.drop(.tooLarge)
        try remove("inbox/\(long).yaml")
        var answer = status(.rejected, .new, id: long)
        answer.images = []
        answer.counts = Status.Counts()
        try write(answer.encoded(), "outbox/\(long)/status.json")
        try write(BatchProgress(of: answer).encoded(), "outbox/\(long)/progress.json")
        #expect(try audit().differing.count == 2)
        answer.manifest.file = nil
        answer.manifest.sha256 = nil
        try write(answer.encoded(), "outbox/\(long)/status.json")
        #expect(try audit(isFinal: true).problems == ["lost: \(long): found 0 of 1 in tmp"])
        try write([], "tmp/\(long).yaml")
        #expect(try audit(isFinal: true).problems == [])
        try write([], "tmp/\(long).yaml.1f3a9c02~")
        #expect(
            try audit(isFinal: true).problems == [
                "duplicated: \(long): found 2 in tmp instead of 1"
            ])
    }

    @Test func aManifestMayWait() throws {
        #expect(try audit().problems == [])
        #expect(try audit(isFinal: true).lost == ["inbox/\(id).json was not taken"])
    }

    @Test func aManifestMayHaveEnded() throws {
        try answer()
        let audit = try audit(isFinal: true)
        #expect(audit.problems == [])
        #expect(audit.manifests == 1 && audit.images == 1)
    }

    @Test func aClaimedManifestIsInActiveOrInAReceipt() throws {
        try remove("inbox/\(id).json")
        #expect(try audit().lost == ["\(id): found 0 of 1"])
        try root().makeDirectory(FileName("x"))
        try write([], "active/\(id)/journal")
        #expect(try audit().lost == ["\(id): found 0 of 1"])
        try write(SampleManifest.single.text.utf8, "active/\(id)/receipt/manifest.json")
        #expect(try audit().problems == [])
        #expect(try audit(isFinal: true).lost == ["active/\(id) still exists"])
    }

    @Test func aManifestInTwoPlacesIsDuplicated() throws {
        try write(SampleManifest.single.text.utf8, "active/\(id)/manifest.json")
        #expect(try audit().duplicated == ["\(id): found 2 instead of 1"])
    }

    /// Names with a dot are the daemon's own, and must be gone in the end.
    @Test func hiddenFoldersAreNoBatches() throws {
        try write(SampleManifest.single.text.utf8, "active/.retry-\(id)/manifest.json")
        #expect(try audit().problems == [])
        #expect(try audit(isFinal: true).lost.contains("active/.retry-\(id) still exists"))
    }

    @Test func aRetriedBatchIsLookedAtAgain() throws {
        try answer()
        var audit = SpoolAudit(spool, Self.reference)
        try audit.look(isFinal: true)
        try remove("outbox/\(id)/small.png")
        try audit.look(isFinal: true)
        #expect(audit.problems == [])
        audit.expectRetry(of: id)
        try audit.look(isFinal: true)
        #expect(audit.differing.count == 1)
        #expect(audit.manifests == 1)
    }

    @Test func aSecondAnswerIsADuplicate() throws {
        try answer()
        try answer(id: "\(id)-2")
        #expect(try audit().duplicated == ["\(id): found 2 instead of 1"])
    }

    @Test func anUnfinishedAnswerNeedsItsFolder() throws {
        try answer(.processing, .new, picture: nil)
        #expect(try audit().lost == ["\(id) is processing, but active/\(id) does not exist"])
    }

    @Test func halfAPictureDiffers() throws {
        try answer(picture: Array(Self.picture.dropLast()))
        #expect(
            try audit().differing == ["outbox/\(id)/small.png differs from a run without kills"])
    }

    @Test func aPictureUnderAnotherNameDiffers() throws {
        try answer()
        try write(Self.picture, "outbox/\(id)/output-0")
        #expect(
            try audit().differing == ["outbox/\(id)/output-0 differs from a run without kills"])
    }

    @Test func successWithoutAFileDiffers() throws {
        try answer(picture: nil)
        #expect(
            try audit().differing == ["\(id): small is filtered, but has no file"])
    }

    @Test func anImageThatHasNotEndedInABatchThatHasDiffers() throws {
        try answer(.completed, .downloaded, picture: nil)
        #expect(try audit().differing == ["\(id): small is downloaded"])
    }

    @Test func aFailureThatIsNotTheFaultsDiffers() throws {
        try answer(.completedWithErrors, .failed, picture: nil)
        #expect(try audit().differing == ["\(id): small failed: x: y: z [write-failed]"])
        var allowing = SpoolAudit(spool, Self.reference)
        allowing.mayFail = { $0.code == "write-failed" }
        try allowing.look(isFinal: true)
        #expect(allowing.problems == [] && allowing.failedByFault == 1)
    }

    @Test func aHalfStatusDiffers() throws {
        try answer()
        try write(Array("{\"schemaVer".utf8), "outbox/\(id)/status.json")
        #expect(try audit().differing == ["outbox/\(id) has no readable status"])
    }

    @Test func aProgressThatDoesNotAgreeDiffers() throws {
        try answer()
        try write(
            BatchProgress(of: status(.processing, .new, id: id)).encoded(),
            "outbox/\(id)/progress.json")
        #expect(try audit().differing == ["\(id): its progress differs from its status"])
        try write(Array("{".utf8), "outbox/\(id)/progress.json")
        #expect(try audit().differing == ["outbox/\(id) has no readable progress"])
        try remove("outbox/\(id)/progress.json")
        #expect(try audit().differing == ["outbox/\(id) has no progress"])
        var allowing = SpoolAudit(spool, Self.reference)
        allowing.mayLackProgress = true
        try allowing.look(isFinal: true)
        #expect(allowing.problems == [])
    }

    @Test func anotherManifestDiffers() throws {
        try answer()
        try write([], "outbox/\(id)/manifest.json")
        #expect(try audit().differing == ["outbox/\(id)/manifest.json differs from the manifest"])
    }
}
