import DarkroomAnswer
import DarkroomCore
import DarkroomFetch
import DarkroomManifest
import DarkroomSpool
import Glibc

/// A folder with pictures before it is submitted, and what a daemon would say about it (`FolderJob`).
package struct FolderForecast {
    /// For messages: the path of its manifest or, without one, of the folder.
    package let shown: String
    package let outcome: Result<Manifest, ManifestRejection>
    package let pictures: SentPictures

    /// Whether the folder has a manifest or a recipe, so that the inbox would look into it. Otherwise it only has pictures.
    package static func isJob(_ path: String, _ rules: ManifestRules) throws(ClientError) -> Bool {
        let folder = try asClientError(Directory(path: path))
        let finding = try asClientError(FolderJob.find(in: folder, recipe: rules.recipes.ofFolders))
        if case .unusable(.noManifest) = finding { return false }
        return true
    }

    /// Reads the folder as the daemon does.
    ///
    /// - Parameter finders: looks for the pictures of the folder, and for the files of patterns.
    /// - Throws: also if the daemon would leave the folder in the inbox.
    package init(
        path: String, _ rules: ManifestRules, finders: @escaping Examination.FinderMaker
    ) throws(ClientError) {
        let name = FileName(path).text
        let examination = Examination(
            limits: rules.limits, defaultFilters: rules.defaultFilters, settle: 0,
            recipes: rules.recipes, sources: finders)
        let folder = try asClientError(Directory(path: path))
        pictures = .here(.init(folder, owner: try asClientError(folder.information()).st_uid))
        switch try asClientError(examination.look(at: folder)) {
        case .manifest(let manifest):
            shown = manifest.nameInFolder.map { "\(name)/\($0.text)" } ?? name
            outcome = manifest.reading.outcome
        case .unusable(let problem):
            throw ClientError(
                .rejected, code: InboxReason.folder.rawValue, "\(name): \(problem.words)")
        }
    }
}
