import DarkroomCore
import DarkroomFetch
import DarkroomManifest
import DarkroomPicture
import DarkroomSpool

extension LocalSources {
    /// Looks for the files of patterns, and counts the pages of files. One that cannot be opened counts as a picture with
    /// one page, which fails when its turn comes.
    ///
    /// - Parameter sent: the pictures that came with the manifest.
    package func finder(sent: SentPictures? = nil) -> SourceFinder {
        .live { pattern, limit in
            switch list(pattern, sent, limit) {
            case .sources(let files): .files(files)
            case .nothing(let reason): .nothing(reason)
            case .tooMany: .tooMany
            }
        } pages: { source, limit in
            pages(of: source, sent, limit) ?? .one
        }
    }

    private func pages(
        of source: ByteString, _ sent: SentPictures?, _ limit: TIFFPages.Limit
    ) -> TIFFPages.Count? {
        SourceReference(source).localPath.flatMap { pages(of: $0, sent: sent, limit) }
    }

    private func list(_ pattern: SourcePattern, _ sent: SentPictures?, _ limit: Int) -> Listing {
        if pattern.includesFolders, case .here(let folder)? = sent {
            return list(allOf: folder, limit: limit, matches: pattern.matches)
        }
        return list(pattern.folder, sent: sent, limit: limit, matches: pattern.matches)
    }

    /// For the daemon's intake.
    package var finderMaker: Examination.FinderMaker {
        { folder, owner in
            finder(sent: folder.map { .here(SentPictures.Folder($0, owner: owner)) })
        }
    }

    /// The same for a process that may not know all files: what it does not find may exist nevertheless. All files of
    /// a submitted folder are known.
    package func guessingFinder(sent: SentPictures? = nil) -> SourceFinder {
        .live { pattern, limit in
            switch list(pattern, sent, limit) {
            case .sources(let files): .files(files)
            case .nothing(let reason) where pattern.includesFolders: .nothing(reason)
            case .nothing: .unknown
            case .tooMany: .tooMany
            }
        } pages: { source, limit in
            pages(of: source, sent, limit)
        }
    }

    /// The same for submitted folders.
    package var guessingFinderMaker: Examination.FinderMaker {
        { folder, owner in
            guessingFinder(sent: folder.map { .here(SentPictures.Folder($0, owner: owner)) })
        }
    }
}
