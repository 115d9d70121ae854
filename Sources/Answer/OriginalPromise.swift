/// What happens next to the original of a hot folder's picture (`OriginalsFolder` has the table).
package struct OriginalPromise: Codable, Sendable, Equatable {
    /// The name that it gets in the folder.
    package var name: String
    /// The absolute path with this name, for the status.
    package var path: String
    /// The folder (`Directory.mark`).
    package var folder: String
    /// The hidden name of the complete copy in the folder that gets the name; nil if the original itself gets it.
    package var copy: String?
    /// Whether the copy has the name, so that the original is removed next.
    package var isPlaced: Bool

    package init(
        name: String, path: String, folder: String, copy: String?, isPlaced: Bool = false
    ) {
        self.name = name
        self.path = path
        self.folder = folder
        self.copy = copy
        self.isPlaced = isPlaced
    }

    package var isCopy: Bool { copy != nil }
}

/// What has become of the original of a picture.
package enum OriginalOutcome: Sendable, Equatable {
    case moved(to: String)
    /// The journal says that it was moved there, but it is neither there nor in its folder.
    case isLost(to: String)
    /// It is not in its folder any more, or another file has its name.
    case isAnother
    /// It stays where it is, for this reason.
    case stays(String)
}
