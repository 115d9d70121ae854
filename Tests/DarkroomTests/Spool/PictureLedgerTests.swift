import Foundation
import Glibc
import TestSupport
import Testing

@testable import DarkroomCore
@testable import DarkroomFixtures
@testable import DarkroomSpool

/// Which file of a hot folder is the same picture, and what the ledger forgets.
final class PictureLedgerTests: FolderSuite {
    static func path(_ text: String) -> RelativePath {
        text.split(separator: "/").reduce(.root) { $0.appending(FileName(String($1))) }
    }

    static func picture(
        _ name: String = "a.png", inode: Int = 1, device: UInt64 = 7, root: UInt64 = 2,
        size: Int = 10,
        time: Int = 100, digest: Character = "a"
    ) -> TakenPicture {
        var information = stat()
        information.st_size = size
        information.st_mtim.tv_sec = time
        information.st_mtim.tv_nsec = 5
        return TakenPicture(
            path: path(name),
            stamp: PictureStamp(
                information, identity: "\(inode)-50.000000001",
                in: FolderIdentity(device: device, inode: root)),
            sha256: String(repeating: digest, count: 64), batch: "b", source: "s.png")
    }

    private func ledger(_ pictures: [TakenPicture] = []) throws -> PictureLedger {
        var ledger = try PictureLedger(in: folder, durably: false)
        try ledger.add(pictures)
        return ledger
    }

    /// A file, and what it is to a ledger with `picture()`.
    @Test(
        arguments: [
            (picture(), false, .known),
            // Another name of the same file.
            (picture("sub/b.png"), false, .known),
            (picture(time: 101), false, .perhaps(picture())),
            (picture(size: 11), false, .new),
            (picture(inode: 2), false, .new),
            (picture("b.png", inode: 2), false, .new),
            // Mounted again, with another device.
            (picture(device: 8), false, .moved(picture(device: 8))),
            (picture(root: 9), false, .moved(picture(root: 9))),
            (picture("b.png", device: 8), false, .perhaps(picture())),
            (picture(inode: 2, device: 8), false, .perhaps(picture())),
            (picture(inode: 2, device: 8, time: 101), false, .new),
            // A network file system gives out other inodes.
            (picture(inode: 2), true, .perhaps(picture())),
            (picture(inode: 2, time: 101), true, .new),
        ] as [(TakenPicture, Bool, PictureLedger.Finding)])
    func findsTheSame(
        file: TakenPicture, changesInodes: Bool, finding: PictureLedger.Finding
    ) throws {
        let ledger = try ledger([Self.picture()])
        #expect(ledger.find(file.path, file.stamp, changesInodes: changesInodes) == finding)
    }

    @Test func survivesAStart() throws {
        var ledger = try ledger([Self.picture(), Self.picture("b c%\u{E9}.png", inode: 2)])
        try ledger.add(
            [Self.picture(time: 200), Self.picture("d", inode: 4)], replacing: ["2-50.000000001"])
        let again = try PictureLedger(in: folder, durably: false)
        #expect(again.count == 2)
        let moved = Self.picture(time: 200)
        #expect(again.find(moved.path, moved.stamp, changesInodes: false) == .known)
        let replaced = Self.picture("b c%\u{E9}.png", inode: 2)
        #expect(again.find(replaced.path, replaced.stamp, changesInodes: false) == .new)
    }

    /// A line that a kill has cut is not there; any other damage is an error, because pictures would be taken twice.
    @Test func refusesDamage() throws {
        _ = try ledger([Self.picture(), Self.picture("b", inode: 2)])
        let file = scratch.url.appending(path: "ledger")
        let whole = try Data(contentsOf: file)
        try whole.dropLast(3).write(to: file)
        var again = try PictureLedger(in: folder, durably: false)
        #expect(again.count == 1)
        try again.add([Self.picture("b", inode: 2)])
        #expect(try Data(contentsOf: file) == whole)
        for damaged in ["taken 1 2\n", "gone\n", "x\n", "taken 1 2 3-4 5 6.7 8 9 10 ../a\n"] {
            try (Data(damaged.utf8) + whole).write(to: file)
            let error = #expect(throws: FileError.self) {
                try PictureLedger(in: folder, durably: false)
            }
            #expect(error?.detail?.hasPrefix("it: its line 1 is damaged") == true)
        }
    }

    /// Two whole listings of the same folder, and nothing else.
    @Test func forgetsOnlyWhatIsGone() throws {
        let pictures = [Self.picture(), Self.picture("b", inode: 2)]
        var ledger = try ledger(pictures)
        let first: Set = [pictures[0].stamp.identity]
        func listing(_ seen: Set<ByteString>, device: UInt64 = 7, root: UInt64 = 2) throws -> Int {
            try ledger.forget(
                allBut: seen, in: FolderIdentity(device: device, inode: root))
            return ledger.count
        }
        #expect(try listing(first) == 2)
        #expect(try listing(Set(pictures.map(\.stamp.identity))) == 2)
        #expect(try listing(first) == 2)
        ledger.forgetMissing()
        #expect(try listing(first) == 2)
        #expect(try listing(first) == 1)
        // Another file system, or another folder on the same one: that of a mount point.
        for _ in 0..<3 {
            #expect(try listing([], device: 8) == 1)
            #expect(try listing([], root: 3) == 1)
        }
        #expect(try PictureLedger(in: folder, durably: false).count == 1)
    }

    @Test func itsFileDoesNotGrowForEver() throws {
        var ledger = try ledger()
        for round in 0..<3000 { try ledger.add([Self.picture(time: round)]) }
        let lines = try Data(contentsOf: scratch.url.appending(path: "ledger")).count { $0 == 10 }
        #expect(lines < 1100)
        #expect(try PictureLedger(in: folder, durably: false).count == 1)
    }

    // MARK: Records

    @Test func aRecordIsWholeOrNotThere() throws {
        let batch = HotBatch(
            name: "scans-1", originals: .move, identity: "5-6.7",
            pictures: [Self.picture("a\nb %.png"), Self.picture("c", inode: 2)])
        try folder.makeDirectory("scans-1")
        try folder.makeDirectory("new")
        try folder.makeDirectory("scans-2")
        try batch.record(in: folder, durably: true)
        #expect(try HotBatch.recover(in: folder) == [batch])
        #expect(batch.hidingKey != nil)
        // What has no record is not taken.
        #expect(Set(try folder.names()) == ["scans-1", "scans-1.batch"])
        let file = scratch.url.appending(path: "scans-1.batch")
        try Data(contentsOf: file).dropLast(2).write(to: file)
        #expect(try HotBatch.recover(in: folder) == [])
        #expect(try folder.names() == [])
    }

    /// The record of a former daemon has no key, and a key that is damaged is none.
    @Test(arguments: [
        ("", true), (" 00112233445566778899aabbccddeeff", true), (" 0011", false),
        (" 00112233445566778899aabbccddeefg", false),
        (" 00112233445566778899aabbccddeeff x", false),
    ]) func aRecordMayHaveAKey(end: String, isWhole: Bool) throws {
        var batch = HotBatch(
            name: "scans-1", originals: .move, identity: "5-6.7", pictures: [Self.picture()],
            hidingKey: nil)
        try batch.record(in: folder, durably: false)
        let file = scratch.url.appending(path: "scans-1.batch")
        let text = try String(contentsOf: file, encoding: .utf8)
        #expect(text.hasPrefix("batch scans-1 move 5-6.7\n"))
        try text.replacing("5-6.7\n", with: "5-6.7\(end)\n").write(
            to: file, atomically: false, encoding: .utf8)
        batch.hidingKey = HidingKey(word: String(end.dropFirst()))
        #expect(try HotBatch.recover(in: folder) == (isWhole ? [batch] : []))
    }

    /// What could not be recorded is removed at once, and what is recorded stays.
    @Test func onlyABatchWithoutARecordIsDiscarded() throws {
        let batch = HotBatch(
            name: "scans-1", originals: .keep, identity: "5-6.7", pictures: [Self.picture()])
        for name in ["scans-1", "scans-2"] { try folder.makeDirectory(FileName(name)) }
        try batch.record(in: folder, durably: false)
        for name in ["scans-1", "scans-2", "scans-3"] {
            #expect(try HotBatch.exists(name, in: folder) == (name != "scans-3"))
            try HotBatch.discard(name, in: folder)
        }
        #expect(Set(try folder.names()) == ["scans-1", "scans-1.batch"])
        // It is submitted, and its record is left.
        try folder.removeDirectory("scans-1")
        #expect(try HotBatch.exists("scans-1", in: folder))
    }

    @Test(arguments: [
        ("a", "a"), ("a/b", "a/b"), ("a b", "a%20b"), ("%", "%25"), ("\u{E9}", "%c3%a9"),
    ])
    func aPathIsAWord(text: String, word: String) throws {
        #expect(Self.path(text).word == word)
        #expect(RelativePath(word: word) == Self.path(text))
    }

    @Test(arguments: [
        "", "/a", "a//b", "../a", "a/..", "./a", "a/.", ".", "a/./b", "a%00", "%2", "%zz", "a/",
    ])
    func aBadWordIsNoPath(word: String) {
        #expect(RelativePath(word: word) == nil)
    }
}
