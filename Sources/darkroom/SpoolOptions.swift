import ArgumentParser
import DarkroomClient
import Foundation

/// The options of every command that uses a spool.
struct SpoolOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Use the spool in this root folder. If not given: DARKROOM_SPOOL, then the key spool of \(SpoolLocation.configuration), then \(SpoolLocation.standard).",
            valueName: "dir"), completion: .directory)
    var spool: String?

    func open() throws(ClientError) -> SpoolFolder {
        try SpoolFolder(path: SpoolLocation.path(option: spool))
    }

    /// The same with an absolute path, for programs with another current folder.
    func openAbsolute() throws(ClientError) -> SpoolFolder {
        try SpoolFolder(
            path: URL(filePath: SpoolLocation.path(option: spool)).standardizedFileURL.path)
    }
}
