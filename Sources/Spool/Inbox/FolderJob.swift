import DarkroomAnswer
import DarkroomCore
import DarkroomManifest
import SwiftGlibc
import SystemPackage

/// A folder that was submitted: one manifest and its pictures, or pictures only (`PictureFolder`).
///
/// The folder is claimed by one rename, as a file is. From then on the daemon's copy of the manifest counts, as for
/// files. The pictures stay where the claim has put them, in `active/ID/submitted/NAME`, and go with `active/ID`. Its
/// submitter may still have the folder open and change it, so each picture is examined when it is opened
/// (`SentPictures`).
package enum FolderJob {
    package static let stem = "manifest"

    package enum Problem: Equatable, Sendable {
        case noManifest
        case severalManifests
        /// There is no manifest, and more than one file names a recipe.
        case severalRecipes
        /// There is no manifest but a recipe, and no picture can be taken, for this reason.
        case noPictures(String)
        /// The manifest belongs to another user than the folder.
        case foreignManifest
        /// The file that names the recipe belongs to another user than the folder.
        case foreignRecipe
        /// It has more files than are read, so it is not known whether it has a manifest.
        case tooManyFiles
        /// The daemon may not list it, or may not move or remove what it contains.
        case closed
    }

    /// More files than this are not listed. A manifest may have fewer images by far, and each name takes memory.
    package static let mostFiles = 2_000_000

    package enum Finding: ~Copyable {
        case found(OpenManifest)
        /// There is no manifest, but a recipe.
        case pictures(PictureFolder)
        case unusable(Problem)
    }

    /// Finds the manifest in an open folder, and opens it.
    ///
    /// - Parameter recipe: of a folder that has neither a manifest nor a file that names a recipe.
    package static func find(in folder: Directory, recipe: String?) throws(FileError) -> Finding {
        let owner = try folder.information()
        guard folder.isUsable, !owner.keepsContent else { return .unusable(.closed) }
        let all = try folder.names(atMost: mostFiles + 1)
        guard all.count <= mostFiles else { return .unusable(.tooManyFiles) }
        let names = all.filter { format(of: $0) != nil }
        if names.isEmpty { return try findRecipe(in: folder, all, owner.st_uid, recipe) }
        guard let name = names.first, let format = format(of: name),
            try folder.information(of: name)?.isRegularFile == true
        else { return .unusable(.noManifest) }
        guard names.count == 1 else { return .unusable(.severalManifests) }
        // Its submitter may exchange it at any time. So its bytes, its type and its owner come from one open file.
        let manifest: OpenManifest
        do {
            manifest = try OpenManifest(name, format, in: folder, isFolder: true)
        } catch  where [.notSupported, .tooManySymbolicLinkLevels].contains(error.errno) {
            return .unusable(.noManifest)
        }
        guard manifest.information.st_uid == owner.st_uid else {
            return .unusable(.foreignManifest)
        }
        return .found(manifest)
    }

    private static func findRecipe(
        in folder: Directory, _ names: [FileName], _ owner: UInt32, _ other: String?
    ) throws(FileError) -> Finding {
        var named: [(recipe: String, owner: UInt32)] = []
        for name in names {
            // Its name counts and not its content, so it is not opened.
            guard let recipe = PictureFolder.recipe(in: name),
                let information = try folder.information(of: name), information.isRegularFile
            else { continue }
            named.append((recipe, information.st_uid))
        }
        guard named.count <= 1 else { return .unusable(.severalRecipes) }
        guard named.allSatisfy({ $0.owner == owner }) else { return .unusable(.foreignRecipe) }
        guard let recipe = named.first?.recipe ?? other else { return .unusable(.noManifest) }
        return .pictures(PictureFolder(recipe: recipe, directory: folder, owner: owner))
    }

    /// The format of the manifest of a folder; nil for the name of another file.
    package static func format(of name: FileName) -> ManifestFormat? {
        guard name.text.partsAtLastDot?.stem == Substring(stem) else { return nil }
        return ManifestFormat(fileName: name.text)
    }

    /// Folders deeper than this are not searched for changes, and not more entries, so that a large folder does not delay
    /// the manifests of others.
    private static let depth = 16
    private static let mostEntries = 4096

    /// The file or folder in `name`, or the folder itself, that was changed last. It shows whether somebody is still
    /// writing; inotify does not tell what happens in a folder of the inbox.
    package static func lastChange(
        of name: FileName, in inbox: Directory
    ) throws(FileError) -> FileIdentity? {
        guard let information = try inbox.information(of: name) else { return nil }
        var last = FileIdentity(information)
        var left = mostEntries
        if information.isFolder {
            try lastChange(in: Directory(name, in: inbox), depth, &last, &left)
        }
        return last
    }

    private static func lastChange(
        in folder: Directory, _ depth: Int, _ last: inout FileIdentity, _ left: inout Int
    ) throws(FileError) {
        // A storage box may make thumbnails of new pictures for a long time.
        for name in try folder.names(atMost: left) where !IgnoredNames.standard.contains(name) {
            guard left > 0 else { return }
            left -= 1
            guard let information = try folder.information(of: name) else { continue }
            let identity = FileIdentity(information)
            if last.isOlder(than: identity, [], name.bytes) { last = identity }
            guard information.isFolder, depth > 0 else { continue }
            try lastChange(in: Directory(name, in: folder), depth - 1, &last, &left)
        }
    }
}

extension stat {
    /// Whether this process may not remove what others have put into the folder, because of its sticky bit.
    fileprivate var keepsContent: Bool {
        st_mode & mode_t(S_ISVTX) != 0 && st_uid != geteuid() && geteuid() != 0
    }
}
