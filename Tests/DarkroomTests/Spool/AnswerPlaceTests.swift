import Glibc
import SystemPackage
import TestSupport
import Testing

@testable import DarkroomAnswer
@testable import DarkroomCore
@testable import DarkroomSpool

/// How files get into an answer: by their paths if only the daemon's user may write to the outbox, else through the open
/// folder.
final class AnswerPlaceTests: SpoolSuite {
    override init() throws {
        try super.init()
        try makeFolders()
        try folders.active().write([1], to: "output-0", durably: false)
    }

    private func publish() throws -> Failure? {
        try folders.publish(0, as: .png("a.png"), byPath: spool.ownsOutbox(), durably: false)
    }

    private func end() throws {
        let file = StatusFile(folders, isFinal: true)
        try file.stageLast(Status(of: "x"))
        try file.place(byPath: spool.ownsOutbox())
    }

    @Test(arguments: [
        (0o700, true), (0o755, true), (0o750, true), (0o770, false), (0o757, false),
        (0o1777, false),
    ])
    func asksWhoMayWriteToTheOutbox(mode: mode_t, isOwn: Bool) throws {
        #expect(fchmod(spool.outbox.number, mode) == 0)
        #expect(spool.ownsOutbox() == isOwn)
    }

    @Test(.enabled(if: geteuid() == 0, "only root can give files away"))
    func anOutboxOfSomebodyElseIsNotItsOwn() throws {
        #expect(fchown(spool.outbox.number, 1234, 1234) == 0)
        #expect(!spool.ownsOutbox())
    }

    @Test(arguments: [0o755, 0o777] as [mode_t])
    func putsFilesIntoTheAnswer(mode: mode_t) throws {
        #expect(fchmod(spool.outbox.number, mode) == 0)
        #expect(try publish() == nil)
        try end()
        #expect(try entries(of: folders.outbox()) == ["a.png", "status.json"])
        #expect(try folders.active().names().isEmpty)
    }

    /// Someone has removed the answer.
    @Test(arguments: [0o755, 0o777] as [mode_t])
    func makesTheFolderAnew(mode: mode_t) throws {
        #expect(fchmod(spool.outbox.number, mode) == 0)
        try spool.outbox.removeDirectory("x")
        #expect(try publish() == nil)
        #expect(try folders.outbox().names() == ["a.png"])
        try spool.outbox.removeTree("x")
        try end()
        #expect(try folders.outbox().names() == ["status.json"])
    }

    @Test(arguments: [0o755, 0o777] as [mode_t])
    func replacesNoFile(mode: mode_t) throws {
        #expect(fchmod(spool.outbox.number, mode) == 0)
        try folders.outbox().write([2], to: "a.png", durably: false)
        #expect(try publish()?.code == "file-exists")
        #expect(try folders.outbox().read("a.png") == [2])
        #expect(try folders.active().exists("output-0"))
    }

    /// Others can put links into an outbox that they may write to, so that files would come elsewhere.
    @Test func followsNoLink() throws {
        #expect(fchmod(spool.outbox.number, 0o777) == 0)
        try spool.outbox.removeDirectory("x")
        let other = try ScratchDirectory()
        #expect(symlink(other.path, spool.outbox.path + "/x") == 0)
        for action in [{ _ = try self.publish() }, end] {
            let error = #expect(throws: FileError.self) { try action() }
            #expect([.notDirectory, .tooManySymbolicLinkLevels].contains(error?.errno))
        }
        #expect(try Directory(path: other.path).names().isEmpty)
        #expect(try entries(of: folders.active()) == ["output-0", "status.new"])
    }
}
