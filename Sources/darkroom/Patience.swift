import DarkroomAnswer
import DarkroomClient
import DarkroomCore
import DarkroomSpool

/// Says once why a file in the inbox is not taken, if it takes long.
final class Patience {
    private let folder: SpoolFolder
    private let name: FileName
    private var end: Double?

    /// In seconds.
    private static let time = 10.0

    init(_ folder: SpoolFolder, _ name: FileName) {
        self.folder = folder
        self.name = name
        end = Clock.uptime + Self.time
    }

    func remind() {
        guard let end, Clock.uptime > end else { return }
        self.end = nil
        let isThere = (try? folder.inbox().exists(name)) ?? true
        let reason =
            isThere
            ? "is still in the inbox: \(folder.reasonForWaiting(of: name))"
            : "was taken, but there is no answer yet"
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
