import Foundation
import SystemPackage
import TestSupport
import Testing

@testable import DarkroomCore
@testable import DarkroomFixtures
@testable import DarkroomSelfTest
@testable import DarkroomSpool

final class MountCheckTests: FolderSuite {
    @Test func findsNothingWrongHere() throws {
        let findings = MountCheck(folder: folder).findings()
        #expect(findings.filter(\.isProblem) == [])
        #expect(findings.count == 9)
        #expect(try folder.names() == [])
    }

    /// A folder that is gone stands for a file system that refuses everything.
    @Test func findsWhatIsRefused() throws {
        let gone = try Directory(path: scratch.path)
        try FileManager.default.removeItem(at: scratch.url)
        let problems = MountCheck(folder: gone).findings().filter(\.isProblem)
        #expect(problems.count == 8)
        try FileManager.default.makeFolder(at: scratch.url)
    }

    /// What is weaker on a file system without hard links, or without renames that refuse to replace, is said.
    @Test func saysWhatIsWeaker() {
        func words(_ link: Errno?, _ refusal: Errno?) -> String? {
            switch MountCheck.naming(link: link, refusal: refusal) {
            case .ok: nil
            case .note(let words): words
            case .problem: "a problem"
            }
        }
        #expect(words(nil, nil) == nil)
        #expect(words(nil, .invalidArgument)?.contains("leave a file with both names") == true)
        #expect(words(.notPermitted, nil)?.contains("there are no hard links (") == true)
        let both = words(.notPermitted, .invalidArgument)
        #expect(both?.contains("may leave an empty file there, which is rejected") == true)
        #expect(both?.contains("O_EXCL") == true)
    }

    @Test func longNamesHaveTwoHundredBytes() {
        #expect(MountCheck.longNames.allSatisfy { $0.utf8.count == 200 })
        #expect(
            Set(MountCheck.longNames.map { Array($0.utf8) }).count == MountCheck.longNames.count)
    }

    @Test func looksAtASpoolAndLeavesItAlone() throws {
        let spool = try Spool(path: scratch.path)
        _ = try spool.openInbox()
        let before = try folder.names().map(\.text).sorted()
        #expect(SpoolCheck(root: folder).findings().filter(\.isProblem) == [])
        #expect(try folder.names().map(\.text).sorted() == before)
        withExtendedLifetime(spool) {}
    }

    @Test func seesWhetherADaemonHoldsTheLock() throws {
        let held = Finding.note("a daemon works on this spool; the test does not disturb it")
        var spool: Spool? = try Spool(path: scratch.path)
        #expect(SpoolCheck(root: folder).findings().contains(held))
        withExtendedLifetime(spool) {}
        spool = nil
        // A program that another test starts has the lock, too, until it has begun.
        for _ in 0..<1000 where SpoolCheck(root: folder).findings().contains(held) {
            usleep(10_000)
        }
        #expect(!SpoolCheck(root: folder).findings().contains(held))
    }

    @Test func seesWhatASelfTestHasLeft() throws {
        try folder.makeDirectory(".self-test-1")
        let note = Finding.note(
            "\(scratch.path)/.self-test-1 belongs to another self-test; remove it if that test has ended"
        )
        #expect(SpoolCheck(root: folder).findings().contains(note))
    }

    @Test func seesAnOpenActiveFolder() throws {
        let spool = try Spool(path: scratch.path)
        #expect(fchmod(spool.active.number, 0o755) == 0)
        let problems = SpoolCheck(root: folder).findings().filter(\.isProblem)
        #expect(problems.count == 1)
        guard case .problem(let text, _) = problems.first else { return }
        #expect(text == "\(scratch.path)/active is accessible to other users (mode 755)")
    }
}
