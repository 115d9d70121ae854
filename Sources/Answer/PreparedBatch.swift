import DarkroomManifest

/// A manifest that is ready for work: its images, and the results so far.
package struct PreparedBatch: Sendable {
    package let id: String
    package let manifest: Manifest
    /// Images that have ended have their status from the journal; the others are new.
    package var status: Status
    package var control: ControlState
    /// The crashes of images that were being filtered when a process ended.
    package let crashes: [Int: Crashes]
    /// The images among them that the last process was filtering, if this has not been reported.
    package let suspects: Set<Int>
    /// The images whose pixels for others are in `active/ID`, see `HandOverTable`.
    package let handOvers: Set<Int>
    /// The former results of images that are made again.
    package var formers: [Int: FormerResult]
    /// The results of images that are to be delivered.
    package let undelivered: [Int: UndeliveredImage]

    package init(
        id: String, manifest: Manifest, status: Status, control: ControlState = .free,
        crashes: [Int: Crashes] = [:], suspects: Set<Int> = [], handOvers: Set<Int> = [],
        formers: [Int: FormerResult] = [:], undelivered: [Int: UndeliveredImage] = [:]
    ) {
        self.id = id
        self.manifest = manifest
        self.status = status
        self.control = control
        self.crashes = crashes
        self.suspects = suspects
        self.handOvers = handOvers
        self.formers = formers
        self.undelivered = undelivered
    }
}
