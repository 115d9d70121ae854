import DarkroomCore
import Glibc

/// Waits until something changes in folders, by inotify where it works, else by time alone. The changes of other
/// machines on a network file system cause no events, so a caller looks again after each wait.
package final class FolderWatch {
    /// Of inotify; -1 without it.
    private let number: CInt

    /// Files that appear, are replaced or vanish.
    private static let mask =
        UInt32(IN_CREATE) | UInt32(IN_MOVED_TO) | UInt32(IN_MOVED_FROM) | UInt32(IN_DELETE)
        | UInt32(IN_DELETE_SELF) | UInt32(IN_ONLYDIR)

    package init(_ folders: [Directory]) {
        number = inotify_init1(CInt(IN_NONBLOCK) | CInt(IN_CLOEXEC))
        guard number >= 0 else { return }
        for folder in folders {
            _ = inotify_add_watch(number, "/proc/self/fd/\(folder.number)", Self.mask)
        }
    }

    deinit {
        if number >= 0 { close(number) }
    }

    /// Waits for the next change, at most this long.
    package func wait(seconds: Double) {
        let milliseconds = CInt(max(1, min(seconds * 1000, 3_600_000)))
        guard number >= 0 else {
            usleep(UInt32(milliseconds) * 1000)
            return
        }
        var request = pollfd(fd: number, events: Int16(POLLIN), revents: 0)
        guard poll(&request, 1, milliseconds) > 0 else { return }
        withUnsafeTemporaryAllocation(byteCount: 16 << 10, alignment: 8) { buffer in
            while read(number, buffer.baseAddress, buffer.count) > 0 {}
        }
    }
}
