import Foundation
import Logging
import TestSupport
import Testing

@testable import DarkroomAnswer
@testable import DarkroomCore
@testable import DarkroomManifest
@testable import DarkroomSpool

/// What lies in `active` and `tmp` and nobody asked for.
final class OrphanTests: SpoolSuite {
    let log = EventLog(Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })

    @Test func tellsBatchesFromWhatIsNone() throws {
        for name: FileName in ["b", "a", "empty", ".dotted", ".retry-a", ".expired-c"] {
            try spool.active.makeDirectory(name)
        }
        for name: FileName in ["a", "b"] {
            let folder = try Directory(name, in: spool.active)
            try folder.write([], to: "manifest.yaml", durably: false)
            try folder.write([], to: "whatever", durably: false)
        }
        try spool.active.makeDirectory(FileName(bytes: [0xff]))
        try spool.active.write([], to: "file", durably: false)
        symlink("a", spool.active.path + "/link")
        let active = try ActiveFolder(of: spool)
        #expect(active.ids == ["a", "b", "empty"])
        #expect(active.empty == ["empty"])
        #expect(active.unfinished == [".retry-a"])
        #expect(
            active.foreign.map(\.name.text).sorted() == [".dotted", "file", "link", "\u{fffd}"])
        #expect(try recovery.ids() == active.ids)
    }

    /// A claim that was broken off before the file was moved, and one after that.
    @Test(arguments: [false, true]) func knowsAClaim(hasFile: Bool) throws {
        try spool.active.makeDirectory("x")
        let folder = try Directory("x", in: spool.active)
        try folder.makeDirectory(SubmittedFile.folderName)
        if hasFile {
            try Directory(SubmittedFile.folderName, in: folder).write(
                [], to: "y.json", durably: false)
        }
        let active = try ActiveFolder(of: spool)
        #expect(active.ids == ["x"] && active.foreign.isEmpty)
        #expect(active.empty == (hasFile ? [] : ["x"]))
        if hasFile { return }
        guard case .empty = try recovery.recover("x") else { throw Unexpected() }
        #expect(try spool.active.names().isEmpty)
    }

    /// A folder without a manifest is what a claim leaves that had not got it, unless it holds something.
    @Test(arguments: [
        ("notes.txt", true), ("journal.d", true), (".hidden", true), ("manifest.txt", true),
        ("source-3", false), ("output-0", false), ("journal", false), ("status.new", false),
        ("journal.new", false), ("progress.new", false), ("progress.json", true),
        ("sources.json", false), ("page", false), ("page.old", false), ("page.attempts", false),
        (".1", false), (".12", false), (".1a", true), ("1", true),
    ])
    func keepsAFolderThatSomeoneElsePutThere(file: String, isForeign: Bool) throws {
        try spool.active.makeDirectory("x")
        try Directory("x", in: spool.active).write([1], to: FileName(file), durably: false)
        let active = try ActiveFolder(of: spool)
        #expect(active.foreign.map(\.name) == (isForeign ? ["x"] : []))
        #expect(active.foreign.allSatisfy { $0.what.contains(file) })
        #expect(active.ids == (isForeign ? [] : ["x"]))
        #expect(active.empty == active.ids)
        // Nor is it cleared away because the outbox has the name.
        try spool.outbox.makeDirectory("x")
        let named = try ActiveFolder(of: spool)
        #expect(named.ids == active.ids && named.empty == [])
        #expect(named.foreign.map(\.name) == active.foreign.map(\.name))
        // With an answer that is not the last it is a batch's folder all the same.
        try Directory("x", in: spool.outbox).write(
            Status(of: "x", .processing).encoded(), to: "status.json", durably: false)
        let answered = try ActiveFolder(of: spool)
        #expect(answered.ids == ["x"] && answered.empty == [] && answered.foreign.isEmpty)
    }

    @Test func startsBesideAFolderThatIsNotItsOwn() throws {
        try spool.active.makeDirectory("closed", mode: 0)
        try spool.active.makeDirectory("open")
        let active = try ActiveFolder(of: spool)
        // Root may look into any folder.
        #expect(active.ids == (geteuid() == 0 ? ["closed", "open"] : ["open"]))
        #expect(active.foreign.map(\.name) == (geteuid() == 0 ? [] : ["closed"]))
    }

    // MARK: Uploads

    @Test func findsWhatWasLeftInTmp() throws {
        for (name, size) in [("a", 3), ("b", 4)] {
            try spool.tmp.write(
                [UInt8](repeating: 0, count: size), to: FileName(name), durably: false)
        }
        try spool.tmp.makeDirectory("folder")
        symlink("a", spool.tmp.path + "/link")
        let now = Date.now
        setTimes(of: spool.tmp.path + "/b", to: Int(now.timeIntervalSince1970) + 60)
        #expect(try StaleUploads.find(in: spool.tmp, olderThan: 3600, now: now).count == 0)
        let later = now + 3700
        let stale = try StaleUploads.find(in: spool.tmp, olderThan: 3600, now: later)
        #expect(stale == StaleUploads(count: 2, bytes: 7, oldest: "a"))
        #expect(try spool.tmp.names().count == 4)
        let removed = try StaleUploads.find(
            in: spool.tmp, olderThan: 3600, now: later, remove: true)
        #expect(removed == stale)
        #expect(Set(try spool.tmp.names()) == ["folder", "link"])
    }

    /// A copy keeps its original's time, and has just been made nevertheless.
    @Test func takesACopyForNew() throws {
        try spool.tmp.write([1], to: "copy", durably: false)
        setTimes(of: spool.tmp.path + "/copy", to: 1)
        #expect(try StaleUploads.find(in: spool.tmp, olderThan: 3600, now: .now).count == 0)
    }
}
