import DarkroomAnswer
import DarkroomCore
import DarkroomSpool
import SystemPackage

/// A spool as its users see it: its folders and files, without its lock and without any right of the daemon.
package struct SpoolFolder: Sendable {
    package let root: Directory
    package let answers: Outbox
    package var path: String { root.path }

    /// - Throws: if there is no folder at the path, or no spool in it.
    package init(path: String) throws(ClientError) {
        do throws(FileError) {
            root = try Directory(path: path)
            guard try root.exists("outbox") else {
                throw FileError(.find, path, .noSuchFileOrDirectory, detail: "its outbox")
            }
        } catch {
            throw ClientError(
                error,
                remedy:
                    "Name the folder with --spool or DARKROOM_SPOOL. darkroomd creates it when it starts."
            )
        }
        answers = Outbox(of: root)
    }

    package func inbox() throws(ClientError) -> Directory {
        try asClientError(Directory("inbox", in: root))
    }

    package func outbox() throws(ClientError) -> Directory { try asClientError(answers.folder()) }

    /// What the daemon wrote last about itself; nil if no daemon has written yet.
    package func queue() throws(ClientError) -> QueueReport? {
        try asClientError(reading: root.decode(QueueReport.self, QueueReport.fileName))
    }
}
