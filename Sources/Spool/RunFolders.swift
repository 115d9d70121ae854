import DarkroomCore

/// Where the only batch of a run has its results, if its spool is not a daemon's.
///
/// A run (`DarkroomRun`) has no outbox: its results go to a folder that its user names. Two things that lie together in
/// `outbox/ID` are two folders here, because the processes that share the work on one manifest share the outputs, but
/// each has an answer of its own.
package struct RunFolders: Sendable {
    /// The pictures.
    package let outputs: Directory
    /// `status.json`, `progress.json` and the copy of the manifest.
    package let answer: Directory

    package init(outputs: Directory, answer: Directory) {
        self.outputs = outputs
        self.answer = answer
    }
}
