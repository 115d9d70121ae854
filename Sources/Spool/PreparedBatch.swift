import DarkroomManifest

/// A manifest ready to be worked on: what it asks for and what has been done of it already.
package struct PreparedBatch: Sendable {
    package let folders: BatchFolders
    package let manifest: Manifest
    /// With the images that have ended as the journal has them, the others new.
    package var status: Status
    package var control: ControlState
    /// Of the images that a process died with.
    package let crashes: [Int: Crashes]
    /// Those of them that the last process died with, as far as that is news.
    package let suspects: Set<Int>
    /// The images whose pixels lie in `active/ID` for others, see `HandOvers`.
    package let handOvers: Set<Int>

    package init(
        folders: BatchFolders, manifest: Manifest, status: Status, control: ControlState = .free,
        crashes: [Int: Crashes] = [:], suspects: Set<Int> = [], handOvers: Set<Int> = []
    ) {
        self.folders = folders
        self.manifest = manifest
        self.status = status
        self.control = control
        self.crashes = crashes
        self.suspects = suspects
        self.handOvers = handOvers
    }
}
