import Logging
import Synchronization
import TestSupport

@testable import DarkroomAnswer
@testable import DarkroomCore
@testable import DarkroomSpool
@testable import DarkroomWork

/// A committer on a spool, and what it has said of the images.
final class CommitterFixture: Sendable {
    let spool: Spool
    let storage: StorageGuard
    let committer: Committer
    private let state = Mutex<(recorded: [FileName: [Int: ImageStatus]], left: [Int])>(([:], []))

    init(_ spool: Spool, log: EventLog = .silent) {
        self.spool = spool
        storage = StorageGuard(log: log)
        committer = Committer(
            durably: true, storage: storage, progress: ProgressKeeper(time: .system), log: log)
        storage.add(committer.backlog)
    }

    /// Makes the folders of a batch, with outputs of these images, of a byte each.
    func batch(_ id: String, outputs: [Int: UInt8] = [:]) throws -> BatchFolders {
        let folders = BatchFolders(spool: spool, id: id)
        try spool.active.makeDirectory(FileName(id))
        try spool.outbox.makeDirectory(FileName(id))
        for (index, byte) in outputs {
            try folders.active().write([byte], to: BatchFile.output(index), durably: false)
        }
        return folders
    }

    /// Hands in an ended image.
    func commit(
        _ folders: BatchFolders, _ index: Int, _ status: ImageStatus, handsOver: Bool = false,
        recorded: @escaping @Sendable (ImageStatus) -> Void = { _ in }
    ) {
        committer.commit(
            Committer.Item(
                folders: folders, index: index, status: status, handsOver: handsOver
            ) { [self] status in
                state.withLock { $0.recorded[FileName(folders.id), default: [:]][index] = status }
                recorded(status)
            } unrecorded: { [self] _ in
                state.withLock { $0.left.append(index) }
            })
    }

    /// Waits until all that was handed in has been written or kept, with what this has handed in.
    func drain() {
        committer.drain()
        committer.drain()
    }

    /// The images of a batch as they were recorded.
    func recorded(_ folders: BatchFolders) -> [Int: ImageStatus] {
        state.withLock { $0.recorded[FileName(folders.id)] ?? [:] }
    }

    /// Those that were left to the next start.
    var left: [Int] { state.withLock { $0.left.sorted() } }
}

extension EventLog {
    /// It is heard by nobody.
    static var silent: EventLog {
        EventLog(Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
    }
}

extension ImageStatus {
    /// A filtered image whose output is `NAME.png`, of a byte.
    static func finished(_ name: String) -> ImageStatus {
        ImageStatus(
            name: name, source: "s", state: .filtered,
            output: .init(
                file: "\(name).png", format: .png, sha256: "0", bytes: 1, width: 1, height: 1,
                depth: 8, channels: 3))
    }
}
