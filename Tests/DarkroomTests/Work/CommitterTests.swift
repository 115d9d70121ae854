import Foundation
import TestSupport
import Testing

@testable import DarkroomAnswer
@testable import DarkroomCore
@testable import DarkroomSpool
@testable import DarkroomWork

@Suite(.tags(.concurrency)) struct CommitterTests {
    let scratch: ScratchDirectory
    let fixture: CommitterFixture
    let folders: BatchFolders
    var spool: Spool { fixture.spool }
    var storage: StorageGuard { fixture.storage }

    init() throws {
        scratch = try ScratchDirectory()
        // Files that refuse a sync are told apart only where each is asked for by itself.
        fixture = CommitterFixture(try Spool(path: scratch.path, groupSync: nil))
        folders = try fixture.batch("x")
    }

    private func filtered(_ index: Int) -> ImageStatus { .finished("i\(index)") }

    private func publish(
        _ items: [(Int, ImageStatus)], handsOver: Bool = false
    ) -> [Int: ImageStatus] {
        for (index, status) in items {
            fixture.commit(folders, index, status, handsOver: handsOver)
        }
        fixture.drain()
        return fixture.recorded(folders)
    }

    @Test func publishesOutputsAndJournalsAllEnds() throws {
        var failed = ImageStatus(name: "i9", source: "s", state: .failed)
        failed.error = Failure(code: "http-status", message: "404")
        let active = try folders.active()
        for index in 0..<5 {
            try active.write([UInt8(index)], to: BatchFile.output(index), durably: false)
        }
        let results = publish((0..<5).map { ($0, filtered($0)) } + [(9, failed)])
        #expect(results.count == 6)
        for index in 0..<5 {
            #expect(try folders.outbox().read(FileName("i\(index).png")) == [UInt8(index)])
            #expect(try !active.exists(BatchFile.output(index)))
        }
        let records = try ItemJournal.read(in: active)
        #expect(records.count == 6)
        #expect(records.contains(.ended(index: 9, failed)))
    }

    /// An image is recorded when the pixels that it hands over are on the disk, too.
    @Test func pixelsThatAreHandedOverAreSyncedFirst() throws {
        let active = try folders.active()
        for index in 0..<2 {
            try active.write([UInt8(index)], to: BatchFile.output(index), durably: false)
        }
        try active.write([7], to: BatchFile.pixels(0), durably: false)
        // The second one's are not there.
        let ends = publish((0..<2).map { ($0, filtered($0)) }, handsOver: true)
        #expect(ends[0]?.state == .filtered && ends[1]?.state == .failed)
        #expect(ends[1]?.error?.code == "file-missing")
        #expect(try active.read(BatchFile.pixels(0)) == [7])
        #expect(try !folders.outbox().exists("i1.png"))
    }

    /// Two IDs that are one string to Unicode are two folders, though their images end together.
    @Test func tellsBatchesApartByTheBytesOfTheirIDs() throws {
        let batches = try ["caf\u{E9}", "cafe\u{301}"].enumerated().map { index, id in
            try fixture.batch(id, outputs: [0: UInt8(index)])
        }
        // Handed in while the queue is busy with the first, the others make one group.
        let failed = ImageStatus(name: "f", source: "s", state: .failed)
        fixture.commit(folders, 1, failed) { [fixture] _ in
            for batch in batches { fixture.commit(batch, 0, .finished("i0")) }
        }
        fixture.drain()
        #expect(batches.allSatisfy { fixture.recorded($0)[0]?.state == .filtered })
        for (index, batch) in batches.enumerated() {
            #expect(try batch.outbox().read("i0.png") == [UInt8(index)])
        }
    }

    /// Whoever takes the finished pictures away may take the folder with them.
    @Test func makesAgainAFolderThatWasRemoved() throws {
        try folders.active().write([1], to: BatchFile.output(0), durably: false)
        try spool.outbox.removeTree("x")
        #expect(publish([(0, filtered(0))])[0]?.state == .filtered)
        #expect(try folders.outbox().read("i0.png") == [1])
    }

    /// fsync(2) refuses a fifo, as it would refuse a file of a broken disk: it is not asked again, that image
    /// fails, and nothing new begins until someone says so.
    @Test func failsAnImageWhoseOutputCannotBeSynced() throws {
        try folders.active().write([1], to: BatchFile.output(0), durably: false)
        #expect(mkfifo("\(try folders.active().path)/output-1", 0o600) == 0)
        try folders.active().write([2], to: BatchFile.output(2), durably: false)
        let results = publish((0..<3).map { ($0, filtered($0)) })
        #expect(results[0]?.state == .filtered && results[2]?.state == .filtered)
        #expect(results[1]?.state == .failed)
        #expect(results[1]?.error?.message.contains("active/x/output-1: cannot sync") == true)
        #expect(try folders.outbox().names().count == 2)
        #expect(!storage.mayWork)
        #expect(storage.report?.secondsBetweenAttempts == nil)
    }
}
