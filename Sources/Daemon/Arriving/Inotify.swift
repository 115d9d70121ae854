import DarkroomCore
import Dispatch
import Glibc
import SystemPackage

/// An open inotify descriptor: the watches of folders, and the records that arrive.
final class Inotify: Sendable {
    private let descriptor: Descriptor

    init(for path: String) throws(FileError) {
        descriptor = Descriptor(
            owning: try retryingInterrupts(.watch, path, detail: "(inotify_init)") {
                inotify_init1(CInt(IN_NONBLOCK) | CInt(IN_CLOEXEC))
            })
    }

    /// Adds a watch by the open folder, so that it watches the same folder that is listed.
    func add(_ folder: Directory, _ mask: UInt32) throws(FileError) -> CInt {
        try retryingInterrupts(.watch, folder.path, detail: "(inotify_add_watch)") {
            inotify_add_watch(descriptor.number, "/proc/self/fd/\(folder.number)", mask)
        }
    }

    func remove(_ watch: CInt) { inotify_rm_watch(descriptor.number, watch) }

    /// Calls `handler` on `queue` with the events of the records that have arrived, until the source is cancelled. The
    /// source holds the descriptor, so that it is closed only after that.
    func source<Event: Sendable>(
        on queue: DispatchQueue, read: @escaping @Sendable () -> [Event],
        handler: @escaping @Sendable ([Event]) -> Void
    ) -> any DispatchSourceRead {
        let source = DispatchSource.makeReadSource(fileDescriptor: descriptor.number, queue: queue)
        source.setEventHandler { @Sendable in
            let events = read()
            if !events.isEmpty { handler(events) }
        }
        source.setCancelHandler { @Sendable in _ = self }
        source.activate()
        return source
    }

    /// Calls `body` for each record that has arrived.
    func read(_ body: (_ watch: CInt, _ mask: UInt32, _ name: FileName) -> Void) {
        withUnsafeTemporaryAllocation(byteCount: 64 << 10, alignment: 8) { buffer in
            while true {
                let count = Glibc.read(descriptor.number, buffer.baseAddress, buffer.count)
                if count < 0, errno == EINTR { continue }
                guard count > 0 else { break }
                Self.parse(UnsafeRawBufferPointer(rebasing: buffer[..<count]), body)
            }
        }
    }

    /// The records are `struct inotify_event`, whose name Swift does not import: 16 bytes of watch, mask, cookie and
    /// length, then the name, padded with NULs.
    static func parse(
        _ buffer: UnsafeRawBufferPointer,
        _ body: (_ watch: CInt, _ mask: UInt32, _ name: FileName) -> Void
    ) {
        var offset = 0
        while offset + 16 <= buffer.count {
            let watch = buffer.loadUnaligned(fromByteOffset: offset, as: CInt.self)
            let mask = buffer.loadUnaligned(fromByteOffset: offset + 4, as: UInt32.self)
            let length = Int(buffer.loadUnaligned(fromByteOffset: offset + 12, as: UInt32.self))
            let end = min(offset + 16 + length, buffer.count)
            body(watch, mask, FileName(bytes: buffer[(offset + 16)..<end].prefix { $0 != 0 }))
            offset = end
        }
    }
}
