import CDarkroomShims
import DarkroomAnswer
import DarkroomCore
import Foundation

/// Whether a daemon works on a spool.
///
/// The daemon holds a lock on the spool as long as it lives (`LockHolder`). On another machine (a share) only the time
/// of the last report tells anything.
package enum DaemonPresence: Sendable, Equatable {
    case working
    case absent
    /// Nobody on this machine holds the lock, but another machine may.
    case unknown

    package init(in spool: SpoolFolder, queue: QueueReport?, now: Date = Date()) {
        let holder = LockHolder(of: spool, reportedBy: queue?.daemon.process)
        if case .process = holder {
            self = .working
            return
        }
        guard let queue, queue.state != .stopped, let written = Clock.date(queue.written),
            now.timeIntervalSince(written) < 3 * QueueReport.heartbeat
        else {
            self = .absent
            return
        }
        self = holder == .unknown || Self.isOnNetwork(spool) ? .unknown : .absent
    }

    private static func isOnNetwork(_ spool: SpoolFolder) -> Bool {
        // NFS, CIFS, SMB2, FUSE, Ceph; from statfs(2).
        let remote: Set<Int64> = [0x6969, 0xFF53_4D42, 0xFE53_4D42, 0x6573_5546, 0x00C3_6400]
        return remote.contains(darkroom_filesystem_type(spool.root.number))
    }
}
