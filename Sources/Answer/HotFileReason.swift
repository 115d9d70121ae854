/// Why a file of a hot folder is not taken. The cases are in the order of the list: those that need an action come
/// before those that pass.
package enum HotFileReason: String, Codable, Sendable, CaseIterable {
    /// It was taken, and its original could not be moved or removed.
    case originalKept = "original-kept"
    case unreadable
    /// Its name does not end like that of a picture.
    case notAPicture = "not-a-picture"
    /// A symbolic link, a FIFO, or another special file.
    case notAFile = "not-a-file"
    /// Larger than `downloads.maxBytes`.
    case tooLarge = "too-large"
    /// A folder on another file system, of the spool, or too deep.
    case folder
    case empty
    /// The writer of the file has not closed it.
    case beingWritten = "being-written"
    /// It may be incomplete.
    case settling
    /// It waits for the other pictures of its batch, or for earlier batches.
    case queued

    /// What a user can do to have the file taken.
    package var help: String {
        switch self {
        case .originalKept:
            "Let the user of darkroomd change the folder that contains it (and under systemd, bind the hot folder "
                + "writable), or remove the file. It is tried again every minute."
        case .unreadable:
            "Let the user of darkroomd read it, for example by the group of the folder. It is tried again every 10 "
                + "seconds."
        case .notAPicture: "Rename it if it is a picture. Any other file stays where it is."
        case .notAFile: "Put the picture itself in its place. Links are not followed."
        case .tooLarge: "Raise downloads.maxBytes."
        case .folder: "Watch it as a hot folder of its own, or move the pictures out of it."
        case .empty: "It is checked when it has content."
        case .beingWritten: "It is checked when its writer closes it."
        case .settling: "It is taken when it has not changed for inbox.settle."
        case .queued: "It is taken when its turn comes."
        }
    }

    /// Whether somebody must act.
    package var isLasting: Bool {
        switch self {
        case .originalKept, .unreadable, .notAPicture, .notAFile, .tooLarge, .folder: true
        case .empty, .beingWritten, .settling, .queued: false
        }
    }
}
