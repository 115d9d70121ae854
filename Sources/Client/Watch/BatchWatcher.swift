import DarkroomAnswer
import DarkroomCore
import DarkroomSpool
import Foundation
import Glibc
import SystemPackage

/// Follows the progress of batches. It reads a progress file only when it was replaced: an event of inotify tells so at
/// once, and a look at the folder twice a second where there are no events.
package final class BatchWatcher {
    /// The number of batches that are watched with inotify; the others are only looked at.
    private static let watches = 128
    /// The seconds between two looks at the daemon itself: its report may list a thousand batches.
    private static let daemonInterval = 2.0

    /// The seconds that a progress file may be behind the status.
    private static let patience = 2.0

    /// Why `wait` has returned.
    package enum Waking: Sendable, Equatable {
        case timeOrChange, resized
        /// By SIGINT, SIGTERM or SIGHUP.
        case interrupted(CInt)
    }

    private let spool: SpoolFolder
    private let outbox: Directory
    private let ids: [String]
    private var stamps: [Stamp]
    /// The present progress, in the order of the IDs.
    package private(set) var batches: [BatchProgress]
    package private(set) var daemon: DaemonState
    private var nextLookAtDaemon: UInt64
    private let events: Events

    /// - Throws: `no-such-batch` if one of them does not exist.
    package init(_ ids: [String], in spool: SpoolFolder) throws(ClientError) {
        self.spool = spool
        self.ids = ids
        outbox = try spool.outbox()
        // Before the first look, so that no change is missed.
        events = Events(of: ids.prefix(Self.watches), in: outbox)
        stamps = []
        batches = []
        daemon = try DaemonState(of: spool)
        nextLookAtDaemon = Clock.nanoseconds + UInt64(Self.daemonInterval * 1e9)
        for (place, id) in ids.enumerated() {
            events.follow(place)
            stamps.append(Stamp(id, in: outbox))
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
            let stamp = Stamp(id, in: outbox)
            guard stamp != stamps[place] || stamp.isBehind else { continue }
            // The file may have been replaced again before it was followed.
            events.follow(place)
            stamps[place] = Stamp(id, in: outbox)
            if let batch = try spool.summary(of: id, patience: Self.patience) {
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
        let milliseconds = CInt((min(max(seconds, 0), 0.5) * 1000).rounded(.up))
        events.wait(milliseconds)
        if let signal = StopSignals.signal { return .interrupted(signal) }
        return StopSignals.takeResize() ? .resized : .timeOrChange
    }

    /// Tells the present files of a batch from later ones: each is replaced as a whole.
    private struct Stamp: Equatable {
        let progress: File?
        let status: File?

        init(_ id: String, in outbox: Directory) {
            progress = File("\(id)/progress.json", in: outbox)
            status = File("\(id)/status.json", in: outbox)
        }

        /// Whether the progress file is behind a status that is so new that nobody reads it yet.
        var isBehind: Bool {
            guard let progress, let status, progress.time < status.time else { return false }
            return Clock.wall - Double(status.seconds) < BatchWatcher.patience + 1
        }

        struct File: Equatable {
            let inode: UInt64
            let seconds: Int
            let nanoseconds: Int

            init?(_ name: FileName, in outbox: Directory) {
                guard let found = try? outbox.information(of: name) else { return nil }
                inode = UInt64(found.st_ino)
                seconds = found.st_mtim.tv_sec
                nanoseconds = found.st_mtim.tv_nsec
            }

            var time: (Int, Int) { (seconds, nanoseconds) }
        }
    }
}

/// Tells that the progress file of a batch was replaced. Where there are no events, it only waits.
///
/// It follows the files and not their folders: a folder has an event for each output.
private final class Events {
    private let inotify: Descriptor
    /// The paths of the files, by the places of their batches.
    private let paths: [String]

    init(of ids: ArraySlice<String>, in outbox: Directory) {
        // poll(2) ignores a negative number.
        inotify = Descriptor(owning: inotify_init1(CInt(IN_NONBLOCK) | CInt(IN_CLOEXEC)))
        paths = ids.map { "/proc/self/fd/\(outbox.number)/\($0)/\(BatchProgress.fileName.text)" }
    }

    /// Follows the present file until it is replaced.
    func follow(_ place: Int) {
        guard place < paths.count else { return }
        // A file that is replaced loses its last link. The kernel forgets it then.
        _ = inotify_add_watch(
            inotify.number, paths[place], UInt32(IN_ATTRIB) | UInt32(IN_DELETE_SELF))
    }

    func wait(_ milliseconds: CInt) {
        var entry = pollfd(fd: inotify.number, events: Int16(POLLIN), revents: 0)
        guard poll(&entry, 1, milliseconds) > 0 else { return }
        // An event says only that there is something to look at.
        withUnsafeTemporaryAllocation(byteCount: 16 << 10, alignment: 8) { buffer in
            while read(inotify.number, buffer.baseAddress, buffer.count) > 0 {}
        }
    }
}
