import DarkroomCore
import DarkroomPicture

extension LocalSources {
    /// The number of pages of a file, which is opened by the same rules as a source.
    ///
    /// - Parameter sent: the pictures that came with the manifest; nil if it came without a folder.
    /// - Returns: nil if the file cannot be opened. Its image then fails with the cause, when its turn comes.
    package func pages(
        of path: String, sent: SentPictures? = nil, _ limit: TIFFPages.Limit
    ) -> TIFFPages.Count? {
        guard let file = try? open(path, sent: sent) else { return nil }
        return TIFFPages.count(in: file.descriptor.file, limit)
    }
}
