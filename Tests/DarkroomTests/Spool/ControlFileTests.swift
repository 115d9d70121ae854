import Foundation
import TestSupport
import Testing

@testable import DarkroomAnswer
@testable import DarkroomCore
@testable import DarkroomManifest
@testable import DarkroomSpool

final class ControlFileTests: SpoolSuite {
    static let long = String(repeating: "n", count: 230)
    static let names: [(String, ControlCommand, [String])] = [
        ("a.cancel", .cancel, ["a"]), ("a.b.hold", .hold, ["a.b"]), ("a.Release", .release, ["a"]),
        ("a.json.retry", .retry, ["a.json"]), ("trip-2.hold", .hold, ["trip-2"]),
        ("\(long).hold", .hold, [long, String(long.prefix(200))]),
    ]

    @Test(arguments: names)
    func saysWhatItMeans(name: String, command: ControlCommand, ids: [String]) throws {
        let file = try #require(ControlFile(FileName(name)))
        #expect(file.command == command)
        #expect(file.ids == ids)
        let stem = name.dropLast(command.rawValue.count)
        #expect(file.manifestNames.contains(FileName("\(stem)json")))
    }

    /// The names that a manifest may have: its ID is the one that its control file means.
    @Test(arguments: [
        Array("a".utf8), Array(long.utf8), Array("e\u{301}".utf8), [0x66, 0xfc, 0x72],
        Array("line\nbreak".utf8), Array(String(repeating: "\u{301}", count: 120).utf8),
        [UInt8](repeating: 0xfc, count: 240),
    ])
    func findsTheIDOfAnyManifest(stem: [UInt8]) throws {
        let manifest = FileName(bytes: stem + Array(".json".utf8))
        let id = Claim.id(fromFileName: manifest.text)
        let file = try #require(ControlFile(FileName(bytes: stem + Array(".hold".utf8))))
        #expect(file.ids.contains { Array($0.utf8) == Array(id.utf8) })
        #expect(file.manifestNames.contains(manifest))
        #expect(file.ids.allSatisfy { $0.utf8.count <= 255 })
    }

    @Test(arguments: ["cancel", ".cancel", ".a.hold", "a.cancelled", "a.hold~", "a.json", "", "."])
    func isNoOtherName(name: String) {
        #expect(ControlFile(FileName(name)) == nil)
    }

    private func identity(_ name: FileName, in folder: Directory) throws -> FileIdentity {
        FileIdentity(try #require(try folder.information(of: name)))
    }

    @Test func removesTheFileItActedForAndNoOther() throws {
        try inbox.write([1], to: "a.hold", durably: false)
        let first = try identity("a.hold", in: inbox)
        try inbox.write([2, 2], to: "new", durably: false)
        try inbox.rename("new", to: inbox, as: "a.hold", replacing: true)
        try spool.removeControlFile("a.hold", first, from: inbox)
        #expect(try inbox.read("a.hold") == [2, 2])
        try spool.removeControlFile("a.hold", identity("a.hold", in: inbox), from: inbox)
        #expect(try inbox.names().isEmpty)
        #expect(throws: FileError.self) {
            try spool.removeControlFile("a.hold", first, from: inbox)
        }
        #expect(try spool.active.names().isEmpty)
    }

    @Test func putsBackAtTheStartWhatAKillHasLeftInHand() throws {
        try spool.putBackControlFiles(to: inbox)
        try spool.active.makeDirectory(".controls")
        let folder = try Directory(".controls", in: spool.active)
        for name: FileName in ["a.hold", "b.cancel"] {
            try folder.write([1], to: name, durably: false)
        }
        try inbox.write([2], to: "b.cancel", durably: false)
        try spool.putBackControlFiles(to: inbox)
        #expect(try inbox.read("a.hold") == [1])
        #expect(try inbox.read("b.cancel") == [2])
        #expect(try spool.active.names().isEmpty)
    }

    /// Whose control file it is, is asked of the file itself; what is no file asks for nothing.
    @Test func isExaminedWithItsOwner() throws {
        try inbox.write([], to: "a.hold", durably: false)
        if geteuid() == 0 { #expect(chown(inbox.path + "/a.hold", 1234, 1) == 0) }
        guard case .control(let request) = examination.examine("a.hold", in: inbox, isWhole: false)
        else { throw Unexpected() }
        #expect(request.record.command == .hold)
        #expect(request.record.uid == (geteuid() == 0 ? 1234 : geteuid()))
        #expect(link(inbox.path + "/a.hold", inbox.path + "/a.release") == 0)
        for name: FileName in ["a.hold", "a.release"] {
            guard case .unreadable(let error) = examination.examine(name, in: inbox, isWhole: true)
            else { throw Unexpected() }
            #expect(error.errno == .tooManyLinks)
        }
        try inbox.makeDirectory("folder.cancel")
        mkfifo(inbox.path + "/fifo.cancel", 0o600)
        symlink("a.hold", inbox.path + "/link.cancel")
        for name: FileName in ["folder.cancel", "fifo.cancel", "link.cancel"] {
            guard case .ignored = examination.examine(name, in: inbox, isWhole: true)
            else { throw Unexpected() }
        }
    }

    /// Whoever exchanges a control file for a folder in the moment of its removal, and takes the name again.
    @Test func aFolderInPlaceOfAControlFileKeepsItsNameFromNobody() throws {
        try spool.active.makeDirectory(".controls")
        let folder = try Directory(".controls", in: spool.active)
        try folder.makeDirectory("a.hold")
        try Directory("a.hold", in: folder).write([1], to: "full", durably: false)
        try inbox.write([2], to: "a.hold", durably: false)
        try spool.putBackControlFiles(to: inbox)
        #expect(try spool.active.names().isEmpty)
        let other = try #require(try inbox.names().first { $0 != "a.hold" })
        #expect(other.hasSuffix("~") && Examination.reasonToIgnore(other) != nil)
        #expect(try Directory(other, in: inbox).read("full") == [1])
        try spool.removeControlFile("a.hold", identity("a.hold", in: inbox), from: inbox)
        #expect(try inbox.names() == [other])
    }

    /// What a removal cannot put back stands in no later one's way.
    @Test func controlFilesAreRemovedBesideWhatIsLeftThere() throws {
        try spool.active.makeDirectory(".controls")
        try Directory(".controls", in: spool.active).makeDirectory("a.hold.01234567~")
        try inbox.write([1], to: "a.hold", durably: false)
        try spool.removeControlFile("a.hold", identity("a.hold", in: inbox), from: inbox)
        #expect(try inbox.names().isEmpty)
    }
}
