import DarkroomCore
import DarkroomManifest
import SwiftGlibc
import SystemPackage

/// A folder that was submitted: one manifest and its pictures.
///
/// The folder is claimed by one rename, as a file is. From then on the daemon's copy of the manifest counts, as for
/// files. The pictures stay where the claim has put them, in `active/ID/submitted/NAME`, and go with `active/ID`. Its
/// submitter may still have the folder open and change it, so each picture is examined when it is opened
/// (`SentPictures`).
package struct FolderJob {
    /// The name of the manifest, without its extension.
    package static let stem = "manifest"

    package let manifest: FileName
    package let format: ManifestFormat

    /// Why a folder cannot be taken.
    package enum Problem: Error, Equatable, Sendable {
        case noManifest
        case severalManifests
        /// The manifest belongs to another user than the folder.
        case foreignManifest
        /// The daemon may not list it, or may not move or remove what it contains.
        case closed
    }

    package enum Finding {
        case found(FolderJob)
        case unusable(Problem)
    }

    /// Finds the manifest in an open folder.
    package static func find(in folder: Directory) throws(FileError) -> Finding {
        guard folder.isUsable else { return .unusable(.closed) }
        let manifests = try folder.names().compactMap { FolderJob($0) }
        guard let job = manifests.first else { return .unusable(.noManifest) }
        guard manifests.count == 1 else { return .unusable(.severalManifests) }
        guard let information = try folder.information(of: job.manifest),
            information.isRegularFile
        else { return .unusable(.noManifest) }
        let owner = try folder.information().st_uid
        return information.st_uid == owner ? .found(job) : .unusable(.foreignManifest)
    }

    /// nil for the name of another file than a manifest.
    private init?(_ name: FileName) {
        guard name.text.partsAtLastDot?.stem == Substring(Self.stem),
            let format = ManifestFormat(fileName: name.text)
        else { return nil }
        manifest = name
        self.format = format
    }

    /// Folders deeper than this are not searched for changes.
    private static let depth = 16

    /// The file or folder in `name`, or the folder itself, that was changed last. It shows whether somebody is still
    /// writing; inotify does not tell what happens in a folder of the inbox.
    package static func lastChange(
        of name: FileName, in inbox: Directory
    ) throws(FileError) -> FileIdentity? {
        guard let information = try inbox.information(of: name) else { return nil }
        var last = FileIdentity(information)
        if information.isFolder {
            try lastChange(in: Directory(name, in: inbox), depth, &last)
        }
        return last
    }

    private static func lastChange(
        in folder: Directory, _ depth: Int, _ last: inout FileIdentity
    ) throws(FileError) {
        for name in try folder.names() {
            guard let information = try folder.information(of: name) else { continue }
            let identity = FileIdentity(information)
            if last.isOlder(than: identity, [], name.bytes) { last = identity }
            guard information.isFolder, depth > 0 else { continue }
            try lastChange(in: Directory(name, in: folder), depth - 1, &last)
        }
    }
}
