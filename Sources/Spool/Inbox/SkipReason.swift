import DarkroomAnswer
import DarkroomCore
import DarkroomManifest

/// Why the intake does not take a file from the inbox: the reason in `inbox.json`, and the text for people.
package enum SkipReason: Equatable, Sendable {
    /// Its name means "not yet". Submitters use such names by the rules, so it is not logged.
    case notYet(Mark)
    /// Its name is that of what machines put beside the files of users (`IgnoredNames`).
    case ofMachine
    /// Its name has neither the extension of a manifest nor of a control file.
    case otherEnding
    /// Its name has the extension of a picture.
    case picture
    /// A symbolic link, a FIFO, or another special file, or a folder with the name of a control file.
    case notAFile
    /// A folder that cannot be taken as a manifest with its pictures.
    case folder(FolderJob.Problem)
    /// It cannot be read, or cannot be moved out of the inbox.
    case unreadable(FileError)
    /// A control file that cannot take effect yet.
    case waits(Wait)
    /// A control file that has taken effect and cannot be removed.
    case hasActed(FileError)

    /// The part of a name that means "not yet".
    package enum Mark: String, Sendable, CaseIterable {
        case dot = "."
        case temporary = ".tmp"
        case part = ".part"
        case backup = "~"

        package static let endings = allCases.filter { $0 != .dot }
    }

    /// What a control file waits for.
    package enum Wait: Equatable, Sendable {
        /// A batch with this ID that takes no commands yet.
        case batch(String)
        /// A batch that is ending.
        case end
        /// A manifest with this name that is being taken.
        case taking(FileName)
        /// The writer of a manifest with this name, which is still open.
        case writer(FileName)
        /// A manifest with this name that may be incomplete.
        case settling(FileName)
        case unreadable(FileError)
        /// The spool, which cannot be written to now.
        case spool
        /// Room for another waiting batch.
        case room
        /// Other batches that the same user reopens or removes.
        case others
        /// A check of the files has failed.
        case look(FileError)
    }

    package var reason: InboxReason {
        switch self {
        case .notYet, .ofMachine, .otherEnding: .ignoredName
        case .picture: .picture
        case .notAFile: .notAFile
        case .folder: .folder
        case .unreadable: .unreadable
        case .waits: .waitsForItsManifest
        case .hasActed: .hasActed
        }
    }

    package var isTold: Bool {
        switch self {
        case .notYet, .ofMachine: false
        default: true
        }
    }

    /// As the end of a sentence about the file.
    package var words: String {
        switch self {
        case .notYet(.dot): "its name begins with a dot"
        case .notYet(let mark): "its name ends in \(mark.rawValue)"
        case .ofMachine: "files and folders with its name are made by storage boxes and desktops"
        case .otherEnding:
            "it does not end in \(ManifestFormat.fileExtensionList("or")), nor in "
                + Words.list(ControlCommand.allCases.map { ".\($0.rawValue)" }, "or")
        case .picture:
            "it is a picture, but the inbox is for manifests; name the picture in a manifest, by its URL or, beneath "
                + "one of sources.roots, by its path"
        case .notAFile: "it is not a regular file"
        case .folder(let problem): problem.words
        case .unreadable(let error): error.message
        case .waits(let wait): wait.words
        case .hasActed(let error): "it has taken effect; \(error.message)"
        }
    }
}

extension FolderJob.Problem {
    /// As the end of a sentence about the folder.
    package var words: String {
        let names = Words.list(
            ManifestFormat.allCases.flatMap(\.fileExtensions).map { "\(FolderJob.stem).\($0)" },
            "or")
        return switch self {
        case .noManifest:
            "it is a folder without a manifest, \(names), and without a recipe; add a manifest, or an empty file with the "
                + "name of a recipe, NAME.\(PictureFolder.recipeExtension), or set inbox.recipe in the configuration"
        case .severalManifests: "it is a folder with several manifests; one of \(names) is taken"
        case .severalRecipes:
            "it is a folder without a manifest and with several files NAME.\(PictureFolder.recipeExtension); leave one of "
                + "them"
        case .noPictures(let reason): "it is a folder without a manifest, and \(reason)"
        case .foreignRecipe:
            "it is a folder whose file NAME.\(PictureFolder.recipeExtension) belongs to another user"
        case .foreignManifest: "it is a folder whose manifest belongs to another user"
        case .tooManyFiles:
            "it is a folder with more than \(FolderJob.mostFiles) files; submit several folders"
        case .closed:
            "it is a folder that darkroomd may not read, enter and write (or it has the sticky bit), so it could not "
                + "remove it afterwards"
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
        case .others: "other batches are being reopened or removed"
        case .look(let error): error.message
        }
    }
}
