import DarkroomAnswer
import DarkroomCore
import DarkroomSpool
import Foundation
import SystemPackage

/// Follows the progress of batches. It reads a progress file only when it was replaced: an event of inotify tells so at
/// once, and a look at the folder twice a second where there are no events.
package final class BatchWatcher {
    /// The number of batches that are watched with inotify; the others are only looked at.
    private static let watches = 128
    /// The seconds between two looks at the daemon itself: its report may list a thousand batches.
    private static let daemonInterval = 2.0

    package enum Waking: Sendable, Equatable {
        case timeOrChange, resized
        /// By SIGINT, SIGTERM or SIGHUP.
        case interrupted(CInt)
    }

    private let spool: SpoolFolder
    private let outbox: Directory
    private let ids: [String]
    private var stamps: [AnswerStamp?]
    /// The present progress, in the order of the IDs.
    package private(set) var batches: [BatchProgress]
    package private(set) var daemon: DaemonState
    private var nextLookAtDaemon: UInt64
    private let events = FileEvents()

    /// - Throws: `no-such-batch` if one of them does not exist.
    package init(_ ids: [String], in spool: SpoolFolder) throws(ClientError) {
        self.spool = spool
        self.ids = ids
        outbox = try spool.outbox()
        stamps = []
        batches = []
        daemon = try DaemonState(of: spool)
        nextLookAtDaemon = Clock.nanoseconds + UInt64(Self.daemonInterval * 1e9)
        for (place, id) in ids.enumerated() {
            // Before the first look, so that no change is missed.
            follow(place)
            stamps.append(stamp(of: id))
            guard let batch = try spool.summary(of: id) else { throw spool.noSuchBatch(id) }
            batches.append(batch)
        }
    }

    package var allHaveEnded: Bool { batches.allSatisfy(\.state.isFinal) }

    /// Reads what has changed.
    ///
    /// - Throws: `batch-removed` if someone has removed an unfinished batch.
    package func look() throws(ClientError) {
        for (place, id) in ids.enumerated() {
            let stamp = stamp(of: id)
            guard stamp != stamps[place] || stamp?.isBehind == true else { continue }
            // The file may have been replaced again before it was followed.
            follow(place)
            stamps[place] = self.stamp(of: id)
            if let batch = try spool.summary(of: id, patience: AnswerStamp.patience) {
                batches[place] = batch
            } else if !batches[place].state.isFinal {
                throw ClientError(
                    .missing, code: "batch-removed",
                    "The batch \(id.visible) was removed while it was being watched.")
            }
        }
        guard Clock.nanoseconds >= nextLookAtDaemon else { return }
        nextLookAtDaemon = Clock.nanoseconds + UInt64(Self.daemonInterval * 1e9)
        daemon = try DaemonState(of: spool)
    }

    /// Waits for a change, a signal, or this number of seconds, at most half of one.
    package func wait(atMost seconds: Double = 0.5) -> Waking {
        events.wait(seconds: min(seconds, 0.5))
        if let signal = StopSignals.signal { return .interrupted(signal) }
        return StopSignals.takeResize() ? .resized : .timeOrChange
    }

    /// nil if there is none, or none that can be seen.
    private func stamp(of id: String) -> AnswerStamp? {
        (try? AnswerStamp(of: FileName(id), in: outbox)) ?? nil
    }

    private func follow(_ place: Int) {
        guard place < Self.watches else { return }
        events.follow(BatchFile.progress, of: FileName(ids[place]), in: outbox)
    }
}
