import DarkroomCore
import DarkroomFetch
import DarkroomManifest
import DarkroomPicture
import DarkroomSpool

extension LocalSources {
    /// Looks for the files of patterns, and counts the pages of files. One that cannot be opened counts as a picture with
    /// one page, which fails when its turn comes.
    ///
    /// - Parameters:
    ///   - sent: the pictures that came with the manifest. All files of a submitted folder are known.
    ///   - guesses: whether this process may not know all files, so that what it does not find may exist nevertheless.
    package func finder(sent: SentPictures? = nil, guesses: Bool = false) -> SourceFinder {
        .live { pattern, limit in
            switch list(pattern, sent, limit) {
            case .sources(let files): .files(files)
            case .nothing where guesses && !pattern.includesFolders: .unknown
            case .nothing(let reason): .nothing(reason)
            case .tooMany: .tooMany
            }
        } pages: { source, limit in
            SourceReference(source).localPath.flatMap { pages(of: $0, sent: sent, limit) }
                ?? (guesses ? nil : TIFFPages.Count.one)
        }
    }

    private func list(_ pattern: SourcePattern, _ sent: SentPictures?, _ limit: Int) -> Listing {
        if pattern.includesFolders, case .here(let folder)? = sent {
            return list(allOf: folder, limit: limit, matches: pattern.matches)
        }
        return list(pattern.folder, sent: sent, limit: limit, matches: pattern.matches)
    }

    /// The finders of submitted folders.
    package func finderMaker(guesses: Bool = false) -> Examination.FinderMaker {
        { folder, owner in
            finder(
                sent: folder.map { .here(SentPictures.Folder($0, owner: owner)) }, guesses: guesses)
        }
    }
}
