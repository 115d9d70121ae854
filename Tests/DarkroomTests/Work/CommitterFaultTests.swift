import Foundation
import Logging
import Synchronization
import TestSupport
import Testing

@testable import DarkroomAnswer
@testable import DarkroomCore
@testable import DarkroomSpool
@testable import DarkroomWork

/// The committer on a disk that is really full.
@Suite(
    .tags(.concurrency),
    .enabled(if: SmallDisk.isAvailable, "only root can mount a small file system"))
struct CommitterFaultTests {
    let disk: SmallDisk
    let spool: Spool
    let folders: BatchFolders
    let storage: StorageGuard
    let committer: Committer
    let ends = Ends()

    /// What the committer has said of the images.
    final class Ends: Sendable {
        private let state = Mutex<(recorded: [Int: ImageStatus], left: [Int], afterwards: Int)>(
            ([:], [], 0))

        var recorded: [Int: ImageStatus] { state.withLock(\.recorded) }
        var left: [Int] { state.withLock(\.left) }
        var afterwards: Int { state.withLock(\.afterwards) }

        func record(_ index: Int, _ status: ImageStatus) {
            state.withLock { $0.recorded[index] = status }
        }

        func leave(_ index: Int) { state.withLock { $0.left.append(index) } }

        func noteAfterwards() { state.withLock { $0.afterwards += 1 } }
    }

    init() throws {
        disk = try SmallDisk(kilobytes: 1024)
        spool = try Spool(path: disk.root.path)
        folders = BatchFolders(spool: spool, id: "x")
        try spool.active.makeDirectory("x")
        try spool.outbox.makeDirectory("x")
        let log = EventLog(Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        storage = StorageGuard(log: log)
        committer = Committer(
            durably: true, storage: storage, progress: ProgressKeeper(time: .system), log: log)
        storage.add(committer.backlog)
    }

    private func publish(_ indices: Range<Int>) throws {
        for index in indices {
            try folders.active().write(
                [UInt8(index)], to: BatchFile.output(index), durably: false)
        }
        try disk.fill(butFor: 0)
        for index in indices {
            let status = ImageStatus(
                name: "i\(index)", source: "s", state: .filtered,
                output: .init(
                    file: "i\(index).png", format: .png, sha256: "0", bytes: 1, width: 1,
                    height: 1, depth: 8, channels: 3))
            committer.commit(
                Committer.Item(folders: folders, index: index, status: status) { [ends] in
                    ends.record(index, $0)
                } unrecorded: { [ends] _ in
                    ends.leave(index)
                })
        }
        committer.afterwards(of: "x") { [ends] in ends.noteAfterwards() }
        committer.drain()
        committer.drain()
    }

    /// Nothing is shown as done that the journal does not have; all of it is when there is room again.
    @Test func keepsWhatItCannotJournalUntilThereIsRoom() async throws {
        try publish(0..<8)
        #expect(ends.recorded.isEmpty && ends.afterwards == 0)
        #expect(!storage.mayWork)
        let report = try #require(storage.report)
        #expect(report.code == "disk-full")
        #expect(report.message.hasPrefix("\(spool.active.path)/x/journal: cannot write"))
        #expect(try spool.outbox.names() == ["x"] && folders.outbox().names().isEmpty)
        #expect(try ItemJournal.read(in: folders.active()).isEmpty)

        disk.empty()
        try await eventually("the images to be published") { ends.recorded.count == 8 ? true : nil }
        try await eventually("the end") { ends.afterwards == 1 ? true : nil }
        #expect(ends.recorded.values.allSatisfy { $0.state == .filtered })
        #expect(try ItemJournal.read(in: folders.active()).count == 8)
        for index in 0..<8 {
            #expect(try folders.outbox().read(FileName("i\(index).png")) == [UInt8(index)])
        }
        #expect(storage.mayWork)
    }

    /// A stop does not wait for room: what is kept is left to the next start.
    @Test func leavesWhatItKeepsAtAStop() throws {
        try publish(0..<3)
        committer.close(finishingUntil: .max)
        #expect(ends.left.sorted() == [0, 1, 2])
        #expect(ends.recorded.isEmpty && ends.afterwards == 0)
        #expect(try folders.active().exists(BatchFile.output(2)))
        // And what comes after is not kept either.
        committer.commit(
            Committer.Item(
                folders: folders, index: 9, status: ImageStatus(name: "j", state: .failed)
            ) { [ends] in
                ends.record(9, $0)
            } unrecorded: { [ends] _ in
                ends.leave(9)
            })
        committer.drain()
        committer.drain()
        #expect(ends.left.sorted() == [0, 1, 2, 9])
    }

    /// An append that was cut short on a full disk, and could not be taken back, costs its own lines only.
    @Test func appendsAfterHalfALine() throws {
        let active = try folders.active()
        let first = JournalRecord.ended(index: 1, ImageStatus(name: "a", state: .failed))
        let second = JournalRecord.ended(index: 2, ImageStatus(name: "b", state: .failed))
        try ItemJournal.append([first], in: active, durably: true)
        let half = Array(try active.read(ItemJournal.fileName).dropLast(5))
        try active.append(to: ItemJournal.fileName).write(half, path: "journal")
        try ItemJournal.append([second], in: active, durably: true)
        #expect(try ItemJournal.read(in: active) == [first, second])
    }

    /// A journal that cannot grow keeps the lines it had, and whole ones only.
    @Test func journalIsWholeAfterEachRefusedAppend() throws {
        let active = try folders.active()
        try disk.fill(butFor: 4)
        var written: [JournalRecord] = []
        for index in 0..<200 {
            let record = JournalRecord.ended(index: index, ImageStatus(name: "a", state: .failed))
            do {
                try ItemJournal.append([record], in: active, durably: true)
                written.append(record)
            } catch {
                #expect(error.code == "disk-full" && error.path.hasSuffix("/x/journal"))
            }
            #expect(try ItemJournal.read(in: active) == written)
        }
        #expect(written.count < 200 && !written.isEmpty)
    }
}
