import DarkroomCore
import Glibc
import SystemPackage

/// Checks the folders of the real spool without changing them.
struct SpoolCheck {
    let root: Directory

    func findings() -> [Finding] {
        let parts: [() throws(FileError) -> [Finding]] = [
            daemon, leftovers, mounts, permissions, space,
        ]
        return parts.flatMap { part in
            do throws(FileError) {
                return try part()
            } catch {
                return [.problem(error.message, consequence: "not be able to use the spool")]
            }
        }
    }

    private static let stations: [FileName] = ["tmp", "inbox", "active", "outbox"]

    private func present() throws(FileError) -> [FileName] {
        var names: [FileName] = []
        for name in Self.stations where try root.exists(name) { names.append(name) }
        return names
    }

    // MARK: The daemon

    private func daemon() throws(FileError) -> [Finding] {
        guard let lock = try root.information(of: "lock") else { return [] }
        // To take the lock for a test would prevent a daemon from starting at this moment. By proc_locks(5), the sixth
        // word is the file: the two numbers of its device, and its inode.
        guard let table = WholeFile.kernelText("/proc/locks") else {
            // The service can see only its own processes in /proc.
            return [.note("it cannot be determined whether a daemon works on this spool")]
        }
        let isHeld = table.split(separator: "\n").contains { line in
            let words = line.split(separator: " ")
            return words.count > 5 && words[1] == "FLOCK" && words[5].hasSuffix(":\(lock.st_ino)")
        }
        return isHeld ? [.note("a daemon works on this spool; the test does not disturb it")] : []
    }

    /// A self-test that was killed could not remove its folder.
    private func leftovers() throws(FileError) -> [Finding] {
        try root.names().filter { $0.text.hasPrefix(SelfTest.folderPrefix) }.map {
            .note(
                "\(root.path(of: $0)) belongs to another self-test; remove it if that test has ended"
            )
        }
    }

    // MARK: Mounts

    private func mounts() throws(FileError) -> [Finding] {
        let table = try Directory(path: "/proc/self").read("mountinfo")
        let points = String(decoding: table, as: UTF8.self).split(separator: "\n")
            .compactMap { MountEntry($0)?.point }
        let real = root.path.realPath ?? root.path
        let within = Self.stations.map(\.text).filter { points.contains("\(real)/\($0)") }
        guard within.isEmpty else {
            return [
                .problem(
                    "\(within.joined(separator: ", ")): a separate mount, and a rename cannot cross mounts",
                    consequence: "not be able to move manifests or pictures across it")
            ]
        }
        return [.ok("inbox, active and outbox are on one file system")]
    }

    // MARK: Permissions

    private func permissions() throws(FileError) -> [Finding] {
        var findings: [Finding] = []
        let own = try root.information()
        let user = geteuid()
        if own.st_uid != user {
            findings.append(
                .note(
                    "the test runs as user \(user), but the spool belongs to \(own.st_uid): to check the daemon's "
                        + "permissions, run it as the daemon's user"))
        }
        for name in try present() + ["."] {
            let path = name == "." ? root.path : root.path(of: name)
            if faccessat(root.number, name.text, R_OK | W_OK | X_OK, AT_EACCESS) != 0 {
                findings.append(
                    .problem(
                        "\(path) cannot be read, written and entered: \(Errno(rawValue: errno))",
                        consequence: "fail as this user"))
            } else if let information = try root.information(of: name) {
                findings += Self.openness(path, name, information)
            }
        }
        if !findings.contains(where: \.isProblem) {
            findings.append(.ok("the folders can be used by this user"))
        }
        return findings
    }

    private static func openness(
        _ path: String, _ name: FileName, _ information: stat
    ) -> [Finding] {
        let mode = information.st_mode
        if name == "active", mode & 0o077 != 0 {
            return [
                .problem(
                    "\(path) is accessible to other users (mode \(String(mode & 0o7777, radix: 8)))",
                    consequence: "trust files there that others may change; set its mode to 0700")
            ]
        }
        let isShared = mode & 0o002 != 0 && mode & UInt32(S_ISVTX) == 0
        if name == "inbox" || name == "outbox", isShared {
            return [
                .note(
                    "\(path) is writable for everyone and not sticky: users can remove each other's files"
                )
            ]
        }
        return []
    }

    // MARK: Space

    private func space() throws(FileError) -> [Finding] {
        var found = statvfs()
        guard fstatvfs(root.number, &found) == 0 else {
            throw FileError(.examine, root.path, Errno(rawValue: errno))
        }
        let bytes = found.room.free
        // Some file systems do not count inodes and report 0 of 0.
        let inodes = found.f_files == 0 ? nil : UInt64(found.f_favail)
        let text = "\(bytes >> 20) MiB free" + (inodes.map { ", \($0) inodes free" } ?? "")
        if bytes < 64 << 20 || (inodes ?? .max) < 1000 {
            return [.problem(text, consequence: "soon wait for space")]
        }
        return [.ok(text)]
    }
}
