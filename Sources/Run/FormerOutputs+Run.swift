import DarkroomAnswer
import DarkroomCore
import DarkroomFetch
import DarkroomSpool

/// What runs and merges do with the list of former outputs.
extension FormerOutputs {
    /// Adds what the list in a folder has.
    func require(in folder: Directory) throws(RunError) {
        let isRead = try runError(of: read(in: folder))
        if !isRead { throw .unreadable(folder.path(of: Self.fileName)) }
    }

    /// Takes files from the list that are not there any more, or that something else has now.
    ///
    /// - Parameter removesFolders: whether the folders of templates are removed that are empty: a kill may have come between
    ///   a file and its folders.
    func settle(
        _ files: [ByteString], in outputs: Directory, removesFolders: Bool
    ) throws(RunError) {
        for file in files {
            if removesFolders {
                try runError(of: outputs.removeEmptyFolders(ofOutput: file.string))
            }
            remove(file)
        }
    }

    /// Removes files from the folder, and takes them from the list. A file that somebody has put there meanwhile stays.
    ///
    /// - Returns: how many were removed.
    func prune(_ files: [ByteString], in outputs: Directory) throws(RunError) -> Int {
        var count = 0
        for file in files {
            let isRemoved = try runError(of: removeFile(file.string, in: outputs))
            if isRemoved { count += 1 }
            remove(file)
        }
        return count
    }

    /// Removes a file if it is one of these, and the folders of templates that are empty then.
    private func removeFile(_ file: String, in outputs: Directory) throws(FileError) -> Bool {
        guard try has(file, in: outputs) else { return false }
        try outputs.remove(output: file)
        FaultPoint.formerRemoved.pass()
        try outputs.removeEmptyFolders(ofOutput: file)
        return true
    }
}

extension FormerOutputs.Entry {
    /// The output of an image as its status has it, with its local source.
    ///
    /// - Parameter isGone: whether the source of the image is gone.
    init(_ output: ImageStatus.Output, of image: ImageStatus, isGone: Bool = false) {
        self = Self(
            file: ByteString(output.file), bytes: output.bytes, sha256: output.sha256,
            image: ByteString(image.name), isGone: isGone
        ).with(source: image.source, image.sourceIdentity)
    }

    /// This entry with the source of its image, if this is a local one whose identity is known.
    func with(source: String?, _ identity: String?) -> Self {
        guard let source, !source.contains("://"), let identity,
            SourceIdentity.device(of: identity) != nil
        else { return self }
        var entry = self
        (entry.source, entry.sourceIdentity) = (ByteString(source), identity)
        return entry
    }
}
