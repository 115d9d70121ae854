import DarkroomAnswer
import DarkroomCore
import DarkroomSpool
import Glibc

extension SpoolFolder {
    /// What the daemon wrote last about the files in the inbox; nil if it has not written yet.
    package func inboxReport() -> InboxReport? { try? root.decode(InboxReport.self, "inbox.json") }

    /// What the daemon wrote last about hot folders; nil if it never had one.
    package func foldersReport() -> FoldersReport? {
        guard
            let bytes = try? root.read(FoldersReport.fileName, upTo: Directory.mostReportBytes)
        else { return nil }
        return FoldersReport(decoding: bytes)
    }

    /// Why the daemon can write nothing; nil if it can, or has not said so. A full disk may keep it from saying so.
    package func diskObstacle() -> String? {
        guard let daemon = try? DaemonState(of: self), daemon.isPresent else { return nil }
        if daemon.name == .waiting { return daemon.obstacle }
        var information = statvfs()
        guard fstatvfs(root.number, &information) == 0, information.f_blocks > 0,
            information.f_bavail == 0
        else { return nil }
        return "the disk of the spool is full"
    }

    /// Why a file in the inbox is not taken, in plain sentences, as far as the daemon has said.
    package func reasonForWaiting(of name: FileName) -> String {
        let report = inboxReport()
        let queue = try? queue()
        if DaemonPresence(in: self, queue: queue) == .absent {
            return "no daemon works on the spool \(path)"
        }
        if let file = report?.files.first(where: { ByteString($0.name) == ByteString(name.text) }) {
            return "\(file.message). \(file.help)"
        }
        if let why = report?.why, report?.claiming == false { return why.message }
        if report?.paused == true { return "the daemon is paused" }
        return "the daemon has not said why; its journal may tell (journalctl -u darkroomd)"
    }
}
