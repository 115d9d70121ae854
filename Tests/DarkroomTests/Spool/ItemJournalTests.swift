import Foundation
import TestSupport
import Testing

@testable import DarkroomAnswer
@testable import DarkroomCore
@testable import DarkroomFixtures
@testable import DarkroomSpool

final class ItemJournalTests: FolderSuite {
    private func record(_ index: Int, _ state: ImageState = .filtered) -> JournalRecord {
        var image = ImageStatus(name: "näme \(index)\n", source: "https://h/\(index)", state: state)
        if state == .failed { image.error = Failure(code: "png-crc", message: "damaged") }
        return .ended(index: index, image)
    }

    @Test func isEmptyWhereThereIsNone() throws {
        #expect(try ItemJournal.read(in: folder).isEmpty)
        try ItemJournal.mend(in: folder)
    }

    @Test(arguments: [true, false])
    func givesBackWhatWasAppendedInItsOrder(durably: Bool) throws {
        let first = [record(3), record(1, .failed)]
        let command = ControlRecord(.hold, time: "now", uid: 4_294_967_294)
        let image = ImageStatus(name: "é", state: .filtered)
        let promise = UndeliveredImage.Promise(
            name: "é-2.png", copy: ".darkroom-1", folder: "1-2-3.4")
        let second: [JournalRecord] = [
            .delivering(index: 6, UndeliveredImage(image)),
            .delivering(index: 6, UndeliveredImage(image, promise: promise)), .cancelled,
            .moving(
                source: "./é.jpg",
                OriginalPromise(
                    name: "%C3%A9.jpg", path: "/d/é.jpg", folder: "1-2-3.4", copy: ".darkroom-1",
                    isPlaced: true)),
            .moving(source: "./é.jpg", nil), .commanded(command), record(2),
            .reopened(ReopenedRecord(of: "then", retries: 2, commands: [command])),
            .crashed(index: 4, number: 2, .signal("SIGSEGV")),
            .crashed(index: 5, number: 1, .outOfMemory),
        ]
        try ItemJournal.append(first, in: folder, durably: durably)
        try ItemJournal.append(second, in: folder, durably: durably)
        #expect(try ItemJournal.read(in: folder) == first + second)
    }

    /// One that is begun with many records has them all, and goes on as any other.
    @Test func beginsWithManyRecords() throws {
        let records = (0..<2000).map { record($0) }
        try ItemJournal.begin(in: folder, with: records, durably: true)
        try ItemJournal.append([record(9)], in: folder, durably: false)
        #expect(try ItemJournal.read(in: folder) == records + [record(9)])
        #expect(throws: FileError.self) {
            try ItemJournal.begin(in: folder, with: [], durably: false)
        }
    }

    /// As version 0.1 wrote it.
    @Test func readsTheCancellationOfAnOlderVersion() throws {
        try folder.write(Array("{\"cancelled\":true}\n".utf8), to: "journal", durably: false)
        #expect(try ItemJournal.read(in: folder) == [.cancelled])
        #expect(try ItemJournal.first(in: folder) == .cancelled)
    }

    @Test func givesTheFirstRecordAlone() throws {
        #expect(try ItemJournal.first(in: folder) == nil)
        try folder.write(Array("{\"cancelled\"".utf8), to: "journal", durably: false)
        #expect(try ItemJournal.first(in: folder) == nil)
        try folder.remove("journal")
        try ItemJournal.append((0..<2000).map { record($0) }, in: folder, durably: false)
        #expect(try ItemJournal.first(in: folder) == record(0))
    }

    /// Whatever of the last append has reached the disk, what was there before is read, and what is
    /// appended after the mending too.
    @Test func survivesBeingCutAnywhereInItsLastLine() throws {
        try ItemJournal.append([record(0), record(1)], in: folder, durably: false)
        let whole = try folder.read(ItemJournal.fileName)
        let end = try #require(whole.dropLast().lastIndex(of: UInt8(ascii: "\n")))
        for length in (end + 1)..<whole.count {
            try folder.write(
                Array(whole[..<length]), to: ItemJournal.fileName, replacing: true, durably: false)
            #expect(try ItemJournal.read(in: folder) == [record(0)])
            try ItemJournal.mend(in: folder)
            try ItemJournal.append([record(2)], in: folder, durably: false)
            #expect(try ItemJournal.read(in: folder) == [record(0), record(2)])
        }
    }

    /// The incomplete line may have any length, also that of a sparse file, and be in several pieces.
    @Test(arguments: [1, Descriptor.piece - 1, Descriptor.piece, 3 * Descriptor.piece])
    func cutsALongIncompleteLine(length: Int) throws {
        try ItemJournal.append([record(0), record(1)], in: folder, durably: false)
        let whole = try folder.information(of: ItemJournal.fileName)?.length
        let path = folder.path(of: ItemJournal.fileName)
        try folder.append(to: ItemJournal.fileName).truncate(to: (whole ?? 0) + length, path: path)
        try ItemJournal.mend(in: folder)
        #expect(try folder.information(of: ItemJournal.fileName)?.length == whole)
    }

    @Test func aFileOfOneIncompleteLineBecomesEmpty() throws {
        try folder.write(Array("{".utf8), to: ItemJournal.fileName, durably: false)
        try ItemJournal.mend(in: folder)
        #expect(try folder.read(ItemJournal.fileName, upTo: 10).isEmpty)
    }

    @Test func leavesNoHalfLineOnAFullDisk() throws {
        // /dev/full takes nothing; the file itself must be as it was.
        try ItemJournal.append([record(0)], in: folder, durably: false)
        let full = Descriptor(owning: Glibc.open("/dev/full", O_WRONLY))
        #expect(throws: FileError(.write, "/dev/full", .noSpace)) {
            try full.write([1, 2, 3], path: "/dev/full")
        }
        #expect(FileError(.write, "f", .noSpace).code == "disk-full")
        #expect(FileError(.write, "f", .noSpace).isTransient)
    }
}
