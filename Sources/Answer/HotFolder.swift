import DarkroomManifest

/// A folder whose pictures the daemon takes as they appear (`folders` in the configuration).
package struct HotFolder: Sendable, Equatable {
    /// What becomes of a picture in the folder when its outputs are in the outbox.
    package enum Originals: String, Codable, Sendable, CaseIterable {
        /// It stays. The ledger remembers it, so that it is not taken again.
        case keep
        /// It moves into the answer.
        case move
        case remove
    }

    /// Absolute.
    package var path: String
    package var recipe: String
    package var originals = Originals.keep
    /// Where its outputs are placed too; nil for nowhere, or where the recipe says.
    package var delivery: Delivery?
    /// The maximum number of pictures of a batch.
    package var batch = 200
    /// A picture waits at most this long for others of its batch, in seconds.
    package var within = 2.0

    package init(path: String, recipe: String) {
        self.path = path
        self.recipe = recipe
    }
}
