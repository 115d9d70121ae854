import DarkroomCore
import Glibc

/// Tells that names in folders change and that files are replaced, by inotify where it works, else by time alone. The
/// changes of other machines on a network file system cause no events, so a caller looks again after each wait.
final class FileEvents: Sendable {
    /// For waits that follow each other: the kernel takes ten milliseconds and more to close what has watches.
    static let shared = FileEvents()

    /// Without inotify its number is negative, which poll(2) ignores.
    private let inotify = Descriptor(owning: inotify_init1(CInt(IN_NONBLOCK) | CInt(IN_CLOEXEC)))

    /// Has input when something has changed.
    var number: CInt { inotify.number }

    struct Watch { fileprivate let number: CInt }

    /// Follows the files that appear, are replaced or vanish in a folder.
    @discardableResult func follow(namesIn folder: Directory) -> Watch {
        let names = IN_CREATE | IN_MOVED_TO | IN_MOVED_FROM | IN_DELETE | IN_DELETE_SELF
        return Watch(
            number: inotify_add_watch(
                number, "/proc/self/fd/\(folder.number)", UInt32(names) | UInt32(IN_ONLYDIR)))
    }

    func end(_ watch: Watch) { _ = inotify_rm_watch(number, watch.number) }

    /// Follows the present file of an answer until it is replaced: it loses its last link then, and the kernel forgets
    /// it. The folder would have an event for each output.
    func follow(_ file: FileName, of id: FileName, in outbox: Directory) {
        let folder = Array("/proc/self/fd/\(outbox.number)/".utf8) + id.bytes
        FileName(bytes: folder + [UInt8(ascii: "/")] + file.bytes).withCString {
            _ = inotify_add_watch(number, $0, UInt32(IN_ATTRIB) | UInt32(IN_DELETE_SELF))
        }
    }

    func take() -> Bool {
        var hasChanged = false
        withUnsafeTemporaryAllocation(byteCount: 16 << 10, alignment: 8) { buffer in
            while read(number, buffer.baseAddress, buffer.count) > 0 { hasChanged = true }
        }
        return hasChanged
    }

    func wait(seconds: Double) {
        var request = pollfd(fd: number, events: Int16(POLLIN), revents: 0)
        let milliseconds = CInt(max(1, min((seconds * 1000).rounded(.up), 3_600_000)))
        if poll(&request, 1, milliseconds) > 0 { _ = take() }
    }
}
