import CDarkroomShims
import DarkroomCore
import DarkroomSpool
import Dispatch
import Glibc
import SystemPackage

/// What happened in the inbox, as inotify tells it. Events are hints: the folder is the truth.
package enum InboxEvent: Sendable, Equatable {
    /// A file was renamed into the folder, complete by the submitters' rule.
    case moved(FileName)
    /// A file that was open for writing was closed.
    case closed(FileName)
    /// Something was made: a file, empty as yet and to be closed some time, or what is never closed, a
    /// link or a folder.
    case made(FileName)
    /// A file was written to, by somebody who has opened it under this name.
    case written(FileName)
    /// A file's permissions changed.
    case changed(FileName)
    /// Events were lost; only a scan tells what is there.
    case overflow
    /// The folder was removed, renamed or unmounted; the watch is dead.
    case lost
    /// Another of the spool's folders was removed or renamed.
    case stationLost(FileName)

    /// The file that it is about.
    var name: FileName? {
        switch self {
        case .moved(let name), .closed(let name), .made(let name), .written(let name),
            .changed(let name):
            name
        case .overflow, .lost, .stationLost: nil
        }
    }
}

extension InboxEvent {
    /// Whether it tells only that a file is still being written.
    var isOfAWriter: Bool {
        if case .written = self { true } else { false }
    }
}

/// An inotify watch on the inbox, delivering to a queue.
package final class InboxWatch {
    /// What happens in the folder. IN_ATTRIB is there for a file that could not be read until someone gave
    /// permission, IN_MODIFY to tell a file that is being written from one that was linked (`BegunFiles`).
    private static let mask =
        UInt32(IN_CLOSE_WRITE) | UInt32(IN_MOVED_TO) | UInt32(IN_CREATE) | UInt32(IN_ATTRIB)
        | UInt32(IN_MODIFY) | UInt32(IN_DELETE_SELF) | UInt32(IN_MOVE_SELF) | UInt32(IN_ONLYDIR)

    /// What happens to the folder. A removed folder that is open, as this one is, gets no IN_DELETE_SELF
    /// until it is closed, so its parent is watched too.
    private static let parentMask =
        UInt32(IN_DELETE) | UInt32(IN_MOVED_FROM) | UInt32(IN_DELETE_SELF) | UInt32(IN_MOVE_SELF)
        | UInt32(IN_ONLYDIR)

    private let source: any DispatchSourceRead
    private let descriptor: InotifyDescriptor

    /// Begins to watch `folder`, which is `name` in `parent`; `handler` runs on `queue` with the events of
    /// each reading.
    ///
    /// Fails where inotify cannot work, ENOSPC meaning that the user's watches are used up (not the disk).
    package init(
        folder: Directory, named name: FileName, in parent: Directory, queue: DispatchQueue,
        handler: @escaping @Sendable ([InboxEvent]) -> Void
    ) throws(FileError) {
        if let kind = Self.filesystemWithoutEvents(folder) {
            throw FileError("watch it (\(kind) has no events)", folder.path, .notSupported)
        }
        let number: CInt
        do {
            number = try retryingInterrupts {
                inotify_init1(CInt(IN_NONBLOCK) | CInt(IN_CLOEXEC))
            }
        } catch {
            throw FileError("watch (inotify_init)", folder.path, error)
        }
        let owned = Descriptor(owning: number)
        _ = try Self.add(folder, Self.mask, to: number)
        let parentWatch = try Self.add(parent, Self.parentMask, to: number)
        let descriptor = InotifyDescriptor(owned, parentWatch: parentWatch, folder: name)
        self.descriptor = descriptor
        source = DispatchSource.makeReadSource(fileDescriptor: number, queue: queue)
        source.setEventHandler { @Sendable in
            let events = descriptor.read()
            if !events.isEmpty { handler(events) }
        }
        // The descriptor is closed when the source, and with it this closure, has let go of it.
        source.setCancelHandler { @Sendable in _ = descriptor }
        source.activate()
    }

    deinit { source.cancel() }

    /// The events that have not been delivered yet; they will not be. To be called on the queue.
    func read() -> [InboxEvent] { descriptor.read() }

    /// Adds a watch through the open folder, so that it is on the very one that will be scanned.
    private static func add(
        _ folder: Directory, _ mask: UInt32, to number: CInt
    ) throws(FileError) -> CInt {
        do {
            return try retryingInterrupts {
                inotify_add_watch(number, "/proc/self/fd/\(folder.number)", mask)
            }
        } catch {
            throw FileError("watch (inotify_add_watch)", folder.path, error)
        }
    }

    /// File systems whose changes by others never reach inotify.
    private static func filesystemWithoutEvents(_ folder: Directory) -> String? {
        switch darkroom_filesystem_type(folder.number) {
        case 0x6969: "NFS"
        case 0x6573_5546: "FUSE"
        case 0x517B, 0xFF53_4D42, 0xFE53_4D42: "SMB"
        case 0x0102_1997: "9P"
        default: nil
        }
    }
}

/// Reads and parses what inotify reports.
final class InotifyDescriptor: Sendable {
    private let descriptor: Descriptor
    /// The watch on the folder that holds the watched one, whose name is `folder`.
    private let parentWatch: CInt
    private let folder: FileName

    init(_ descriptor: consuming Descriptor, parentWatch: CInt, folder: FileName) {
        self.descriptor = descriptor
        self.parentWatch = parentWatch
        self.folder = folder
    }

    /// All events there are now, a name not twice in a row.
    func read() -> [InboxEvent] {
        var events: [InboxEvent] = []
        withUnsafeTemporaryAllocation(byteCount: 64 << 10, alignment: 8) { buffer in
            while true {
                let count = Glibc.read(descriptor.number, buffer.baseAddress, buffer.count)
                if count < 0, errno == EINTR { continue }
                guard count > 0 else { break }
                Self.parse(UnsafeRawBufferPointer(rebasing: buffer[..<count])) {
                    watch, mask, name in
                    let event =
                        watch == parentWatch
                        ? parentEvent(mask: mask, name: name) : Self.event(mask: mask, name: name)
                    if let event, event != events.last { events.append(event) }
                }
            }
        }
        return events
    }

    /// The records are `struct inotify_event`, whose name Swift does not import: 16 bytes of watch, mask,
    /// cookie and length, then the name, filled up with NULs.
    static func parse(
        _ buffer: UnsafeRawBufferPointer,
        _ body: (_ watch: CInt, _ mask: UInt32, _ name: FileName) -> Void
    ) {
        var offset = 0
        while offset + 16 <= buffer.count {
            let watch = buffer.loadUnaligned(fromByteOffset: offset, as: CInt.self)
            let mask = buffer.loadUnaligned(fromByteOffset: offset + 4, as: UInt32.self)
            let length = Int(
                buffer.loadUnaligned(fromByteOffset: offset + 12, as: UInt32.self))
            let end = min(offset + 16 + length, buffer.count)
            body(watch, mask, FileName(bytes: buffer[(offset + 16)..<end].prefix { $0 != 0 }))
            offset = end
        }
    }

    private func parentEvent(mask: UInt32, name: FileName) -> InboxEvent? {
        if name.bytes.isEmpty || name == folder { return .lost }
        return Spool.stations.contains(name) ? .stationLost(name) : nil
    }

    static func event(mask: UInt32, name: FileName) -> InboxEvent? {
        if mask & UInt32(IN_Q_OVERFLOW) != 0 { return .overflow }
        let gone =
            UInt32(IN_DELETE_SELF) | UInt32(IN_MOVE_SELF) | UInt32(IN_UNMOUNT) | UInt32(IN_IGNORED)
        if mask & gone != 0 { return .lost }
        if name.bytes.isEmpty { return nil }
        if mask & UInt32(IN_MOVED_TO) != 0 { return .moved(name) }
        if mask & UInt32(IN_CREATE) != 0 { return .made(name) }
        if mask & UInt32(IN_MODIFY) != 0 { return .written(name) }
        return mask & UInt32(IN_CLOSE_WRITE) != 0 ? .closed(name) : .changed(name)
    }
}
