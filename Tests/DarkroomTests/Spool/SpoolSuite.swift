import Glibc
import TestSupport
import Testing

@testable import DarkroomAnswer
@testable import DarkroomCore
@testable import DarkroomManifest
@testable import DarkroomSpool

/// What the suites of the spool have in common: each of their tests has a spool of its own.
class SpoolSuite {
    let scratch: ScratchDirectory
    let spool: Spool
    let inbox: Directory

    init() throws {
        scratch = try ScratchDirectory()
        spool = try Spool(path: scratch.path)
        inbox = try spool.openInbox()
    }

    /// With it a manifest need not have been left alone for any time.
    var examination: Examination {
        Examination(limits: ManifestLimits(), defaultFilters: [], settle: 0)
    }

    var recovery: Recovery { recovery(by: examination) }

    func recovery(by examination: Examination) -> Recovery {
        Recovery(spool: spool, examination: examination, durably: true)
    }

    var reopening: Reopening {
        Reopening(spool: spool, examination: examination, durably: true)
    }

    /// Those of the batch `x`.
    var folders: BatchFolders { BatchFolders(spool: spool, id: "x") }

    /// Makes those of the batch `x`, as its receipt leaves them.
    func makeFolders() throws {
        try spool.active.makeDirectory("x", mode: 0o700)
        try spool.outbox.makeDirectory("x")
    }

    /// What a test expects has not come about.
    struct Unexpected: Error {}

    /// What is ready in the inbox under this name.
    func candidate(_ name: FileName, by examination: Examination? = nil) throws -> Candidate {
        let examination = examination ?? self.examination
        guard case .ready(let candidate) = examination.examine(name, in: inbox, isWhole: true)
        else { throw Unexpected() }
        return candidate
    }

    func claim(by examination: Examination? = nil) -> Claim {
        Claim(
            spool: spool, inbox: inbox, examination: examination ?? self.examination, durably: true)
    }

    /// Claims what is in the inbox under this name.
    func take(_ name: FileName, by examination: Examination? = nil) throws -> ClaimedManifest {
        let outcome = claim(by: examination).take([try candidate(name, by: examination)])
        if let failure = outcome.failure { throw failure }
        #expect(outcome.refused.isEmpty)
        return try #require(outcome.claimed.first)
    }

    /// Prepares an unfinished batch, as a start does.
    func resume(
        _ id: String = "x", by examination: Examination? = nil
    ) throws -> PreparedBatch {
        let recovery = recovery(by: examination ?? self.examination)
        guard case .unfinished(let prepared) = try recovery.recover(id) else { throw Unexpected() }
        return prepared
    }

    func finished(_ id: String) throws -> FinishedBatch {
        guard case .finished(let batch) = try FinishedBatch.read(FileName(id), in: spool.outbox)
        else { throw Unexpected() }
        return batch
    }

    /// Removes the files of an answer that was taken out of the outbox.
    func clear(_ expired: FileName) throws {
        try Expired(spool: spool, isStopped: { false }).clear(expired)
    }

    func entries(of folder: Directory) throws -> Set<String> {
        Set(try folder.names().map(\.text))
    }

    /// What takes the place of a file.
    static let things: [(String, @Sendable (String) -> CInt)] = [
        ("a folder", { mkdir($0, 0o700) }), ("a fifo", { mkfifo($0, 0o600) }),
        ("a link", { symlink("/etc/hostname", $0) }),
        ("a socket", { mknod($0, S_IFSOCK | 0o600, 0) }),
    ]
}

/// Sets the times of a file to these seconds since 1970.
func setTimes(of path: String, to seconds: Int) {
    let times = [timespec](repeating: timespec(tv_sec: seconds, tv_nsec: 0), count: 2)
    #expect(utimensat(AT_FDCWD, path, times, 0) == 0)
}

extension ImageStatus.Output {
    /// The facts of a PNG with one pixel.
    static func png(_ file: String, sha256: String = "0", bytes: Int = 1) -> ImageStatus.Output {
        ImageStatus.Output(
            file: file, format: .png, sha256: sha256, bytes: bytes, width: 1, height: 1, depth: 8,
            channels: 3)
    }

    static func png(_ file: String, of content: [UInt8]) -> ImageStatus.Output {
        png(file, sha256: SHA256Digest.hex(of: content), bytes: content.count)
    }
}

extension Status {
    /// One of the batch `id` whose manifest was in the inbox as `id.json`.
    init(
        of id: String, _ state: BatchState = .completed, finished: String? = Clock.timestamp,
        uid: UInt32? = nil, images: [ImageStatus] = []
    ) {
        self.init(
            id: id,
            manifest: .init(
                name: "\(id).json", file: "manifest.json", sha256: "", bytes: 0, uid: uid),
            state: state,
            times: .init(received: Clock.timestamp, finished: state.isFinal ? finished : nil),
            images: images)
    }
}

extension ImageStatus {
    /// An image that is filtered at the first attempt.
    static func filtered(_ name: String) -> ImageStatus {
        ImageStatus(
            name: name, source: name, state: .filtered, output: .png("\(name).png"), attempts: 1)
    }
}
