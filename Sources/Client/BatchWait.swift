import DarkroomAnswer
import DarkroomCore
import Glibc

/// Waits for something in the spool, with events where there are any, and looks at least once a second.
package enum BatchWait {
    /// The longest time between two looks, in seconds.
    private static let interval = 1.0
    /// A batch in work causes an event for each output. So the first one is looked at immediately, and the pauses grow
    /// from one millisecond to this while others follow, in seconds.
    private static let longestPause = 0.05

    /// Calls `look` until it returns something.
    ///
    /// - Parameters:
    ///   - folders: where something changes.
    ///   - deadline: by `Clock.uptime`; nil for none.
    /// - Returns: nil if the time is over.
    package static func until<Value>(
        _ deadline: Double?, watching folders: [Directory],
        look: () throws(ClientError) -> Value?
    ) throws(ClientError) -> Value? {
        let events = FileEvents.shared
        let watches = folders.map { events.follow(namesIn: $0) }
        defer { for watch in watches { events.end(watch) } }
        var pause = 0.0
        while true {
            if let value = try look() { return value }
            let begin = Clock.uptime
            let left = deadline.map { $0 - begin } ?? interval
            if left <= 0 { return nil }
            events.wait(seconds: min(left, interval))
            let isQuiet = Clock.uptime - begin > longestPause
            pause = isQuiet ? 0 : min(max(0.001, pause * 2), longestPause)
            usleep(UInt32(pause * 1_000_000))
        }
    }

    /// Waits until a batch has ended and returns how; nil if the time is over.
    ///
    /// - Parameter retries: the number of retries that the answer must have at least.
    package static func end(
        of id: String, in spool: SpoolFolder, retries: Int = 0, until deadline: Double? = nil
    ) throws(ClientError) -> BatchView.Batch? {
        let view = BatchView(id, in: spool)
        guard let folder = try view.folder() else { throw spool.noSuchBatch(id) }
        return try until(deadline, watching: [folder]) {
            () throws(ClientError) -> BatchView.Batch? in
            guard let batch = try view.read() else { throw spool.noSuchBatch(id) }
            return batch.state.isFinal && batch.retries >= retries ? batch : nil
        }
    }
}
