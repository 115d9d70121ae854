import DarkroomAnswer
import DarkroomCore

/// The files of a watched folder that may not be complete, and complete ones that wait for others. The intake has one
/// for the inbox, each `HotFolderStation` one for its hot folder. `move(_:_:now:)` is the only function that changes
/// what a file is.
///
/// | stage      | why a file is there                             | until                                            |
/// |------------|-------------------------------------------------|--------------------------------------------------|
/// | –          | nothing is known, or it was taken or refused    | an event or a look                               |
/// | `appeared` | it was created or linked                        | it is written to, or is not for `moment`         |
/// | `written`  | its writer has it open                          | it is closed, or no event came for the `silence` |
/// | `settling` | it may be incomplete                            | it has not changed for `inbox.settle`            |
/// | `ready`    | it is complete                                  | its batch is full, or has waited long enough     |
///
/// Where each event leads (an empty cell: the file stays as it is):
///
/// | event                  | –          | `appeared` | `written`         | `settling`   | `ready`     |
/// |------------------------|------------|------------|-------------------|--------------|-------------|
/// | `made`                 | `appeared` | `appeared` | `appeared`        | `appeared`   | `appeared`  |
/// | `written`              | `written`* | `written`  | `written`         | `written`*   | `written`*  |
/// | `closed`               |            | –          | –                 |              |             |
/// | `waited`, with content |            | –          |                   |              |             |
/// | `waited`, empty        |            | `written`  |                   |              |             |
/// | `seen`, whole          | `ready`    | `ready`    | `ready`, if silent | `ready`     |             |
/// | `seen`, not whole      | `settling` | `settling` | `settling`, if silent | `settling` |            |
/// | `judged`               |            |            |                   | –            | –           |
/// | `gone`                 |            | –          | –                 | –            | –           |
/// | `givenBack`            | `ready`    | `ready`    | `ready`           | `ready`      | `ready`     |
///
/// (\*) Only if the events of all writers count (`Writers.all`).
///
/// A created file will be closed by its writer, a linked one by nobody. When the event is read, a linked file may have
/// only one link, as a created one: its other name has been removed, or it never had one (O_TMPFILE). A write tells
/// them apart: inotify reports it under the name only if the file was opened by that name. (Leases, which the kernel
/// refuses while a writer has the file open, can be taken only by the file's owner.)
///
/// A value without files, threads or clocks: moments come in nanoseconds.
struct ArrivingFiles<Name: Hashable & Comparable & Sendable> {
    enum Stage: CaseIterable { case appeared, written, settling, ready }

    enum Event {
        case made, written, closed
        /// It has not been written to for `moment`. The creator of an empty file has not written to it yet.
        case waited(hasContent: Bool)
        /// - Parameter isWhole: whether it was renamed into the folder, or has not changed for long enough.
        case seen(FileIdentity, isWhole: Bool)
        /// It was examined, and need not be so again without an event. Its closing will be one.
        case judged
        /// It does not exist any more, was taken, or is not for Darkroom.
        case gone
        /// Its batch could not be made.
        case givenBack
    }

    /// Whose writes have a file wait for its closing.
    enum Writers: Equatable {
        /// Those of files that have appeared. A look decides whether one has been written for too long.
        case ofNewFiles
        /// Those of all files. A file without an event for the silence, in nanoseconds, is observed like others: not
        /// every change has a closing, and a writer may have been stopped.
        case all(silence: UInt64)
    }

    private struct Entry {
        let stage: Stage
        /// When it came into this stage or, if it is written to, when this was last reported.
        let since: UInt64
        /// What has not changed since, if it is settling.
        var identity: FileIdentity?
    }

    /// The content of a file may be visible a moment before the event of its write.
    static var moment: UInt64 { 250_000_000 }

    let writers: Writers
    /// How many files may be open, and how many may settle or be ready. Others stay in the folder: their closings or
    /// listings report them.
    let openCapacity: Int
    let capacity: Int

    private var entries: [Name: Entry] = [:]
    /// How many of them are open.
    private var openCount = 0
    /// Whether files were left in the folder since the last listing.
    private(set) var hasLeft = false

    init(writers: Writers, openCapacity: Int, capacity: Int = .max) {
        self.writers = writers
        self.openCapacity = openCapacity
        self.capacity = capacity
    }

    func stage(of name: Name) -> Stage? { entries[name]?.stage }

    /// Whether a closing of the file is expected.
    func isOpen(_ name: Name) -> Bool { stage(of: name)?.isOpen == true }

    var stages: [Name: Stage] { entries.mapValues(\.stage) }

    // MARK: Moves

    /// An event or a look has told something about a file.
    mutating func move(_ name: Name, _ event: Event, now: UInt64) {
        let before = entries[name]
        let after = next(before, event, now)
        let wasOpen = before?.stage.isOpen == true
        let count = entries.count - openCount
        switch after?.stage {
        case .appeared, .written:
            guard wasOpen || openCount < openCapacity else { return }
        case .settling, .ready:
            if case .givenBack = event { break }
            if before == nil || wasOpen, count >= capacity {
                hasLeft = true
                return put(name, nil)
            }
        case nil: break
        }
        put(name, after)
    }

    private mutating func put(_ name: Name, _ entry: Entry?) {
        let before = entries[name]
        entries[name] = entry
        openCount += (entry?.stage.isOpen == true ? 1 : 0) - (before?.stage.isOpen == true ? 1 : 0)
    }

    private func next(_ entry: Entry?, _ event: Event, _ now: UInt64) -> Entry? {
        switch (event, entry?.stage) {
        case (.made, _): Entry(stage: .appeared, since: now)
        case (.written, _) where writers == .ofNewFiles && entry?.stage.isOpen != true: entry
        case (.written, _): Entry(stage: .written, since: now)
        case (.closed, .appeared), (.closed, .written): nil
        case (.waited(hasContent: true), .appeared): nil
        case (.waited(hasContent: false), .appeared): Entry(stage: .written, since: now)
        case (.seen, .ready): entry
        case (.seen, .written) where !isSilent(entry, now): entry
        case (.seen(_, isWhole: true), _): Entry(stage: .ready, since: now)
        case (.seen(let identity, isWhole: false), _):
            entry?.identity == identity
                ? entry : Entry(stage: .settling, since: now, identity: identity)
        case (.judged, .settling), (.judged, .ready), (.gone, _): nil
        case (.givenBack, _): Entry(stage: .ready, since: now)
        case (.closed, _), (.waited, _), (.judged, _): entry
        }
    }

    private func isSilent(_ entry: Entry?, _ now: UInt64) -> Bool {
        guard let entry, case .all(let silence) = writers else { return true }
        return now >= entry.since + silence
    }

    /// Events were lost, perhaps those of closings.
    mutating func eventsLost() {
        for (name, entry) in entries where entry.stage.isOpen { put(name, nil) }
    }

    /// Forgets files that a listing has not found.
    mutating func keep(_ present: Set<Name>) {
        for name in entries.keys where !present.contains(name) { put(name, nil) }
    }

    mutating func removeAll() {
        self = ArrivingFiles(writers: writers, openCapacity: openCapacity, capacity: capacity)
    }

    /// Called before a listing.
    mutating func forgetLeft() { hasLeft = false }

    // MARK: Times

    /// Whether a file is unchanged since it began to settle, and this was at least `settle` ago.
    func hasSettled(_ name: Name, _ identity: FileIdentity, settle: UInt64, now: UInt64) -> Bool {
        guard let entry = entries[name], entry.identity == identity else { return false }
        return now >= entry.since.saturatingAdd(settle)
    }

    /// When a file must be looked at; nil if only an event or its batch decides about it.
    private func due(_ entry: Entry, _ settle: UInt64) -> UInt64? {
        switch (entry.stage, writers) {
        case (.appeared, _): entry.since + Self.moment
        case (.written, .all(let silence)): entry.since + silence
        case (.settling, _): entry.since.saturatingAdd(settle)
        case (.written, .ofNewFiles), (.ready, _): nil
        }
    }

    /// When the first file must be looked at.
    func nextLook(settle: UInt64, unless isExcluded: (Name) -> Bool = { _ in false }) -> UInt64? {
        var first: UInt64?
        for (name, entry) in entries {
            guard let due = due(entry, settle), due < first ?? .max, !isExcluded(name) else {
                continue
            }
            first = due
        }
        return first
    }

    func toBeLookedAt(settle: UInt64, now: UInt64) -> [Name] {
        entries.filter { due($0.value, settle).map { $0 <= now } ?? false }.map(\.key).sorted()
    }

    // MARK: Batches

    /// When the next batch must be made; nil if no file is ready.
    func nextBatch(most: Int, within: UInt64, now: UInt64) -> UInt64? {
        let ready = entries.values.filter { $0.stage == .ready }.map(\.since)
        return ready.count >= most ? now : ready.min().map { $0.saturatingAdd(within) }
    }

    /// The files of the next batch; nil if it waits for more. Those that wait longest are taken first: otherwise a name
    /// at the end would wait as long as others come.
    mutating func takeBatch(most: Int, within: UInt64, now: UInt64) -> [Name]? {
        guard let due = nextBatch(most: most, within: within, now: now), due <= now else {
            return nil
        }
        let ready = entries.filter { $0.value.stage == .ready }.sorted { a, b in
            a.value.since == b.value.since ? a.key < b.key : a.value.since < b.value.since
        }
        let names = ready.prefix(most).map(\.key)
        for name in names { put(name, nil) }
        // Files that came together have neighbouring names.
        return names.sorted()
    }
}

extension ArrivingFiles.Stage {
    fileprivate var isOpen: Bool { self == .appeared || self == .written }
}
