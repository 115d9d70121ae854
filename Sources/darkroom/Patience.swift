import DarkroomAnswer
import DarkroomClient
import DarkroomCore

/// Says once why a file in the inbox is not taken: at once if the daemon waits for its disk, otherwise if it takes long.
final class Patience {
    private let folder: SpoolFolder
    private let name: FileName
    private var end: Double?
    /// When the daemon was first seen to wait for its disk; nil if it does not.
    private var stuck: (since: Double, reason: String)?

    /// When to look at the daemon again: each output of a batch in work is an event, and its report may be long.
    private var nextLook = -Double.infinity

    /// In seconds.
    private static let time = 10.0
    private static let interval = 1.0

    init(_ folder: SpoolFolder, _ name: FileName) {
        self.folder = folder
        self.name = name
        end = Clock.uptime + Self.time
    }

    /// Why the daemon cannot take anything, if it has waited for its disk for ten seconds while this command looked.
    var obstacle: String? {
        stuck.flatMap { Clock.uptime - $0.since > Self.time ? $0.reason : nil }
    }

    func remind() {
        if Clock.uptime >= nextLook {
            nextLook = Clock.uptime + Self.interval
            stuck = folder.diskObstacle().map { (stuck?.since ?? Clock.uptime, $0) }
        }
        guard let end, stuck != nil || Clock.uptime > end else { return }
        self.end = nil
        let isThere = (try? folder.inbox().exists(name)) ?? true
        let reason =
            isThere
            ? "is still in the inbox: \(stuck?.reason ?? folder.reasonForWaiting(of: name))"
            : "was taken, but there is no answer yet\(stuck.map { ": \($0.reason)" } ?? "")"
        Console.complain("\(name.text) \(reason)")
        Console.complain("Waiting further; Ctrl-C ends only this command.")
    }
}

extension SpoolFolder {
    /// Throws if certainly no daemon works on the spool.
    func requireDaemon(_ queue: QueueReport?, remedy: String) throws(ClientError) {
        guard DaemonPresence(in: self, queue: queue) == .absent else { return }
        throw ClientError(
            .noDaemon, code: "no-daemon", "no daemon works on the spool \(path)", remedy: remedy)
    }
}
