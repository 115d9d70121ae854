import DarkroomCore
import DarkroomManifest

extension SubmittedFile {
    /// Its manifest, or its pictures. It is unusable if it is neither a regular file with the name of a manifest nor
    /// such a folder.
    ///
    /// - Parameter recipe: of a folder that names none.
    func content(recipe: String?) throws(FileError) -> FolderJob.Finding {
        guard let information = try information() else { return .unusable(.noManifest) }
        if information.isFolder {
            return try FolderJob.find(in: Directory(place, in: folder), recipe: recipe)
        }
        guard information.isRegularFile, let format = ManifestFormat(fileName: name.text) else {
            return .unusable(.noManifest)
        }
        return .found(try OpenManifest(place, format, in: folder))
    }
}
