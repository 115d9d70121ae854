import CDarkroomShims
import DarkroomCore
import Glibc
import Synchronization

/// Waits for many new files at once: one commit of the file system's journal and one flush of the disk's cache, where
/// fsync for each file pays for a flush each time, which on a busy disk takes ten milliseconds and more.
///
/// syncfs(2) waits for the whole file system, so this is done only
/// - where it is as good as fsync: on ext4, XFS and Btrfs. FUSE's and network file systems do not hand it on;
/// - where it tells of writes that failed: since Linux 5.8;
/// - while other programs have not left a long queue of dirty pages that would have to be waited for: where /proc
///   says so, and for a minute after it took long.
package final class GroupSync: Sendable {
    package init() {}

    /// Of all programs, in bytes.
    private static let maximumDirty = 256 << 20
    /// In nanoseconds.
    private static let long: UInt64 = 500_000_000
    private static let pause: UInt64 = 60_000_000_000

    /// Before this moment it is not done, in nanoseconds.
    private let notBefore = Atomic<UInt64>(0)

    /// statfs(2)'s numbers of ext2 to ext4, XFS and Btrfs.
    private static let fileSystems: Set<Int64> = [0xEF53, 0x5846_5342, 0x9123_683E]

    private static let kernelTellsErrors: Bool = {
        var name = utsname()
        guard uname(&name) == 0 else { return false }
        let release = withUnsafeBytes(of: &name.release) {
            String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
        }
        return tellsErrors(release: release)
    }()

    static func tellsErrors(release: String) -> Bool {
        let numbers = release.split(whereSeparator: { !$0.isNumber }).prefix(2).compactMap {
            Int($0)
        }
        guard numbers.count == 2 else { return false }
        return (numbers[0], numbers[1]) >= (5, 8)
    }

    /// Waits for everything written before on the file system of `folder`; false where that was not done or
    /// something has failed, and each file is to be asked for by itself. An error is told for as long as the folder
    /// is open, whosever file it concerns.
    func sync(_ folder: Directory) -> Bool {
        let begin = Clock.nanoseconds
        guard Self.kernelTellsErrors, begin >= notBefore.load(ordering: .relaxed),
            Self.fileSystems.contains(darkroom_filesystem_type(folder.number)),
            Self.dirtyBytes ?? 0 <= Self.maximumDirty
        else { return false }
        let isSynced = darkroom_sync_file_system(folder.number) == 0
        let end = Clock.nanoseconds
        if end - begin > Self.long { notBefore.store(end + Self.pause, ordering: .relaxed) }
        return isSynced
    }

    /// What waits to be written on all of the machine's disks; nil for a service that sees nothing of /proc but its
    /// own processes.
    private static var dirtyBytes: Int? {
        guard let folder = try? Directory(path: "/proc"), let text = try? folder.read("meminfo")
        else { return nil }
        return dirtyBytes(meminfo: String(decoding: text, as: UTF8.self))
    }

    static func dirtyBytes(meminfo: String) -> Int? {
        let line = meminfo.split(separator: "\n").first { $0.hasPrefix("Dirty:") }
        return line?.split(separator: " ").compactMap { Int($0) }.first.map {
            $0.saturatingMultiply(1024)
        }
    }
}
