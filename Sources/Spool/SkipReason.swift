import DarkroomCore
import DarkroomManifest

/// Why the intake leaves a file in the inbox: what `inbox.json` calls it, and the words for people.
package enum SkipReason: Equatable, Sendable {
    /// Its name says "not yet", which is the rule for submitters and nothing to talk about.
    case notYet(Mark)
    /// Its name ends like neither a manifest's nor a control file's.
    case otherEnding
    /// Its name ends like a picture's.
    case picture
    /// A folder, a link, a fifo.
    case notAFile
    /// It cannot be read, or not be moved out of the inbox.
    case unreadable(FileError)
    /// A control file that cannot act yet.
    case waits(Wait)
    /// A control file that has acted and that cannot be removed.
    case hasActed(FileError)

    /// What in a name says "not yet".
    package enum Mark: String, Sendable, CaseIterable {
        case dot = "."
        case temporary = ".tmp"
        case part = ".part"
        case backup = "~"

        static let endings = allCases.filter { $0 != .dot }
    }

    /// What a control file waits for.
    package enum Wait: Equatable, Sendable {
        /// A batch of this ID that takes no commands yet.
        case batch(String)
        /// A batch that is just ending.
        case end
        /// A manifest of this name that is just being taken.
        case taking(FileName)
        /// The writer of a manifest of this name, who has it open.
        case writer(FileName)
        /// A manifest of this name that may not be complete.
        case settling(FileName)
        case unreadable(FileError)
        /// The spool, which takes no manifest now.
        case spool
        /// Room among the batches that wait.
        case room
        /// Other batches, which the same user has done again.
        case others
        /// A look at what there is failed.
        case look(FileError)
    }

    package var reason: InboxReason {
        switch self {
        case .notYet, .otherEnding: .ignoredName
        case .picture: .picture
        case .notAFile: .notAFile
        case .unreadable: .unreadable
        case .waits: .waitsForItsManifest
        case .hasActed: .hasActed
        }
    }

    /// Whether the journal says it.
    package var isTold: Bool {
        if case .notYet = self { return false }
        return true
    }

    /// As the end of a sentence about the file.
    package var words: String {
        switch self {
        case .notYet(.dot): "its name begins with a dot"
        case .notYet(let mark): "its name ends in \(mark.rawValue)"
        case .otherEnding:
            "it does not end in \(ManifestFormat.fileExtensionList("or")), nor in "
                + Words.list(ControlCommand.allCases.map { ".\($0.rawValue)" }, "or")
        case .picture:
            "it is a picture, but the inbox is for manifests; name the picture in a manifest, by its URL or, beneath "
                + "one of sources.roots, by its path"
        case .notAFile: "it is not a regular file"
        case .unreadable(let error): error.message
        case .waits(let wait): wait.words
        case .hasActed(let error): "it has taken effect; \(error.message)"
        }
    }
}

extension SkipReason.Wait {
    fileprivate var words: String {
        switch self {
        case .batch(let id): "the batch \(id) could not be resumed or answered yet"
        case .end: "the batch is ending"
        case .taking(let manifest): "its manifest \(manifest.text) is being taken"
        case .writer(let manifest): "the writer of its manifest \(manifest.text) has not closed it"
        case .settling(let manifest): "its manifest \(manifest.text) may not be complete yet"
        case .unreadable(let error): "its manifest cannot be read: \(error.message)"
        case .spool: "no manifest can be taken, because the spool cannot be written to"
        case .room:
            "batches.maxWaiting is reached, by the waiting batches or by the held batches of its owner"
        case .others: "other batches are being reopened"
        case .look(let error): error.message
        }
    }
}
