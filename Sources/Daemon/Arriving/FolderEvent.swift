import DarkroomCore
import Glibc

/// What inotify reports about a watched folder. Events are hints. Only the folder shows the truth.
package enum FolderEvent<Name: Hashable & Sendable>: Sendable, Equatable {
    /// Renamed into the folder, or to another name: by the rule for submitters it is complete.
    case moved(Name)
    case closed(Name)
    /// Something was created: a file, which is still empty and will be closed, or a link or a folder, which is never
    /// closed.
    case made(Name)
    /// A process that opened the file by this name wrote to it.
    case written(Name)
    /// A file's permissions changed.
    case changed(Name)
    /// Removed, or renamed.
    case gone(Name)
    /// A folder has appeared, whose content no event reports yet.
    case folder(Name)
    /// Events were lost. Only a scan shows the present content.
    case overflow
    /// The folder itself was removed, renamed or unmounted. The watch does not work any more.
    case lost
    /// Another folder of the spool was removed or renamed.
    case stationLost(FileName)

    /// The event of a record about an entry of a folder.
    init(_ mask: UInt32, _ name: Name) {
        func has(_ bit: Int32) -> Bool { mask & UInt32(bit) != 0 }
        self =
            if has(IN_MOVED_TO) {
                .moved(name)
            } else if has(IN_CREATE) {
                .made(name)
            } else if has(IN_MODIFY) {
                .written(name)
            } else if has(IN_CLOSE_WRITE) {
                .closed(name)
            } else {
                has(IN_ATTRIB) ? .changed(name) : .gone(name)
            }
    }

    /// The name of the file concerned.
    var name: Name? {
        switch self {
        case .moved(let name), .closed(let name), .made(let name), .written(let name),
            .changed(let name), .gone(let name), .folder(let name):
            name
        case .overflow, .lost, .stationLost: nil
        }
    }

    /// Whether it says only that a file is still being written.
    var isOfAWriter: Bool {
        if case .written = self { true } else { false }
    }
}

extension Inotify {
    /// What a record about the watched folder itself has if this folder is gone.
    static let goneMask =
        UInt32(IN_DELETE_SELF) | UInt32(IN_MOVE_SELF) | UInt32(IN_UNMOUNT) | UInt32(IN_IGNORED)

    /// All pending events. Equal consecutive events become one.
    func events<Name>(
        _ event: (_ watch: CInt, _ mask: UInt32, _ name: FileName) -> FolderEvent<Name>?
    ) -> [FolderEvent<Name>] {
        var events: [FolderEvent<Name>] = []
        read { watch, mask, name in
            let event = Self.event(mask) { event(watch, mask, name) }
            if let event, event != events.last { events.append(event) }
        }
        return events
    }

    /// The event of a record, which may be about no folder.
    static func event<Name>(
        _ mask: UInt32, ofFolder event: () -> FolderEvent<Name>?
    ) -> FolderEvent<Name>? {
        mask & UInt32(IN_Q_OVERFLOW) != 0 ? .overflow : event()
    }
}

extension ArrivingFiles {
    /// Remembers what an event says about the writer of a file. What was made may be a link or a folder, so the caller
    /// decides about that.
    mutating func note(_ event: FolderEvent<Name>, now: UInt64) {
        switch event {
        case .moved(let name), .gone(let name): move(name, .gone, now: now)
        case .closed(let name): move(name, .closed, now: now)
        case .written(let name): move(name, .written, now: now)
        // The events of closings may be among the lost ones.
        case .overflow: eventsLost()
        case .made, .changed, .folder, .lost, .stationLost: break
        }
    }
}
