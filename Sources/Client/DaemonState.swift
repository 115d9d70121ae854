import DarkroomAnswer
import DarkroomCore
import Foundation

/// What the daemon of a spool does, as far as its files and its lock tell.
package struct DaemonState: Sendable, Equatable {
    /// The states of `QueueReport.State`, and one more.
    package enum Name: String, Codable, Sendable, CaseIterable {
        case running, paused, waiting, stopping, stopped
        /// It ended without a last report. No file says so: it is concluded.
        case killed
    }

    package var name: Name
    package var waiting: Status.Waiting?
    /// Its last report; nil if it wrote none, as older versions.
    package var queue: QueueReport?
    /// Whether it works on another machine, or that cannot be known.
    package var isElsewhere = false
    /// Whether it stands for a `darkroom run`, which works on one batch.
    package var isOfRun = false

    /// Whether a daemon will take a manifest and do the work, now or later.
    package var isPresent: Bool { name != .stopped && name != .killed }

    package init(name: Name, waiting: Status.Waiting? = nil, queue: QueueReport? = nil) {
        self.name = name
        self.waiting = waiting
        self.queue = queue
    }

    package init(of spool: SpoolFolder, now: Date = Date()) throws(ClientError) {
        let queue = try spool.queue()
        let presence = DaemonPresence(in: spool, queue: queue, now: now)
        self.init(presence, queue: queue, inbox: spool.inboxReport())
    }

    init(_ presence: DaemonPresence, queue: QueueReport?, inbox: InboxReport?) {
        self.queue = queue
        isElsewhere = presence == .unknown
        name = .running
        guard presence != .absent else {
            name = queue == nil || queue?.state == .stopped ? .stopped : .killed
            // A daemon without this report wrote its last words into the other one.
            if queue == nil, let inbox, inbox.why?.code != "stopped" { name = .killed }
            return
        }
        // A report of the daemon before this one says "stopped" until the first one of this daemon.
        if let queue, queue.state != .stopped {
            name = Name(rawValue: queue.state.rawValue) ?? .running
            waiting = queue.waiting
        } else if queue == nil, let inbox {
            name = Self.name(of: inbox)
        }
    }

    private static func name(of inbox: InboxReport) -> Name {
        switch inbox.why?.code {
        case "stopping": .stopping
        case "disk": .waiting
        default: inbox.paused ? .paused : .running
        }
    }
}

extension DaemonState {
    /// The `obstacle` if nobody works on the batches at all; nil if a daemon is running.
    package var absence: String? { isPresent ? nil : obstacle }

    /// Why unfinished batches make no progress, as a sentence without its full stop; nil if the daemon works.
    package var obstacle: String? {
        switch name {
        case .running: nil
        case .paused: "the daemon is paused"
        case .waiting:
            waiting.map { "the daemon waits: \($0.message.visible)" } ?? "the daemon waits"
        case .stopping: "the daemon is stopping"
        case .stopped where isOfRun:
            "no darkroom run works on it; the same command as before continues it"
        case .stopped: "no daemon is running"
        case .killed: "the daemon was killed and has not been started again"
        }
    }
}
