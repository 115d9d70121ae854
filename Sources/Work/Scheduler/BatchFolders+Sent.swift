import DarkroomCore
import DarkroomFetch
import DarkroomSpool

extension BatchFolders {
    /// The pictures that came with the manifest, for the sources of this batch and of no other; nil if none came.
    ///
    /// - Parameter isFolder: whether the manifest was submitted in a folder.
    func sentPictures(isFolder: Bool) throws(FileError) -> SentPictures? {
        guard isFolder else { return nil }
        return switch try pictures() {
        case .none: nil
        case .here(let folder, let owner): .here(.init(folder, owner: owner))
        case .gone: .gone
        }
    }

    /// Whether the status says which files the local sources are. A run looks at them when it is repeated.
    var notesIdentities: Bool { spool.run != nil }
}
