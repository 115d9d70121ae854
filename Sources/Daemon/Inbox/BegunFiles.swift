import DarkroomCore

/// Files that have appeared in the inbox otherwise than by a rename, and that no one has closed since.
///
/// One that was created there will be closed by its writer. One that was linked there will not, and by the time that
/// the event is read its number of links may be that of a created one: its other name has been removed, or it never had
/// one (O_TMPFILE). What tells them apart is a write, which inotify tells under the name only where the file was opened
/// by it. (Leases, which the kernel refuses while a writer has the file open, are for its owner alone.)
///
/// | state     | it is there because                                  | leaves it when                               |
/// |-----------|------------------------------------------------------|----------------------------------------------|
/// | appeared  | it was created or linked                             | it is written to, or for a moment is not     |
/// | written   | its writer has it open                               | it is closed, or a rename takes its name     |
///
/// What turns out to be linked is looked at as any file that was not renamed into the inbox: `inbox.settle` says when
/// it counts as complete.
struct BegunFiles {
    /// Names remembered; what is above is looked at when it is closed, or by a scan.
    private static let capacity = 16_384
    /// In nanoseconds: a file may be seen to have content a moment before the event of that is there.
    static let moment: UInt64 = 250_000_000

    /// Since when each has been there, in nanoseconds; nil where it has been written to.
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

    /// Forgets those that are not there any more.
    mutating func keep(_ present: Set<FileName>) {
        if !entries.isEmpty { entries = entries.filter { present.contains($0.key) } }
    }

    /// When it will be known of the first one whether it is written to, in nanoseconds.
    var due: UInt64? { entries.values.compactMap { $0 }.min().map { $0 + Self.moment } }

    /// Those that have been there for a moment without a write, in the order of their bytes. One without content stays:
    /// whoever has created it has yet to write.
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
