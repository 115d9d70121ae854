import DarkroomAnswer
import DarkroomCore
import DarkroomSpool

/// The pictures of a hot folder that are not taken yet. A value without files or queues.
///
/// | place      | why it is there                                     | until                                  |
/// |------------|-----------------------------------------------------|----------------------------------------|
/// | `writing`  | an event said that a process writes to it           | an event says that it was closed, or   |
/// |            |                                                     | no event came for `silence`            |
/// | `settling` | it may be incomplete                                | it has not changed for `inbox.settle`  |
/// | `ready`    | it is complete: renamed into the folder, or settled | its batch is full, or `within` is over |
/// | (folder)   | there is no room for its name                       | the next listing                       |
struct HotArrivals {
    /// The maximum number of names.
    static let capacity = 100_000

    /// How long a picture counts as being written after the last event, in nanoseconds. A program that writes a picture
    /// rarely rests for a minute. truncate(2) with a path has no event of a closing, and a writer that was stopped has
    /// none for long. The picture then has to settle, like one without events.
    static let silence: UInt64 = 60_000_000_000

    private struct Settling {
        let identity: FileIdentity
        let since: UInt64
    }

    /// With the time of the last event.
    private var writing: [RelativePath: UInt64] = [:]
    private var settling: [RelativePath: Settling] = [:]
    /// With the time since which each waits.
    private var ready: [RelativePath: UInt64] = [:]
    /// Whether names were left in the folder.
    private(set) var hasLeft = false

    var count: Int { settling.count + ready.count }

    /// The reason why a picture is not taken yet; nil if it is in none of the places.
    func reason(_ path: RelativePath) -> HotFileReason? {
        if writing[path] != nil { return .beingWritten }
        if settling[path] != nil { return .settling }
        return ready[path] != nil ? .queued : nil
    }

    var all: [RelativePath] { Array(Set(settling.keys).union(ready.keys).union(writing.keys)) }

    // MARK: Events

    mutating func begunToBeWritten(_ path: RelativePath, now: UInt64) {
        guard writing[path] != nil || writing.count < Self.capacity else { return }
        writing[path] = now
        settling[path] = nil
        ready[path] = nil
    }

    mutating func closed(_ path: RelativePath) { writing[path] = nil }

    mutating func forget(_ path: RelativePath) {
        writing[path] = nil
        settling[path] = nil
        ready[path] = nil
    }

    /// Events were lost, perhaps those of closings.
    mutating func forgetWriters() { writing = [:] }

    mutating func removeAll() { self = HotArrivals() }

    // MARK: Looks at a file

    /// A picture is in the folder in this state.
    ///
    /// - Parameters:
    ///   - isWhole: whether it was renamed into the folder, or its attributes show that it has not changed for long
    ///     enough.
    ///   - settle: in nanoseconds.
    mutating func seen(
        _ path: RelativePath, _ identity: FileIdentity, isWhole: Bool, settle: UInt64, now: UInt64
    ) {
        if ready[path] != nil { return }
        if let last = writing[path] {
            guard now >= last + Self.silence else { return }
            writing[path] = nil
        }
        if !isWhole {
            guard let before = settling[path], before.identity == identity else {
                guard count < Self.capacity else { return hasLeft = true }
                settling[path] = Settling(identity: identity, since: now)
                return
            }
            guard now >= before.since + settle else { return }
        }
        guard settling[path] != nil || count < Self.capacity else { return hasLeft = true }
        settling[path] = nil
        ready[path] = now
    }

    /// Called before a listing.
    mutating func forgetLeft() { hasLeft = false }

    /// The pictures that may have settled by now, and those whose writers are silent.
    func toBeLookedAt(settle: UInt64, now: UInt64) -> [RelativePath] {
        settling.filter { now >= $0.value.since + settle }.map(\.key)
            + writing.filter { now >= $0.value + Self.silence }.map(\.key)
    }

    // MARK: Batches

    /// The pictures of the next batch, in the order of their bytes; nil if it waits for more. Those that wait longest
    /// are taken first: otherwise a name at the end would wait as long as others come.
    mutating func takeDue(most: Int, within: UInt64, now: UInt64) -> [RelativePath]? {
        guard let oldest = ready.values.min(), ready.count >= most || now >= oldest + within
        else { return nil }
        func precedes(_ a: RelativePath, _ b: RelativePath) -> Bool {
            a.bytes.lexicographicallyPrecedes(b.bytes)
        }
        let first = ready.sorted { a, b in
            a.value == b.value ? precedes(a.key, b.key) : a.value < b.value
        }
        let paths = first.prefix(most).map(\.key)
        for path in paths { ready[path] = nil }
        // Pictures that came together have neighbouring names.
        return paths.sorted(by: precedes)
    }

    /// Gives back pictures that were not taken. They are due again at `moment`.
    mutating func giveBack(_ paths: some Sequence<RelativePath>, at moment: UInt64) {
        for path in paths { ready[path] = moment }
    }

    /// When something is due, in nanoseconds; nil if nothing is.
    func due(settle: UInt64, most: Int, within: UInt64, now: UInt64) -> UInt64? {
        let settled = settling.values.map { $0.since + settle }.min()
        let silent = writing.values.min().map { $0 + Self.silence }
        let oldest = ready.values.min().map { ready.count >= most ? now : $0 + within }
        return [settled, silent, oldest].compactMap(\.self).min()
    }
}
