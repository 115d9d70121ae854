import CDarkroomShims
import DarkroomAnswer
import DarkroomCore
import DarkroomSpool
import Dispatch
import Glibc
import SystemPackage

/// An event in the inbox, as inotify reports it. Events are hints. Only the folder shows the truth.
package enum InboxEvent: Sendable, Equatable {
    /// A file was renamed into the folder: by the rule for submitters it is complete.
    case moved(FileName)
    /// A file that was open for writing was closed.
    case closed(FileName)
    /// Something was created: a file, which is still empty and will be closed, or a link or a folder, which is never
    /// closed.
    case made(FileName)
    /// A process that opened the file by this name wrote to it.
    case written(FileName)
    /// A file's permissions changed.
    case changed(FileName)
    /// Events were lost. Only a scan shows the present content.
    case overflow
    /// The folder was removed, renamed or unmounted. The watch does not work any more.
    case lost
    /// Another folder of the spool was removed or renamed.
    case stationLost(FileName)

    /// The name of the file concerned.
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
    /// Whether it says only that a file is still being written.
    var isOfAWriter: Bool {
        if case .written = self { true } else { false }
    }
}

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
            inotify, parentWatch: try inotify.add(parent, Self.parentMask), folder: name)
        self.records = records
        source = inotify.source(on: queue) {
            let events = records.read()
            if !events.isEmpty { handler(events) }
        }
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
final class InboxRecords: Sendable {
    private let inotify: Inotify
    /// The watch on the parent of the watched folder. The name of the watched folder is `folder`.
    private let parentWatch: CInt
    private let folder: FileName

    init(_ inotify: Inotify, parentWatch: CInt, folder: FileName) {
        self.inotify = inotify
        self.parentWatch = parentWatch
        self.folder = folder
    }

    /// All pending events. Equal consecutive events become one.
    func read() -> [InboxEvent] {
        var events: [InboxEvent] = []
        inotify.read { watch, mask, name in
            let event =
                watch == parentWatch
                ? parentEvent(mask: mask, name: name) : Self.event(mask: mask, name: name)
            if let event, event != events.last { events.append(event) }
        }
        return events
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
