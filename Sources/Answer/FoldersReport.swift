import DarkroomCore

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
