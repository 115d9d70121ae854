import Foundation
import Glibc
import Synchronization
import TestSupport
import Testing

@testable import DarkroomAnswer
@testable import DarkroomCore
@testable import DarkroomManifest
@testable import DarkroomPicture
@testable import DarkroomSpool

/// The pictures of submitted folders that are kept in their answers: each step, and what the folder's owner may do.
final class OriginalsTests: SpoolSuite {
    override var examination: Examination {
        Examination(limits: ManifestLimits(), defaultFilters: [], settle: 3600)
    }

    override init() throws {
        try super.init()
        spool.keepsOriginals.store(true, ordering: .relaxed)
    }

    private static let text = #"{"images": {"a": "a.png"}}"#

    /// A batch whose images have ended, and its last status, which is not written.
    private func begin(_ text: String = text) throws -> (folders: BatchFolders, last: Status) {
        try inbox.makeDirectory("job")
        let folder = try Directory("job", in: inbox)
        for file: FileName in ["manifest.json", "a.png"] {
            try folder.write(Array(text.utf8), to: file, durably: false)
        }
        let (claimed, first) = try Receipt.issue(for: take("job"), durably: true)
        var status = first
        guard status.state != .rejected else { return (claimed.folders, status) }
        status.state = .cancelled
        status.times.finished = Clock.timestamp
        for index in status.images.indices { status.images[index].state = .cancelled }
        return (claimed.folders, status)
    }

    /// A batch with its last status, which may be in `active` still.
    private func end() throws -> BatchFolders {
        let (folders, last) = try begin()
        try folders.writeLastStatus(last, durably: true)
        return folders
    }

    private func finish(_ folders: BatchFolders) throws {
        try Receipt.finish(folders, format: .json, durably: true)
    }

    static let answer: Set<String> = ["status.json", "manifest.json"]

    @Test func areInTheAnswerWhenTheBatchHasEnded() throws {
        let (folders, last) = try begin()
        let before = try inode("active/job/submitted/job")
        try folders.writeLastStatus(last, durably: true)
        #expect(try inode("outbox/job/originals") == before)
        try finish(folders)
        #expect(try entries(of: folders.outbox()) == Self.answer.union(["originals"]))
        #expect(try inode("outbox/job/originals") == before)
        #expect(
            try entries(of: Directory("originals", in: folders.outbox())) == [
                "manifest.json", "a.png",
            ])
        #expect(try entries(of: spool.active) == [])
    }

    private func information(_ path: String) throws -> stat {
        try #require(try spool.root.information(of: FileName(path)))
    }

    private func inode(_ path: String) throws -> UInt64 { UInt64(try information(path).st_ino) }

    @Test func areNotKeptUnlessThatIsSet() throws {
        spool.keepsOriginals.store(false, ordering: .relaxed)
        let folders = try end()
        try finish(folders)
        #expect(try entries(of: folders.outbox()) == Self.answer)
        #expect(try spool.active.names().map { $0.text.hasPrefix(".ended-job.") } == [true])
    }

    /// Copies that the daemon has made of pictures in a hot folder are not originals.
    @Test func areNotThoseOfHotFolders() throws {
        let (folders, last) = try begin()
        let station = try HotStations(spool).open("/srv/scans")
        try station.write([], to: "job.batch", durably: false)
        try folders.writeLastStatus(last, durably: true)
        try finish(folders)
        #expect(try entries(of: folders.outbox()) == Self.answer)
    }

    /// A crash between the rename and the last status: the batch continues with the pictures where they are now.
    @Test func areThePicturesAfterACrash() throws {
        let (folders, last) = try begin()
        guard case .here(let before, _) = try folders.pictures() else { throw Unexpected() }
        #expect(before.path.hasSuffix("/active/job/submitted/job"))
        try folders.keepOriginals(mayBeFolder: true, durably: true)
        guard case .here(let after, owner: geteuid()) = try folders.pictures() else {
            throw Unexpected()
        }
        #expect(after.path.hasSuffix("/outbox/job/originals"))
        // The batch ends again.
        try folders.keepOriginals(mayBeFolder: true, durably: true)
        try folders.writeLastStatus(last, durably: true)
        #expect(try entries(of: folders.outbox()) == Self.answer.union(["originals"]))
    }

    /// A crash after the last status.
    @Test func areThereAfterACrash() throws {
        let folders = try end()
        guard case .finished(givenBack: nil) = try recovery.recover("job") else {
            throw Unexpected()
        }
        #expect(
            try entries(of: folders.outbox()) == Self.answer.union(["originals", "progress.json"]))
        #expect(try entries(of: spool.active) == [])
    }

    /// A reopened batch has them again, with the same rules; and not what somebody has put in their place.
    @Test func areThereForARetry() throws {
        let folders = try end()
        try finish(folders)
        var information = stat()
        information.st_uid = geteuid()
        information.st_ctim.tv_sec = Int(Clock.wall + 10)
        let file = try #require(ControlFile("job.retry"))
        let request = ControlRequest(file, information)
        guard case .reopened = try reopening.reopen("job", request.record) else {
            throw Unexpected()
        }
        guard case .here(let pictures, let owner) = try folders.pictures() else {
            throw Unexpected()
        }
        #expect(owner == geteuid() && pictures.path.hasSuffix("/outbox/job/originals"))
        let path = "\(spool.outbox.path)/job/originals"
        #expect(rename(path, path + ".away") == 0)
        guard case .gone = try folders.pictures() else { throw Unexpected() }
        #expect(symlink("originals.away", path) == 0)
        guard case .gone = try folders.pictures() else { throw Unexpected() }
    }

    // MARK: Their manifest

    private static let secrets = #"{"images": {"a": "https://ann:top5ecret@h/a.png?k=an0ther"}}"#

    private func mode(_ path: String) throws -> mode_t { try information(path).st_mode }

    private static let kept = "outbox/job/originals/manifest.json"

    @Test func aManifestWithoutSecretsIsTheSubmittersFile() throws {
        let (folders, last) = try begin()
        let before = try inode("active/job/submitted/job/manifest.json")
        try folders.writeLastStatus(last, durably: true)
        try finish(folders)
        #expect(try inode(Self.kept) == before)
    }

    /// It has the bytes and the mode of the copy beside the status: with `***`, or for the daemon alone, because a part
    /// cannot be replaced, or because the manifest is refused.
    @Test(arguments: [
        (secrets, false), (#"{"images": {"top5ecret": "https://ann:top5ecret@h/a.png"}}"#, true),
        (#"{"images": {"a": "https://ann:top5ecret@h/a.png"}, "imagez": 1}"#, true),
    ])
    func aManifestWithSecretsIsTheCopy(text: String, isClosed: Bool) throws {
        let (folders, last) = try begin(text)
        let submitted = "active/job/submitted/job/manifest.json"
        // Another name of the submitter's file is not the daemon's business.
        let other = scratch.path + "/other.json"
        try #require(link("\(spool.root.path)/\(submitted)", other) == 0)
        if last.state != .rejected { try folders.writeLastStatus(last, durably: true) }
        try finish(folders)
        let answer = try folders.outbox()
        let copy = try answer.read("manifest.json")
        #expect(try Directory("originals", in: answer).read("manifest.json") == copy)
        #expect((copy == Array(text.utf8)) == isClosed)
        #expect(try mode(Self.kept) == mode("outbox/job/manifest.json"))
        #expect(try (mode(Self.kept) & 0o077 == 0) == isClosed)
        #expect(try Data(contentsOf: URL(filePath: other)) == Data(text.utf8))
        #expect(try entries(of: spool.active) == [])
    }

    /// Somebody has removed the copy of the answer.
    @Test func theExactManifestIsClosedWithoutACopy() throws {
        let (folders, last) = try begin(Self.secrets)
        try folders.outbox().remove("manifest.json")
        try folders.writeLastStatus(last, durably: true)
        #expect(try mode(Self.kept) == S_IFREG | 0o600)
    }

    /// Its submitter has put something else there.
    @Test func nothingIsFollowedInItsPlace() throws {
        let (folders, last) = try begin(Self.secrets)
        let path = "\(spool.active.path)/job/submitted/job"
        let outside = scratch.path + "/outside"
        try Data([1]).write(to: URL(filePath: outside))
        try #require(unlink(path + "/manifest.json") == 0)
        try #require(symlink(outside, path + "/manifest.json") == 0)
        try #require(mkdir(path + "/manifest.yaml", 0o777) == 0)
        try folders.writeLastStatus(last, durably: true)
        try finish(folders)
        #expect(try mode(Self.kept) & S_IFMT == S_IFLNK)
        #expect(try Data(contentsOf: URL(filePath: outside)) == Data([1]))
        #expect(try entries(of: spool.active) == [])
    }

    // MARK: Removed

    /// Whatever is in them: links are removed and not followed, and what a permission protects waits for the next hour.
    @Test func goWithTheAnswer() throws {
        let folders = try end()
        try finish(folders)
        let outside = scratch.path + "/outside"
        try #require(mkdir(outside, 0o777) == 0)
        try Data([1]).write(to: URL(filePath: outside + "/kept"))
        let path = "\(spool.outbox.path)/job/originals"
        try #require(mkdir(path + "/sub", 0o777) == 0)
        try #require(symlink(outside, path + "/sub/link") == 0)
        try #require(symlink("/etc/passwd", path + "/b.png") == 0)
        try #require(mkfifo(path + "/fifo", 0o666) == 0)
        let moved = Mutex<[FileName]>([])
        spool.ended.onMove { name in moved.withLock { $0.append(name) } }
        let expired = try #require(try finished("job").takeOut(of: spool))
        #expect(try spool.outbox.names().isEmpty)
        try clear(expired)
        #expect(try spool.active.names() == moved.withLock { $0 } && moved.withLock(\.count) == 1)
        #expect(try ActiveFolder(of: spool).foreign.isEmpty)
        #expect(try spool.ended.clear { false } == 1)
        #expect(try spool.active.names().isEmpty)
        #expect(FileManager.default.fileExists(atPath: outside + "/kept"))
    }

    /// They count for `retention.bytes`, however deep they are, and links do not lead out.
    @Test func countForTheSize() throws {
        let folders = try end()
        try finish(folders)
        let before = try finished("job").bytes
        let path = "\(spool.outbox.path)/job/originals"
        try #require(symlink("/usr", path + "/usr") == 0)
        #expect(try finished("job").bytes < before + 65536)
        try #require(mkdir(path + "/sub", 0o777) == 0)
        try Data(repeating: 1, count: 1 << 20).write(to: URL(filePath: path + "/sub/large.png"))
        #expect(try finished("job").bytes >= before + 1 << 20)
    }

    /// Only that folder, and only in the answer of a folder.
    @Test(arguments: [
        ("originals", true, nil), ("other", true, "other"), ("originals", false, "originals"),
    ])
    func otherFoldersAreForeign(name: String, isFolder: Bool, foreign: String?) throws {
        spool.keepsOriginals.store(false, ordering: .relaxed)
        let folders = try end()
        try finish(folders)
        let answer = try folders.outbox()
        var status = try #require(try Status(in: answer))
        status.manifest.isFolder = isFolder ? true : nil
        try answer.write(status.encoded(), to: "status.json", replacing: true, durably: false)
        try answer.makeDirectory(FileName(name))
        switch try FinishedBatch.read("job", in: spool.outbox) {
        case .finished: #expect(foreign == nil)
        case .foreign(let reason):
            #expect(foreign.map { "it contains a folder, \($0)" } == reason)
        default: throw Unexpected()
        }
    }

    /// No output has the name of the folder, so no image needs another name.
    @Test(arguments: ["originals", "Originals", "originals.png"])
    func noOutputHasTheirName(name: String) {
        #expect(ImageName.fault(of: ByteString(name)) == nil)
        for format in OutputFormat.allCases {
            #expect(
                FileName(Manifest.Image.outputFile(named: ByteString(name), format).string)
                    != BatchFile.originals)
        }
    }
}
