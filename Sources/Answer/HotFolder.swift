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
        /// It moves into another folder, `place`: `{move: FOLDER}` in the configuration.
        case place

        /// Those that are a word of the configuration and of reports.
        package static let words: [Originals] = [.keep, .move, .remove]

        /// How reports call it. With `place`, they name the folder too.
        package var word: Originals { self == .place ? .move : self }
    }

    /// Absolute.
    package var path: String
    package var recipe: String
    package var originals = Originals.keep
    /// Where its outputs are placed too; nil for nowhere, or where the recipe says.
    package var delivery: Delivery?
    /// Where its originals move, with `originals: place`.
    package var place: Delivery?
    /// The maximum number of pictures of a batch.
    package var batch = 200
    /// A picture waits at most this long for others of its batch, in seconds.
    package var within = 2.0

    package init(path: String, recipe: String) {
        self.path = path
        self.recipe = recipe
    }
}
