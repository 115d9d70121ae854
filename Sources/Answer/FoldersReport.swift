import DarkroomCore

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

/// The content of `spool/folders.json`: the hot folders, and their files that are not taken.
///
/// `etc/folders.schema.json` describes it for other programs; a test compares the two.
package struct FoldersReport: VersionedFile, Codable, Sendable, Equatable {
    /// The maximum number of listed files of a folder.
    package static let capacity = 100

    package var schemaVersion = 1
    /// When this was written, in UTC, in the format of RFC 3339.
    package var written: String
    package var folders: [Folder] = []

    package enum State: String, Codable, Sendable, CaseIterable {
        /// Its pictures are taken as inotify reports them.
        case watching
        /// It is listed every `inbox.poll`, because inotify does not work there.
        case polling
        /// It does not exist or cannot be read. Nothing is concluded from that.
        case missing
        /// It contains the spool, or is part of it, or somebody else could put another folder in its place.
        case refused
        /// The ledger cannot be used, so no picture may be taken.
        case failed
    }

    package struct Folder: Codable, Sendable, Equatable {
        package var path: String
        package var recipe: String
        package var originals: HotFolder.Originals
        /// The folder into which originals move; absent if they do not, or if they move into the answers.
        package var originalsTo: String?
        package var state: State
        /// Why, or what else is to be said; absent if nothing is.
        package var message: String?
        /// When this state began.
        package var since: String
        package var remembered: Int
        /// The number of its batches that have not ended.
        package var batches: Int
        package var counts: [String: Int]
        /// At most `capacity` of them.
        package var files: [File]

        package init(
            path: String, recipe: String, originals: HotFolder.Originals,
            originalsTo: String? = nil, state: State,
            message: String?, since: String, remembered: Int, batches: Int,
            counts: [String: Int], files: [File]
        ) {
            self.path = path
            self.recipe = recipe
            self.originals = originals
            self.originalsTo = originalsTo
            self.state = state
            self.message = message
            self.since = since
            self.remembered = remembered
            self.batches = batches
            self.counts = counts
            self.files = files
        }

        /// The number of files on which somebody must act.
        package var lasting: Int {
            HotFileReason.allCases.filter(\.isLasting).map { counts[$0.rawValue] ?? 0 }.reduce(0, +)
        }
    }

    package struct File: Codable, Sendable, Equatable {
        /// The path from the hot folder. Bytes that are not UTF-8 and control characters are shown as U+FFFD.
        package var path: String
        package var reason: HotFileReason
        package var message: String
        package var help: String

        package init(path: RelativePath, reason: HotFileReason, message: String) {
            self.path = path.text
            self.reason = reason
            self.message = message
            help = reason.help
        }
    }

    package init(written: String, folders: [Folder] = []) {
        self.written = written
        self.folders = folders
    }
}

extension FoldersReport: Report {
    package static let fileName: FileName = "folders.json"

    package var listCount: Int { folders.map(\.files.count).reduce(0, +) }

    package func shortened(to count: Int) -> Self {
        var short = self
        var left = count
        for index in short.folders.indices {
            short.folders[index].files = Array(short.folders[index].files.prefix(left))
            left -= short.folders[index].files.count
        }
        return short
    }
}
