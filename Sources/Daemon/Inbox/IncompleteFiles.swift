import DarkroomCore

/// Files that have appeared in the inbox without a rename, and that no process has closed since.
///
/// If a file was created there, its writer will close it. If it was linked there, no process will. When the event is
/// read, a linked file may have only one link, as a created one: its other name has been removed, or it never had one
/// (O_TMPFILE). A write tells them apart: inotify reports it under the name only if the file was opened by that name.
/// (Leases, which the kernel refuses while a writer has the file open, can be taken only by the file's owner.)
///
/// | state    | why it is there          | until                                                |
/// |----------|--------------------------|------------------------------------------------------|
/// | appeared | it was created or linked | it is written to, or is not written to for a moment  |
/// | written  | its writer has it open   | it is closed, or another file is renamed to its name |
///
/// A file that turns out to be linked is treated as any file that was not renamed into the inbox: `inbox.settle`
/// defines when it counts as complete.
struct IncompleteFiles {
    /// The maximum number of names. Other files are examined when they are closed, or by a scan.
    private static let capacity = 16_384
    /// In nanoseconds. The content of a file may be visible a moment before the event of its write.
    static let moment: UInt64 = 250_000_000

    /// When each file appeared, in nanoseconds; nil if it has been written to.
    private var entries: [FileName: UInt64?] = [:]

    var names: Set<FileName> { Set(entries.keys) }

    func contains(_ name: FileName) -> Bool { entries[name] != nil }

    /// Whether its writer is known to have it open.
    func isWritten(_ name: FileName) -> Bool { entries[name] == .some(nil) }

    mutating func appeared(_ name: FileName, now: UInt64) {
        if entries.count < Self.capacity { entries[name] = .some(now) }
    }

    mutating func written(_ name: FileName) {
        if entries[name] != nil { entries[name] = .some(nil) }
    }

    mutating func remove(_ name: FileName) { entries[name] = nil }

    mutating func removeAll() { entries = [:] }

    /// Forgets files that do not exist any more.
    mutating func keep(_ present: Set<FileName>) {
        if !entries.isEmpty { entries = entries.filter { present.contains($0.key) } }
    }

    /// When it will be known for the first file whether it is written to, in nanoseconds.
    var due: UInt64? { entries.values.compactMap { $0 }.min().map { $0 + Self.moment } }

    /// Removes and returns the files that have existed for a moment without a write, in the order of their bytes. An
    /// empty file stays: its creator has not written to it yet.
    mutating func takeLinked(
        now: UInt64, hasContent: (FileName) -> Bool
    ) -> [FileName] {
        var linked: [FileName] = []
        for case (let name, let since?) in entries where now >= since + Self.moment {
            if hasContent(name) {
                entries[name] = nil
                linked.append(name)
            } else {
                entries[name] = .some(nil)
            }
        }
        return linked.sorted { $0.bytes.lexicographicallyPrecedes($1.bytes) }
    }
}
