import DarkroomCore
import Dispatch
import Glibc

typealias FolderTreeEvent = FolderEvent<RelativePath>

/// An inotify watch on a folder and all folders beneath it.
///
/// inotify watches single folders. So each listing adds the folders that it finds, before it lists them, and then
/// drops the others (`endListing`). A folder that appears later is reported, and its listing adds it.
final class FolderTreeWatch {
    private static let mask =
        UInt32(IN_CLOSE_WRITE) | UInt32(IN_MOVED_TO) | UInt32(IN_MOVED_FROM) | UInt32(IN_CREATE)
        | UInt32(IN_DELETE) | UInt32(IN_ATTRIB) | UInt32(IN_MODIFY) | UInt32(IN_DELETE_SELF)
        | UInt32(IN_MOVE_SELF) | UInt32(IN_ONLYDIR)

    private let source: any DispatchSourceRead
    private let records: TreeRecords

    init(
        queue: DispatchQueue, handler: @escaping @Sendable ([FolderTreeEvent]) -> Void
    ) throws(FileError) {
        let inotify = try Inotify(for: "hot folder")
        let records = TreeRecords(inotify)
        self.records = records
        source = inotify.source(on: queue, read: { records.read() }, handler: handler)
    }

    deinit { source.cancel() }

    /// Watches an open folder. Call this on the queue, as everything here.
    func add(_ folder: Directory, at path: RelativePath) throws(FileError) {
        try records.add(folder, at: path, Self.mask)
    }

    /// Begins a listing of the whole tree, or ends it.
    func beginListing() { records.beginListing() }
    func endListing() { records.endListing() }
}

/// What inotify watches, and what its records say about the tree.
private final class TreeRecords: @unchecked Sendable {
    // @unchecked: the stored variables are used on the queue of the watch only.

    private let inotify: Inotify
    private var paths: [CInt: RelativePath] = [:]
    /// The watches that the present listing has not found yet.
    private var unseen: Set<CInt> = []

    init(_ inotify: Inotify) { self.inotify = inotify }

    func add(_ folder: Directory, at path: RelativePath, _ mask: UInt32) throws(FileError) {
        let watch = try inotify.add(folder, mask)
        paths[watch] = path
        unseen.remove(watch)
    }

    func beginListing() { unseen = Set(paths.keys) }

    func endListing() {
        for watch in unseen {
            inotify.remove(watch)
            paths[watch] = nil
        }
        unseen = []
    }

    func read() -> [FolderTreeEvent] { inotify.events(event) }

    private func event(_ watch: CInt, _ mask: UInt32, _ name: FileName) -> FolderTreeEvent? {
        guard let folder = paths[watch] else { return nil }
        if name.bytes.isEmpty {
            if mask & UInt32(IN_IGNORED) != 0 { paths[watch] = nil }
            return mask & Inotify.goneMask != 0 && folder == .root ? .lost : nil
        }
        let path = folder.appending(name)
        guard mask & UInt32(IN_ISDIR) != 0 else { return FolderTreeEvent(mask, path) }
        // After a change of its permissions, it may be possible to list it.
        let appears = UInt32(IN_CREATE) | UInt32(IN_MOVED_TO) | UInt32(IN_ATTRIB)
        return mask & appears != 0 ? .folder(path) : nil
    }
}
