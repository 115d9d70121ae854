import DarkroomAnswer
import DarkroomCore
import DarkroomSpool

/// The files of the inbox that may not be complete, with the time since which each has not changed.
struct SettlingFiles {
    private struct Entry {
        let identity: FileIdentity
        /// In nanoseconds.
        let since: UInt64
    }

    private var entries: [FileName: Entry] = [:]

    var isEmpty: Bool { entries.isEmpty }

    /// In the order of their bytes.
    var names: [FileName] {
        entries.keys.sorted { $0.bytes.lexicographicallyPrecedes($1.bytes) }
    }

    /// The time of the longest unchanged one of these files, in nanoseconds.
    func first(where isIncluded: (FileName) -> Bool) -> UInt64? {
        entries.filter { isIncluded($0.key) }.values.map(\.since).min()
    }

    func contains(_ name: FileName) -> Bool { entries[name] != nil }

    /// The time begins again if the name has another file now, or the file has changed.
    mutating func note(_ name: FileName, _ identity: FileIdentity, now: UInt64) {
        if entries[name]?.identity == identity { return }
        entries[name] = Entry(identity: identity, since: now)
    }

    mutating func forget(_ name: FileName) { entries[name] = nil }

    /// Whether the file has not changed since it was noted, and this was at least `seconds` ago.
    func hasSettled(
        _ name: FileName, _ identity: FileIdentity, for seconds: Double, now: UInt64
    ) -> Bool {
        guard let entry = entries[name], entry.identity == identity else { return false }
        return Double(now - entry.since) >= seconds * 1e9
    }
}
