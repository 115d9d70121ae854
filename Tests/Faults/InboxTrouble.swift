import DarkroomCore
import DarkroomSelfTest
import Foundation

/// Events that are lost, and an inbox that goes away.
enum InboxTrouble {
    static func run(_ fixture: FaultFixture, _ reference: SpoolAudit.Reference) throws -> [String] {
        try overflow(fixture, reference) + moved(fixture, reference)
    }

    /// While the daemon stands still, more happens in the inbox than the kernel keeps, and then manifests come.
    private static func overflow(
        _ fixture: FaultFixture, _ reference: SpoolAudit.Reference
    ) throws -> [String] {
        let file = "/proc/sys/fs/inotify/max_queued_events"
        let text = try? String(contentsOfFile: file, encoding: .utf8)
        guard let limit = text.flatMap({ Int($0.trimmingCharacters(in: .whitespacesAndNewlines)) }),
            limit <= 1_000_000
        else {
            return [leftOut("an overflow of inotify", because: "\(file) is \(text ?? "missing")")]
        }
        let spool = try TestSpool("overflow", in: fixture.folder, program: fixture.program)
        // No scan by the clock: only the overflow tells that there is something.
        let daemon = try spool.start(settings: ["inbox.rescan": "0s"])
        try spool.drop(.single)
        guard try spool.waitUntilIdle(daemon) else { return ["FAIL a daemon does not finish"] }
        daemon.send(SIGSTOP)
        // Twice what is kept, for the daemon may read some before its last thread has stopped.
        let count = 2 * limit
        let inbox = try Directory(path: "\(spool.path)/inbox")
        // Two names in turn, for equal events in a row become one.
        let names: [FileName] = [".a", ".b"]
        try inbox.write([], to: names[0], durably: false)
        for number in 0..<count {
            try inbox.rename(names[number % 2], to: inbox, as: names[(number + 1) % 2])
        }
        try inbox.remove(names[count % 2])
        for manifest in SampleManifest.all { try spool.drop(manifest) }
        daemon.send(SIGCONT)
        _ = try spool.waitUntilIdle(daemon, standstill: 20)
        var lines: [String] = []
        let output = try String(contentsOfFile: spool.log, encoding: .utf8)
        if !output.contains("inotify lost events") {
            lines.append("FAIL \(count) events are no overflow")
        }
        lines += try finish(daemon, spool)
        return try lines + audited(spool, reference, "an overflow of inotify after \(limit) events")
    }

    /// The inbox is removed, or moved away and made anew with what was in it, again and again.
    private static func moved(
        _ fixture: FaultFixture, _ reference: SpoolAudit.Reference
    ) throws -> [String] {
        let spool = try TestSpool("moved", in: fixture.folder, program: fixture.program)
        let daemon = try spool.start(settings: ["inbox.rescan": "0s"])
        let root = try Directory(path: spool.path)
        var times = 0
        for turn in 0..<12 {
            try spool.drop(turn % 2 == 0 ? .pair : .single)
            if turn % 3 == 0 {
                if try isRemoved("inbox", from: root) { times += 1 }
            } else {
                let old: FileName = "inbox.old-\(turn)"
                try root.rename("inbox", to: root, as: old)
                times += 1
                try refill(from: Directory(old, in: root), root)
                try root.removeTree(old)
            }
            try makeInbox(root)
            usleep(UInt32(turn % 4) * 20_000)
        }
        _ = try spool.waitUntilIdle(daemon, standstill: 20)
        let lines = try finish(daemon, spool)
        return try lines
            + audited(spool, reference, "an inbox that was removed or moved \(times) times")
    }

    /// What lay in the old inbox is put into the new one, whoever made that, the daemon or we.
    private static func refill(from old: Directory, _ root: Directory) throws {
        try makeInbox(root)
        let inbox = try Directory("inbox", in: root)
        for name in try old.names() { try move(name, from: old, to: inbox) }
    }

    private static func move(
        _ name: FileName, from old: Directory, to new: Directory
    ) throws(FileError) {
        do {
            try old.rename(name, to: new, as: name)
        } catch  where error.errno == .noSuchFileOrDirectory {
            // The daemon has taken it out of the folder that it still has open.
        }
    }

    /// Removes a folder if nothing is in it; the daemon may not have been so quick.
    private static func isRemoved(
        _ name: FileName, from root: Directory
    ) throws(FileError) -> Bool {
        do {
            try root.removeDirectory(name)
            return true
        } catch  where error.errno == .directoryNotEmpty {
            return false
        }
    }

    private static func makeInbox(_ root: Directory) throws {
        do {
            try root.makeDirectory("inbox")
        } catch  where error.errno == .fileExists {
            // The daemon was quicker.
        }
    }

    private static func audited(
        _ spool: TestSpool, _ reference: SpoolAudit.Reference, _ what: String
    ) throws -> [String] {
        var audit = SpoolAudit(spool, reference)
        try audit.look(isFinal: true)
        return audit.lines(what)
    }

    private static func finish(_ daemon: ChildDaemon, _ spool: TestSpool) throws -> [String] {
        daemon.send(SIGTERM)
        let ending = try daemon.wait(30)
        guard ending != .exited(0) else { return [] }
        return ["FAIL \(ending.map { "\($0)" } ?? "the daemon does not stop"): \(spool.lastWords)"]
    }
}
