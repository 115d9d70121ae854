import DarkroomAnswer
import DarkroomCore
import DarkroomManifest
import Glibc

/// A folder that was submitted with pictures and without a manifest (`FolderJob`), and the recipe for all of them.
///
/// The daemon writes the manifest: all pictures of the folder, with the recipe. `sources.json` has their paths, as for
/// a folder that a manifest names. So from the receipt on it is a manifest like any other.
package struct PictureFolder: Sendable {
    /// The extension of the file whose name is that of the recipe.
    package static let recipeExtension = "recipe"

    let recipe: String
    let directory: Directory
    let owner: UInt32

    /// The name of the recipe that a file stands for; nil for any other file.
    static func recipe(in name: FileName) -> String? {
        guard name.bytes.first != UInt8(ascii: "."), let parts = name.text.partsAtLastDot,
            ByteString(parts.ending).asciiLowercased == ByteString(recipeExtension)
        else { return nil }
        return String(parts.stem)
    }

    private struct Content: Encodable {
        let recipe: String
        let images: [String]
    }

    var manifest: [UInt8] {
        JSONFile.text(of: Content(recipe: recipe, images: [SourcePattern.everything.text.string]))
    }
}

/// The manifest of a submitted file or folder, after it was read.
package struct SubmittedManifest: Sendable {
    /// The name of the manifest in its folder; nil for a file, and for a folder without a manifest.
    package var nameInFolder: FileName?
    package let format: ManifestFormat
    package let reading: ManifestReading
    package let uid: UInt32
}

extension Examination {
    /// What a folder is, or becomes in the inbox.
    package enum Look: Sendable {
        case manifest(SubmittedManifest)
        case unusable(FolderJob.Problem)
    }

    /// Reads the manifest of a folder or, if it has none, looks for its pictures.
    package func look(at folder: Directory) throws(FileError) -> Look {
        switch try FolderJob.find(in: folder, recipe: recipes.ofFolders) {
        case .found(let manifest):
            return .manifest(
                SubmittedManifest(
                    nameInFolder: manifest.name, format: manifest.format,
                    reading: try read(manifest), uid: manifest.information.st_uid))
        case .pictures(let pictures): return try look(at: pictures)
        case .unusable(let problem): return .unusable(problem)
        }
    }

    /// Looks for the pictures, which may take long if the folder is large.
    ///
    /// If the manifest would be rejected, for example because there is no such recipe, its bytes are left out: its
    /// submitter did not write them, and gets the folder back (`SubmittedFile`).
    func look(at pictures: PictureFolder) throws(FileError) -> Look {
        let finder = finder(pictures.directory, pictures.owner)
        let found: SourceFinder
        switch finder.find(.everything, limit: limits.images) {
        case .files(let files):
            found = .live { _, _ in
                .files(files)
            } pages: { source, limit in
                finder.pages(of: source, limit)
            }
        case .nothing(let reason): return .unusable(.noPictures(reason))
        case .tooMany: found = .live { _, _ in .tooMany }
        case .unknown: found = .none
        }
        let bytes = pictures.manifest
        let outcome = check(bytes, .json, found)
        // If `stop` is set, the reader has ended with any error.
        try stop.check(.read, pictures.directory.path)
        let reading =
            switch outcome {
            case .success(let manifest): ManifestReading(bytes, accepted: manifest)
            case .failure:
                ManifestReading(bytes: nil, byteCount: bytes.count, sha256: nil, outcome: outcome)
            }
        return .manifest(SubmittedManifest(format: .json, reading: reading, uid: pictures.owner))
    }

    /// Reads what was claimed; nil if it has no manifest and no pictures with a recipe.
    ///
    /// - Parameter candidate: what was read of it before. It is not read again if its manifest has not changed since.
    func read(
        _ submitted: SubmittedFile, _ candidate: Candidate? = nil
    ) throws(FileError) -> SubmittedManifest? {
        switch try submitted.content(recipe: recipes.ofFolders) {
        case .found(let manifest):
            let isSame = candidate?.identity == FileIdentity(manifest.information)
            let reading = if isSame, let candidate { candidate.reading } else { try read(manifest) }
            return SubmittedManifest(
                nameInFolder: manifest.isFolder ? manifest.name : nil, format: manifest.format,
                reading: reading, uid: manifest.information.st_uid)
        case .pictures(let pictures):
            guard case .manifest(let manifest) = try look(at: pictures) else { return nil }
            return manifest
        case .unusable: return nil
        }
    }
}
