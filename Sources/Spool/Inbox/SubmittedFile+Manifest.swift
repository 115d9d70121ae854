import DarkroomCore
import DarkroomManifest
import Glibc
import SystemPackage

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

    /// A scratch file by its name (`BatchFile.isScratch`), so a restart removes it.
    private static let copyName: FileName = "again-manifest"

    /// Puts the copy of the answer in the place of the manifest in a submitted folder, with the mode of that copy, if the
    /// manifest may have secrets. So the folder shows no more of it than the answer that it becomes a part of.
    ///
    /// The file itself stays as it is: only its owner may change its mode, and it may have other names. Its place is taken
    /// by one rename, so there is a manifest at any time. What the submitter puts there afterwards is the submitter's.
    ///
    /// - Parameter active: `active/ID`.
    func replaceManifest(
        by answer: Directory, _ active: Directory, durably: Bool
    ) throws(FileError) {
        for format in ManifestFormat.allCases {
            let name = BatchFile.manifest(format)
            let shown = try answer.content(of: name)
            // The only copy of a rejected one is in the answer.
            guard let taken = try active.content(of: name)?.bytes ?? shown?.bytes,
                ManifestSecrecy.mayHoldSecrets(taken, in: nil)
            else { continue }
            // Somebody may have removed the copy. Then the exact one stays, for the daemon alone.
            let (bytes, isClosed) = shown ?? (taken, true)
            guard let (pictures, _) = try pictures() else { return }
            for name in try pictures.names(atMost: FolderJob.mostFiles)
            where FolderJob.format(of: name) == format {
                guard try pictures.information(of: name)?.isRegularFile == true else { continue }
                try active.write(
                    sparsely: bytes, to: Self.copyName, replacing: true, durably: durably)
                if isClosed { try active.close(Self.copyName, durably: durably) }
                try active.rename(Self.copyName, to: pictures, as: name, replacing: true)
                FaultPoint.originalsManifestReplaced.pass()
            }
            if durably { try pictures.sync() }
        }
    }
}

extension Directory {
    /// The content of a file, and whether only its owner may read it; nil if it does not exist.
    fileprivate func content(
        of name: FileName
    ) throws(FileError) -> (bytes: [UInt8], isClosed: Bool)? {
        return try ifExists { () throws(FileError) in
            let file = try open(name)
            let path = path(of: name)
            let mode = try file.information(path: path).st_mode
            return (try file.whole(upTo: FileLimit.other, path: path), mode & 0o077 == 0)
        }
    }
}
