import CDarkroomShims
import DarkroomAnswer
import DarkroomCore
import Glibc
import Synchronization

/// Waits until many new files are on the disk, all at once: one commit of the file system's journal and one flush of
/// the disk's cache. fsync for each file needs one flush each, which takes ten milliseconds and more on a busy disk.
///
/// syncfs(2) waits for the whole file system, so it is used only
/// - if it is as reliable as fsync: on ext4, XFS and Btrfs. FUSE and network file systems do not pass it on;
/// - if it reports failed writes: since Linux 5.8;
/// - if other programs have not left many dirty pages for which it would wait: if /proc says so, and not for a minute
///   after a call that took long;
/// - if it has not failed within the last hour. The kernel reports a failed write once to each open folder, for whichever
///   file it was: perhaps one that is not synced yet. No file waits that long for its sync. Until then fsync reports the
///   errors of each file.
package final class GroupSync: Sendable {
    package init() {}

    /// The limit of the dirty pages of all programs, in bytes.
    private static let maximumDirty = 256 << 20
    /// In nanoseconds.
    private static let long: UInt64 = 500_000_000
    private static let pause: UInt64 = 60_000_000_000
    private static let pauseAfterFailure: UInt64 = 3_600_000_000_000

    private struct Known {
        var isReliable: Bool?
        var isDirty = false
        /// In nanoseconds.
        var dirtyUntil: UInt64 = 0
    }

    private let known = Mutex(Known())
    /// In nanoseconds.
    private static let moment: UInt64 = 50_000_000

    /// It is not used before this time, in nanoseconds. Locked during a call: nobody else may get a success while the
    /// error is on its way.
    private let notBefore = Mutex<UInt64>(0)

    /// The numbers of ext2 to ext4, XFS and Btrfs in statfs(2).
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

    /// Waits until everything that was written before is on the disk, for the file system of `folder`.
    ///
    /// - Parameter folder: open since before the writes, and always the same one.
    /// - Returns: false if this was not done or something has failed. Then each file must be synced separately.
    func sync(_ folder: Directory) -> Bool {
        guard Self.kernelTellsErrors, isReliable(folder), !othersAreWriting else { return false }
        return sync { darkroom_sync_file_system(folder.number) == 0 }
    }

    /// Whether the folder's file system is one of the above. It is asked once, because the folder is always the same.
    private func isReliable(_ folder: Directory) -> Bool {
        known.withLock { known in
            if let isReliable = known.isReliable { return isReliable }
            let isReliable = Self.fileSystems.contains(darkroom_filesystem_type(folder.number))
            known.isReliable = isReliable
            return isReliable
        }
    }

    /// Whether there are many dirty pages. What /proc says counts for a moment: a burst of small groups takes no
    /// longer to sync than to read it, and no disk writes that fast.
    private var othersAreWriting: Bool {
        known.withLock { known in
            let now = Clock.nanoseconds
            if now < known.dirtyUntil { return known.isDirty }
            known.isDirty = Self.dirtyBytes ?? 0 > Self.maximumDirty
            known.dirtyUntil = now + Self.moment
            return known.isDirty
        }
    }

    /// Makes a call that waits for the disk, unless an earlier one has failed or was slow.
    func sync(by call: () -> Bool) -> Bool {
        notBefore.withLock { notBefore in
            let begin = Clock.nanoseconds
            guard begin >= notBefore else { return false }
            let isSynced = call()
            let end = Clock.nanoseconds
            if !isSynced {
                notBefore = end + Self.pauseAfterFailure
            } else if end - begin > Self.long {
                notBefore = end + Self.pause
            }
            return isSynced
        }
    }

    /// The data that waits to be written to all of the machine's disks, in bytes; nil for a service that sees only its
    /// own processes in /proc.
    private static var dirtyBytes: Int? {
        WholeFile.kernelText("/proc/meminfo").flatMap { dirtyBytes(meminfo: $0) }
    }

    static func dirtyBytes(meminfo: String) -> Int? {
        let line = meminfo.split(separator: "\n").first { $0.hasPrefix("Dirty:") }
        return line?.split(separator: " ").compactMap { Int($0) }.first.map {
            $0.saturatingMultiply(1024)
        }
    }
}
