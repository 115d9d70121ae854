import Foundation
import Glibc

/// A file system of a few megabytes in memory, mounted for one test. Only root may mount.
package final class SmallDisk: TestFolder {
    package let root: URL
    private let scratch: ScratchDirectory

    /// Whether a test that needs one can run.
    package static let isAvailable = geteuid() == 0 && (try? SmallDisk(kilobytes: 64)) != nil

    package init(kilobytes: Int) throws {
        scratch = try ScratchDirectory()
        root = scratch.url.appending(path: "disk")
        try FileManager.default.makeFolder(at: root)
        guard mount("tmpfs", root.path, "tmpfs", 0, "size=\(kilobytes)k") == 0 else {
            throw POSIXError(.init(rawValue: errno) ?? .EPERM)
        }
    }

    deinit { umount2(root.path, CInt(MNT_DETACH)) }

    private var filler: String { root.appending(path: "filler").path }

    /// Fills the disk up to the last `kilobytes`.
    package func fill(butFor kilobytes: Int) throws {
        // A daemon may take a page between the look at what is free and the taking of it.
        for attempt in 1... {
            do {
                return try fillOnce(butFor: kilobytes)
            } catch let error as POSIXError where error.code == .ENOSPC && attempt < 100 {}
        }
    }

    private func fillOnce(butFor kilobytes: Int) throws {
        let number = open(filler, O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
        guard number >= 0 else { throw POSIXError(.init(rawValue: errno) ?? .EIO) }
        defer { close(number) }
        var information = statvfs()
        guard fstatvfs(number, &information) == 0 else {
            throw POSIXError(.init(rawValue: errno) ?? .EIO)
        }
        let free = Int(information.f_bavail) * Int(information.f_frsize)
        guard posix_fallocate(number, 0, free - kilobytes * 1024) == 0 else {
            throw POSIXError(.ENOSPC)
        }
    }

    /// Gives back a part of what `fill` took.
    package func empty(kilobytes: Int) throws {
        var information = stat()
        guard stat(filler, &information) == 0,
            truncate(filler, max(0, information.st_size - kilobytes * 1024)) == 0
        else { throw POSIXError(.init(rawValue: errno) ?? .EIO) }
    }

    /// Leaves room for so many further files and folders; nil for as many as one likes.
    package func setFreeFiles(_ count: Int?) throws {
        var information = statvfs()
        guard statvfs(root.path, &information) == 0 else {
            throw POSIXError(.init(rawValue: errno) ?? .EIO)
        }
        let used = Int(information.f_files - information.f_ffree)
        let limit = count.map { used + $0 } ?? used + 1_000_000
        guard mount("tmpfs", root.path, "tmpfs", UInt(MS_REMOUNT), "nr_inodes=\(limit)") == 0
        else { throw POSIXError(.init(rawValue: errno) ?? .EIO) }
    }

    /// Gives back what `fill` took.
    package func empty() { unlink(filler) }
}
