import DarkroomBoard
import DarkroomCore
import DarkroomFetch
import Synchronization

/// The bytes of small local sources, between the step that finds a source and the filter that reads it. So such a file is
/// opened and read once.
///
/// The filter reads what was found, for a few seconds. After that it opens the file again: an image that has to wait,
/// for example during a pause, is made from the file that is there when it is filtered. Only bytes are kept, no file is
/// held open: the file system of a source can be unmounted while the daemon is paused.
///
/// If there is no room, nothing is lost: the filter opens the file.
final class FoundContents: Sendable {
    /// How long a content is used, in nanoseconds.
    static let lifetime: UInt64 = 10_000_000_000
    /// The maximum of all contents together, in bytes.
    static let mostBytes = 4 << 20
    /// A small content counts as this many bytes, because it also needs memory for its name.
    static let leastCount = 4 << 10

    private struct Content {
        let file: FoundFile
        /// The rules by which the file was found.
        let rules: LocalSources
        let until: UInt64

        var count: Int { max(file.bytes.count, FoundContents.leastCount) }
    }

    private struct State {
        var contents: [BatchKey: [SourceReference: Content]] = [:]
        /// The sum of the counts.
        var bytes = 0

        mutating func take(_ source: SourceReference, of batch: BatchKey) -> Content? {
            guard let content = contents[batch]?.removeValue(forKey: source) else { return nil }
            bytes -= content.count
            if contents[batch]?.isEmpty == true { contents[batch] = nil }
            return content
        }

        mutating func drop(_ batch: BatchKey) {
            guard let dropped = contents.removeValue(forKey: batch) else { return }
            bytes -= dropped.values.reduce(0) { $0 + $1.count }
        }

        /// Drops those that nobody has taken in time: their images were cancelled, or had to wait.
        mutating func dropOld(now: UInt64) {
            for (batch, sources) in contents {
                for (source, content) in sources where content.until < now {
                    _ = take(source, of: batch)
                }
            }
        }
    }

    private let state = Mutex(State())
    private let time: TimeSource

    init(time: TimeSource = .system) { self.time = time }

    /// The sum of what is kept counts as this many bytes.
    var bytes: Int { state.withLock { $0.bytes } }

    /// Keeps the content of a source if there is room.
    ///
    /// - Parameter rules: the rules by which it was found.
    func keep(
        _ file: FoundFile, of source: SourceReference, _ batch: BatchKey, by rules: LocalSources
    ) {
        let now = time.now
        let content = Content(file: file, rules: rules, until: now.saturatingAdd(Self.lifetime))
        state.withLock { state in
            _ = state.take(source, of: batch)
            if state.bytes + content.count > Self.mostBytes { state.dropOld(now: now) }
            guard state.bytes + content.count <= Self.mostBytes else { return }
            state.contents[batch, default: [:]][source] = content
            state.bytes += content.count
        }
    }

    /// Gives away the content of a source; nil if there is none, if it is old, or if the rules have changed since it was
    /// found.
    func take(_ source: SourceReference, of batch: BatchKey, by rules: LocalSources) -> FoundFile? {
        guard let content = state.withLock({ $0.take(source, of: batch) }),
            content.until >= time.now, content.rules == rules
        else { return nil }
        return content.file
    }

    /// A batch has ended, or leaves the memory.
    func drop(_ batch: BatchKey) { state.withLock { $0.drop(batch) } }
}

/// The bytes of a small local source that was read when it was found.
struct FoundFile: Sendable {
    let bytes: [UInt8]
    /// Of the file before it was read; nil if nobody wants to know it.
    let identity: SourceIdentity?
}
