import DarkroomCore
import DarkroomManifest
import Foundation

/// Why a file lies in the inbox and is not taken. In the order in which files are listed: what waits for
/// somebody comes before what passes by itself.
package enum InboxReason: String, Codable, Sendable, CaseIterable {
    /// It cannot be read, or not be moved out of the inbox.
    case unreadable
    /// A folder, a link, a fifo.
    case notAFile = "not-a-file"
    /// Its name is that of a picture, where manifests are expected.
    case picture
    /// A control file whose manifest is in the inbox and not taken either.
    case waitsForItsManifest = "waits-for-its-manifest"
    /// A control file that has acted and that darkroomd may not remove.
    case hasActed = "has-acted"
    /// Nothing is claimed, for the spool did not take what had to be written.
    case disk
    /// As many batches wait as may.
    case overLimit = "over-limit"
    /// It may not be complete.
    case settling
    /// Its writer has not closed it.
    case beingWritten = "being-written"
    /// Its name says that it is not meant for Darkroom, or not yet.
    case ignoredName = "ignored-name"
    /// It has not been looked at yet.
    case queued

    /// What somebody who wants the file to be taken can do.
    package var help: String {
        switch self {
        case .unreadable:
            "Give the file the group of the inbox, and let the group read it: chgrp GROUP FILE, then chmod g+r FILE. "
                + "Or copy it into tmp and rename the copy into the inbox. The permissions of the inbox must allow "
                + "darkroomd to move the file. It is checked again every 10 seconds."
        case .notAFile: "Put a regular file in its place."
        case .picture:
            "Write a manifest that names the picture, and put the manifest into the inbox. Name the picture by its URL, "
                + "or copy it into one of sources.roots and name it by its path."
        case .waitsForItsManifest:
            "It takes effect as soon as its manifest is taken. Remove it if you do not want this."
        case .hasActed:
            "Remove it: the permissions of the inbox do not allow darkroomd to, and it would take effect again after a restart."
        case .disk:
            "Free some space, or correct the problem that the journal names. darkroomd tries again automatically."
        case .overLimit:
            "It is taken when a waiting batch begins; batches.maxWaiting limits how many may wait."
        case .settling:
            "It is checked when it has not changed for inbox.settle. A file that is renamed into the inbox is taken at "
                + "once."
        case .beingWritten: "It is checked when its writer closes it."
        case .ignoredName:
            "If it is a manifest, rename it when it is complete: to a name that ends in "
                + "\(ManifestFormat.fileExtensionList("or")) and does not begin with a dot. If it is a folder, move the manifests in it into the inbox."
        case .queued: "It is checked when it is its turn."
        }
    }
}

/// The content of `spool/inbox.json`: what is in the inbox and why it is not taken.
///
/// `etc/inbox.schema.json` describes the same for other programs; a test holds the two together.
package struct InboxReport: Codable, Sendable, Equatable {
    /// The most files listed.
    package static let capacity = 1000

    /// The version of this format. A reader refuses a number it does not know.
    package var schemaVersion = 1
    /// When this was written, and when the whole inbox was looked through last. In UTC, as RFC 3339.
    package var written: String
    package var scanned: String?
    /// Whether manifests are taken; if not, `why` says what keeps them.
    package var claiming = true
    package var why: Obstacle?
    /// Whether the queues are suspended. Manifests are taken nevertheless.
    package var paused = false
    package var watch = Watch.inotify
    /// All the files there are, by their reasons; each reason has a number.
    package var counts: [String: Int] = [:]
    /// At most `capacity` of them.
    package var files: [File] = []

    /// How changes become known.
    package enum Watch: String, Codable, Sendable, CaseIterable { case inotify, polling }

    /// What keeps every manifest from being taken.
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
        /// The bytes of the name in hexadecimal, where `name` does not show them all.
        package var nameBytes: String?
        package var reason: InboxReason
        package var message: String
        /// Since when it has been seen to be there for this reason.
        package var since: String
        /// What can be done about it.
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

    package init(written: String) {
        self.written = written
    }

    /// Files that are not taken.
    package var total: Int { counts.values.reduce(0, +) }

    /// Whether a reader of the other report would learn something from this one. Where inotify does not work,
    /// a look through the inbox is no news by itself, for there is one every few seconds.
    package func isNews(after other: InboxReport) -> Bool {
        var same = self
        same.written = other.written
        if watch == .polling, scanned != nil, other.scanned != nil { same.scanned = other.scanned }
        // Two spellings of é are two names.
        return same != other
            || same.files.map { ByteString($0.name) } != other.files.map { ByteString($0.name) }
    }

    /// JSON indented for people, keys in alphabetical order, one newline at the end.
    package func encoded() -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        do {
            return Array(try encoder.encode(self)) + [UInt8(ascii: "\n")]
        } catch {
            // Strings, integers and enumerations always encode.
            preconditionFailure("an inbox report cannot be encoded: \(error)")
        }
    }
}
