import CDarkroomShims
import DarkroomAnswer
import DarkroomCore
import DarkroomSpool
import Dispatch
import Glibc
import SystemPackage

package typealias InboxEvent = FolderEvent<FileName>

/// An inotify watch on the inbox that delivers events to a queue.
package final class InboxWatch {
    /// Events in the folder. IN_ATTRIB is needed for a file that cannot be read until its permissions change. IN_MODIFY
    /// tells a file that is being written from one that was linked (`ArrivingFiles`).
    private static let mask =
        UInt32(IN_CLOSE_WRITE) | UInt32(IN_MOVED_TO) | UInt32(IN_CREATE) | UInt32(IN_ATTRIB)
        | UInt32(IN_MODIFY) | UInt32(IN_DELETE_SELF) | UInt32(IN_MOVE_SELF) | UInt32(IN_ONLYDIR)

    /// Events of the folder itself. This folder is open, so IN_DELETE_SELF does not arrive when it is removed, but only
    /// when it is closed. Therefore its parent is watched too.
    private static let parentMask =
        UInt32(IN_DELETE) | UInt32(IN_MOVED_FROM) | UInt32(IN_DELETE_SELF) | UInt32(IN_MOVE_SELF)
        | UInt32(IN_ONLYDIR)

    private let source: any DispatchSourceRead
    private let records: InboxRecords

    /// Begins to watch `folder`, whose name in `parent` is `name`. `handler` runs on `queue` with the events of each
    /// read.
    ///
    /// - Throws: an error if inotify cannot work. ENOSPC means that the user has no watches left, not that the disk is
    ///   full.
    package init(
        folder: Directory, named name: FileName, in parent: Directory, queue: DispatchQueue,
        handler: @escaping @Sendable ([InboxEvent]) -> Void
    ) throws(FileError) {
        if let kind = Self.filesystemWithoutEvents(folder) {
            throw FileError(
                .watch, folder.path, .notSupported, detail: "it (\(kind) has no events)")
        }
        let inotify = try Inotify(for: folder.path)
        _ = try inotify.add(folder, Self.mask)
        let records = InboxRecords(
            inotify: inotify, parentWatch: try inotify.add(parent, Self.parentMask), folder: name)
        self.records = records
        source = inotify.source(on: queue, read: { records.read() }, handler: handler)
    }

    deinit { source.cancel() }

    /// The events that have not been delivered yet. They will not be delivered again. Call this on the queue.
    func read() -> [InboxEvent] { records.read() }

    /// File systems on which inotify does not report the changes of other machines or processes.
    static func filesystemWithoutEvents(_ folder: Directory) -> String? {
        switch darkroom_filesystem_type(folder.number) {
        case 0x6969: "NFS"
        case 0x6573_5546: "FUSE"
        case 0x517B, 0xFF53_4D42, 0xFE53_4D42: "SMB"
        case 0x0102_1997: "9P"
        default: nil
        }
    }
}

/// What the records of inotify say about the inbox.
struct InboxRecords: Sendable {
    let inotify: Inotify
    let parentWatch: CInt
    let folder: FileName

    func read() -> [InboxEvent] {
        inotify.events { watch, mask, name in
            guard watch == parentWatch else { return Self.event(mask: mask, name: name) }
            if name.bytes.isEmpty || name == folder { return .lost }
            return Spool.stations.contains(name) ? .stationLost(name) : nil
        }
    }

    static func event(mask: UInt32, name: FileName) -> InboxEvent? {
        if mask & Inotify.goneMask != 0 { return .lost }
        return name.bytes.isEmpty ? nil : InboxEvent(mask, name)
    }
}
