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
    let fixture: CommitterFixture
    let folders: BatchFolders
    let afterwards = Calls<Void>()
    var spool: Spool { fixture.spool }
    var storage: StorageGuard { fixture.storage }

    init() throws {
        disk = try SmallDisk(kilobytes: 1024)
        fixture = CommitterFixture(try Spool(path: disk.root.path))
        folders = try fixture.batch("x")
    }

    private func publish(_ indices: Range<Int>) throws {
        for index in indices {
            try folders.active().write(
                [UInt8(index)], to: BatchFile.output(index), durably: false)
        }
        try disk.fill(butFor: 0)
        for index in indices { fixture.commit(folders, index, .finished("i\(index)")) }
        fixture.committer.afterwards(of: "x") { [afterwards] in afterwards.add(()) }
        fixture.drain()
    }

    private var recorded: [Int: ImageStatus] { fixture.recorded(folders) }

    /// Nothing is shown as done that the journal does not have; all of it is when there is room again.
    @Test func keepsWhatItCannotJournalUntilThereIsRoom() async throws {
        try publish(0..<8)
        #expect(recorded.isEmpty && afterwards.all.count == 0)
        #expect(!storage.mayWork)
        let report = try #require(storage.report)
        #expect(report.code == "disk-full")
        #expect(report.message.hasPrefix("\(spool.active.path)/x/journal: cannot write"))
        #expect(try spool.outbox.names() == ["x"] && folders.outbox().names().isEmpty)
        #expect(try ItemJournal.read(in: folders.active()).isEmpty)

        disk.empty()
        try await eventually("the images to be published") { recorded.count == 8 ? true : nil }
        try await eventually("the end") { afterwards.all.count == 1 ? true : nil }
        #expect(recorded.values.allSatisfy { $0.state == .filtered })
        #expect(try ItemJournal.read(in: folders.active()).count == 8)
        for index in 0..<8 {
            #expect(try folders.outbox().read(FileName("i\(index).png")) == [UInt8(index)])
        }
        #expect(storage.mayWork)
    }

    /// A stop does not wait for room: what is kept is left to the next start.
    @Test func leavesWhatItKeepsAtAStop() throws {
        try publish(0..<3)
        fixture.committer.close(finishingUntil: .max)
        #expect(fixture.left == [0, 1, 2])
        #expect(recorded.isEmpty && afterwards.all.count == 0)
        #expect(try folders.active().exists(BatchFile.output(2)))
        // And what comes after is not kept either.
        fixture.commit(folders, 9, ImageStatus(name: "j", state: .failed))
        fixture.drain()
        #expect(fixture.left == [0, 1, 2, 9])
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
