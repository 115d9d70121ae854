import DarkroomAnswer
import DarkroomCore
import DarkroomManifest

/// Where the only batch of a run has its results, if its spool is not a daemon's.
///
/// A run (`DarkroomRun`) has no outbox: its results go to a folder that its user names. Two things that lie together in
/// `outbox/ID` are two folders here, because the processes that share the work on one manifest share the outputs, but
/// each has an answer of its own.
package struct RunFolders: Sendable {
    /// The folder in which a run keeps all that the next one needs, in the folder of its results.
    package static let spoolName = ".darkroom"

    /// The pictures.
    package let outputs: Directory
    /// `status.json`, `progress.json` and the copy of the manifest.
    package let answer: Directory
    /// nil if the run works on the whole manifest.
    package let part: Part?
    /// The outputs of former runs, which may be replaced.
    package let former = FormerOutputs()

    /// The part of a manifest that a run works on.
    package struct Part: Sendable {
        package let shard: Shard
        /// The folder with the copy of the manifest that all shards share.
        package let shared: Directory

        package init(shard: Shard, shared: Directory) {
            self.shard = shard
            self.shared = shared
        }
    }

    package init(outputs: Directory, answer: Directory, part: Part? = nil) {
        self.outputs = outputs
        self.answer = answer
        self.part = part
    }
}
