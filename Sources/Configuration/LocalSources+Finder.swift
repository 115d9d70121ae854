import DarkroomFetch
import DarkroomManifest
import DarkroomSpool

extension LocalSources {
    /// Looks for the files of patterns.
    ///
    /// - Parameter sent: the pictures that came with the manifest.
    package func finder(sent: SentPictures? = nil) -> SourceFinder {
        .live { pattern, limit in
            let listing = list(pattern.folder, sent: sent, limit: limit, matches: pattern.matches)
            return switch listing {
            case .sources(let files): .files(files)
            case .nothing(let reason): .nothing(reason)
            case .tooMany: .tooMany
            }
        }
    }

    /// For the daemon's intake.
    package var finderMaker: Examination.FinderMaker {
        { folder, owner in
            finder(sent: folder.map { .here(SentPictures.Folder($0, owner: owner)) })
        }
    }

    /// The same for a process that may not know all files: what it does not find may exist nevertheless.
    package var guessingFinder: SourceFinder {
        .live { pattern, limit in
            let listing = list(pattern.folder, limit: limit, matches: pattern.matches)
            return switch listing {
            case .sources(let files): .files(files)
            case .nothing: .unknown
            case .tooMany: .tooMany
            }
        }
    }
}
