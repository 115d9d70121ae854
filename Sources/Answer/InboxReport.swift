import DarkroomCore
import DarkroomManifest
import Foundation

/// Why a file in the inbox is not taken. The cases are in the order of the list: those that need an action come before
/// those that pass.
package enum InboxReason: String, Codable, Sendable, CaseIterable {
    /// The file cannot be read, or cannot be moved out of the inbox.
    case unreadable
    /// A symbolic link, a FIFO, or another special file.
    case notAFile = "not-a-file"
    /// A folder without a manifest, with several, or that darkroomd may not use.
    case folder
    /// The file has the name of a picture.
    case picture
    /// A control file whose manifest is not taken yet.
    case waitsForItsManifest = "waits-for-its-manifest"
    /// A control file that has taken effect but that darkroomd cannot remove.
    case hasActed = "has-acted"
    /// No manifest is taken because the spool cannot be written to.
    case disk
    /// The limit of waiting or held batches is reached.
    case overLimit = "over-limit"
    /// The file may be incomplete.
    case settling
    /// The writer of the file has not closed it.
    case beingWritten = "being-written"
    /// The name means that the file is not for Darkroom, or not yet.
    case ignoredName = "ignored-name"
    /// The file has not been examined yet.
    case queued
}

/// The content of `spool/inbox.json`: the files in the inbox that are not taken, and why.
///
/// `etc/inbox.schema.json` describes it for other programs; a test compares the two.
package struct InboxReport: Codable, Sendable, Equatable {
    package static let capacity = 1000

    /// The version of this format.
    package var schemaVersion = 1
    /// When this was written, and when the whole inbox was last scanned. In UTC, in the format of RFC 3339.
    package var written: String
    package var scanned: String?
    /// Whether manifests are taken; if not, `why` has the reason.
    package var claiming = true
    package var why: Obstacle?
    /// Whether the queues are suspended. Manifests are still taken.
    package var paused = false
    package var watch = Watch.inotify
    package var counts: [String: Int] = [:]
    /// At most `capacity` of them.
    package var files: [File] = []

    /// How changes of the inbox are detected.
    package enum Watch: String, Codable, Sendable, CaseIterable { case inotify, polling }

    package struct Obstacle: Codable, Sendable, Equatable {
        /// `disk`, `over-limit`, `stopping` or `stopped`.
        package var code: String
        package var message: String

        package init(code: String, message: String) {
            self.code = code
            self.message = message
        }
    }

    package struct File: Codable, Sendable, Equatable {
        /// Bytes that are not UTF-8 and control characters are shown as U+FFFD.
        package var name: String
        /// The bytes of the name in hexadecimal, if `name` does not show all of them.
        package var nameBytes: String?
        package var reason: InboxReason
        package var message: String
        /// When the file was first seen in the inbox for this reason.
        package var since: String
        package var help: String

        package init(
            name: String, nameBytes: String? = nil, reason: InboxReason, message: String,
            since: String, help: String
        ) {
            self.name = name
            self.nameBytes = nameBytes
            self.reason = reason
            self.message = message
            self.since = since
            self.help = help
        }
    }

    package init(written: String) { self.written = written }

    /// The number of files that are not taken.
    package var total: Int { counts.values.reduce(0, +) }

    /// Whether this report has anything new compared with the other one. Without inotify, another scan alone is not
    /// new, because there is one every few seconds.
    package func isNews(after other: InboxReport) -> Bool {
        var same = self
        same.written = other.written
        if watch == .polling, scanned != nil, other.scanned != nil { same.scanned = other.scanned }
        // Two encodings of é are two names.
        return same != other
            || same.files.map { ByteString($0.name) } != other.files.map { ByteString($0.name) }
    }
}

extension InboxReport: Report {
    package static let fileName: FileName = "inbox.json"

    package var listCount: Int { files.count }

    package func shortened(to count: Int) -> Self {
        var short = self
        short.files = Array(files.prefix(count))
        return short
    }
}
