/// What happens next to the original of a hot folder's picture (`OriginalsFolder` has the table).
package struct OriginalPromise: Codable, Sendable, Equatable {
    /// The name that it gets in the folder.
    package var name: String
    /// The absolute path with this name, for the status.
    package var path: String
    /// The inode of the folder: in another one, a missing copy proves nothing.
    package var folder: UInt64
    /// Whether a complete copy in the folder gets the name, and not the original itself.
    package var isCopy: Bool
    /// Whether the copy has the name, so that the original is removed next.
    package var isPlaced: Bool

    package init(
        name: String, path: String, folder: UInt64, isCopy: Bool, isPlaced: Bool = false
    ) {
        self.name = name
        self.path = path
        self.folder = folder
        self.isCopy = isCopy
        self.isPlaced = isPlaced
    }
}

/// What has become of the original of a picture.
package enum OriginalOutcome: Sendable, Equatable {
    case moved(to: String)
    /// It is in its folder no more, or is another file now.
    case isAnother
    /// It stays where it is, for this reason.
    case stays(String)
}
