import DarkroomCore
import DarkroomSelfTest
import Foundation

/// Real file systems that are full, of bytes or of inodes, and later are not: everything waits, nothing fails.
enum FullDisk {
    static func run(_ fixture: FaultFixture, _ reference: SpoolAudit.Reference) throws -> [String] {
        guard geteuid() == 0 else {
            return [leftOut("a full disk", because: "mounting one needs root")]
        }
        return try full(fixture, reference, of: "bytes", options: "size=2m")
            + full(fixture, reference, of: "inodes", options: "size=32m,nr_inodes=256")
    }

    private static func full(
        _ fixture: FaultFixture, _ reference: SpoolAudit.Reference, of what: String, options: String
    ) throws -> [String] {
        let name = FileName("full-\(what)")
        try fixture.folder.makeDirectory(name)
        let path = fixture.folder.path(of: name)
        guard mount("tmpfs", path, "tmpfs", 0, options) == 0 else {
            let reason = String(cString: strerror(errno))
            return [
                leftOut("a disk full of \(what)", because: "no tmpfs can be mounted: \(reason)")
            ]
        }
        defer { umount2(path, CInt(MNT_DETACH)) }
        let folder = try Directory(path: path)
        try TestSpool.makePictures(in: folder)
        let spool = try TestSpool("spool", in: folder, program: fixture.program)
        // The folders and the lock are made while there is room.
        let first = try spool.start()
        try spool.drop(.single)
        guard try spool.waitUntilIdle(first) else {
            return ["FAIL a daemon on tmpfs does not finish"]
        }
        var lines: [String] = []
        let words = "No space left on device"
        var isIdle = false
        // What is left may be enough for all: the sizes of some files differ. Then less is left.
        for left in [24, 16, 12, 8, 6, 4] {
            try fill(folder, of: what, but: left)
            for manifest in SampleManifest.all where !manifest.isCancelled {
                do {
                    try spool.drop(manifest)
                } catch {
                    // There is not even room for the manifest: its submitter is told.
                }
            }
            // The standstill may be a busy machine's, and then comes before the disk is met with.
            for _ in 0..<15 {
                isIdle = try spool.waitUntilIdle(first, standstill: 4)
                if isIdle || spool.lastWords.contains(where: { $0.contains(words) }) { break }
            }
            if !isIdle { break }
        }
        if isIdle {
            lines.append("FAIL a disk full of \(what) was none: everything was done")
        }
        if let ending = first.poll() { lines.append("FAIL on a disk full of \(what): \(ending)") }
        if !spool.lastWords.contains(where: { $0.contains(words) }) {
            lines.append("FAIL a disk full of \(what) is not spoken of")
        }
        for filler in try folder.names() where filler.text.hasPrefix("filler") {
            try folder.remove(filler)
        }
        let isDone = try spool.waitUntilIdle(first, standstill: 40)
        first.send(SIGTERM)
        let ending = try first.wait(30)
        if !isDone || ending != .exited(0) {
            lines.append(
                "FAIL after a disk full of \(what) the daemon does not finish: \(spool.lastWords)")
        }
        var audit = SpoolAudit(spool, reference)
        audit.mayLackProgress = true
        try audit.look(isFinal: true)
        return lines + audit.lines("a disk full of \(what) that later has room")
    }

    /// - Parameter left: how many pages or inodes stay free, so that something is begun.
    private static func fill(_ folder: Directory, of what: String, but left: Int) throws {
        var space = statvfs()
        fstatvfs(folder.number, &space)
        if what == "bytes" {
            let name = FileName("filler-\(left)")
            let file = try folder.create(name)
            let pages = max(0, Int(space.f_bavail) - left)
            try file.write(
                [UInt8](repeating: 1, count: pages * Int(space.f_bsize)), path: name.text)
        } else {
            for number in 0..<max(0, Int(space.f_ffree) - left) {
                try folder.write([], to: "filler-\(left)-\(number)", durably: false)
            }
        }
    }
}
