import Foundation
import TestSupport
import Testing

@testable import DarkroomSpool

struct SpoolTests {
    let scratch: ScratchDirectory

    init() throws { scratch = try ScratchDirectory() }

    @Test func makesItsFoldersAndThoseAbove() throws {
        let spool = try Spool(path: scratch.path + "/a/b/spool")
        let names = Set(try spool.root.names().map(\.text))
        #expect(names.isSuperset(of: ["tmp", "active", "outbox", "lock"]))
        _ = try spool.openInbox()
        let mode = try #require(try spool.root.information(of: "active")).st_mode
        #expect(mode & 0o777 == 0o700)
    }

    @Test func lockedSpoolNamesItsHolder() throws {
        let first = try Spool(path: scratch.path)
        let error = #expect(throws: SpoolError.self) { try Spool(path: scratch.path) }
        #expect(error?.code == "spool-locked" && error?.isTransient == true)
        #expect(error?.message.contains("process \(getpid())") == true)
        withExtendedLifetime(first) {}
    }

    /// A program that another test starts has the former lock, too, until it has begun.
    private func openAndClose() throws {
        for _ in 0..<1000 {
            do throws(SpoolError) {
                _ = try Spool(path: scratch.path)
                return
            } catch {
                guard error.code == "spool-locked" else { throw error }
                usleep(10_000)
            }
        }
        _ = try Spool(path: scratch.path)
    }

    @Test func canBeOpenedAgainWhenItsHolderHasGone() throws {
        for _ in 0..<3 { try openAndClose() }
    }

    @Test func keepsTheSuspension() throws {
        let spool = try Spool(path: scratch.path)
        #expect(try !spool.isPaused())
        for paused in [true, true, false, false] {
            try spool.markPaused(paused, durably: true)
            #expect(try spool.isPaused() == paused)
        }
    }

    @Test func saysWhatStandsInTheWay() throws {
        try Data().write(to: scratch.url.appending(path: "file"))
        let error = #expect(throws: SpoolError.self) {
            try Spool(path: scratch.path + "/file/spool")
        }
        #expect(error?.message.hasPrefix(scratch.path + "/file") == true)
    }
}
