import DarkroomAnswer
import DarkroomCore
import DarkroomManifest
import Glibc
import SystemPackage

/// The submitted file or folder after it was moved out of the inbox:
///
/// | what was submitted                | its place in `active/ID` |
/// |-----------------------------------|--------------------------|
/// | a file                            | `submitted-NAME`         |
/// | a file with a name that long      | `submitted/NAME`         |
/// | a folder                          | `submitted/NAME`         |
///
/// To make and remove a folder costs as much as the rest of a claim, so a file has none of its own.
///
/// It still belongs to its submitter, who may have it open for writing, or have another hard link to it. So it is read
/// once. The daemon writes the read bytes to a file of its own, and removes this one when the receipt exists. It is not
/// cloned and not copied by the kernel, because only the bytes in memory are certainly those that were checked.
///
/// A folder (`FolderJob`) stays as long as `active/ID`, because its pictures are needed. Only its manifest is copied.
///
/// A file that cannot be copied is never removed. If it is too large for an answer, it goes back to the submitters'
/// folder `tmp`. If it is not a regular file, it goes back into the inbox. A folder without a manifest
/// (`PictureFolder`) goes back to `tmp` if the manifest that it gets is rejected.
package struct SubmittedFile {
    static let folderName: FileName = "submitted"
    /// Of a folder in which another one is given back.
    static let wrapperMode: mode_t = 0o1777

    private static let prefix = Array("submitted-".utf8)

    let name: FileName
    /// The folder that contains it now, and its name there.
    let folder: Directory
    let place: FileName

    /// Finds it in `active/ID`; nil if it does not exist.
    package init?(in active: Directory) throws(FileError) {
        if let submitted = try Self.inFolder(of: active) {
            self = submitted
            return
        }
        guard let place = try active.names().first(where: Self.isPlaceOfFile) else { return nil }
        let name = FileName(bytes: Array(place.bytes.dropFirst(Self.prefix.count)))
        self.init(name: name, folder: active, place: place)
    }

    init(name: FileName, folder: Directory, place: FileName? = nil) {
        self.name = name
        self.folder = folder
        self.place = place ?? name
    }

    /// Finds it in `active/ID` if it has a folder of its own there; nil otherwise.
    static func inFolder(of active: Directory) throws(FileError) -> SubmittedFile? {
        return try ifExists { () throws(FileError) in
            let folder = try Directory(folderName, in: active)
            return try folder.names().first.map { SubmittedFile(name: $0, folder: folder) }
        }
    }

    /// Whether it gets a folder of its own in `active/ID`.
    static func needsFolder(_ name: FileName, isFolder: Bool) -> Bool {
        isFolder || prefix.count + name.bytes.count > Int(NAME_MAX)
    }

    static func place(of name: FileName, isFolder: Bool) -> FileName {
        needsFolder(name, isFolder: isFolder)
            ? folderName / name : FileName(bytes: prefix + name.bytes)
    }

    /// Whether a name in `active/ID` is that of a submitted file, or of the folder that contains it.
    static func isPlace(_ name: FileName) -> Bool { name == folderName || isPlaceOfFile(name) }

    private static func isPlaceOfFile(_ name: FileName) -> Bool {
        name.bytes.starts(with: prefix) && name.bytes.count > prefix.count
    }

    var hasFolder: Bool { place == name }

    func information() throws(FileError) -> stat? { try folder.information(of: place) }

    /// The folder with the pictures that were sent along, and its owner; nil for a file.
    package func pictures() throws(FileError) -> (folder: Directory, owner: UInt32)? {
        guard try information()?.isFolder == true else { return nil }
        let pictures = try Directory(place, in: folder)
        return (pictures, try pictures.information().st_uid)
    }

    /// Removes it with its folder, when the daemon has a copy of its content. A folder stays.
    package func remove(from active: Directory) throws(FileError) {
        guard try information()?.isFolder != true else { return }
        try folder.remove(place)
        FaultPoint.submittedRemoved.pass()
        if hasFolder { try active.removeDirectory(Self.folderName) }
    }

    /// Removes a submitted file by its path from `active`, of which no part is anybody's but the daemon's. So it need not
    /// be looked for.
    static func remove(_ name: FileName, of id: String, from active: Directory) throws(FileError) {
        try active.remove(FileName(id) / place(of: name, isFolder: false))
        FaultPoint.submittedRemoved.pass()
        if needsFolder(name, isFolder: false) {
            try active.removeDirectory(FileName(id) / folderName)
        }
    }

    /// Waits until the pictures of a folder are on the disk, each by itself. What the daemon may not read is left out:
    /// it cannot become a picture.
    func syncPictures() throws(FileError) {
        guard try information()?.isFolder == true else { return }
        try folder.syncTree(place, depth: Self.depth)
    }

    /// Folders deeper than this are not looked into. The pictures of a manifest are not as deep: a path has at most 4096
    /// bytes, but a descriptor is open for each level.
    private static let depth = 128

    /// Moves it to a folder of users, the inbox or `tmp`, without replacing a file; returns its name there.
    func giveBack(to people: Directory) throws(FileError) -> FileName {
        try move(place, of: folder, to: people, as: name)
    }

    /// Gives back a folder whose submitter does not let the daemon move it: within another folder, which belongs to the
    /// daemon and which everybody may use.
    func giveBackClosed(of active: Directory, to people: Directory) throws(FileError) -> FileName {
        guard fchmod(folder.number, Self.wrapperMode) == 0 else {
            throw FileError(.changeMode, folder.path, Errno(rawValue: errno))
        }
        return try move(Self.folderName, of: active, to: people, as: name.another())
    }

    private func move(
        _ old: FileName, of place: Directory, to people: Directory, as wanted: FileName
    ) throws(FileError) -> FileName {
        var newName = wanted
        while true {
            do {
                try place.rename(old, to: people, as: newName, rivals: .some)
                return newName
            } catch  where error.errno == .fileExists {
                newName = name.another()
            }
        }
    }
}

extension Directory {
    fileprivate func syncTree(_ name: FileName, depth: Int) throws(FileError) {
        do throws(FileError) {
            let folder = try Directory(name, in: self)
            for name in try folder.names() {
                guard let information = try folder.information(of: name) else { continue }
                if information.isRegularFile {
                    do throws(FileError) {
                        try folder.open(name).sync(path: folder.path(of: name))
                    } catch  where !error.isOfTheStorage {
                    }
                } else if information.isFolder, depth > 0 {
                    try folder.syncTree(name, depth: depth - 1)
                }
            }
            try folder.sync()
        } catch  where !error.isOfTheStorage {
        }
    }
}

extension FileName {
    /// A similar name that nobody can predict and that the intake ignores: `a.json.1f3a9c02~`.
    func another() -> FileName {
        let digits = Hexadecimal.text(of: (0..<4).map { _ in UInt8.random(in: 0 ... .max) })
        let ending = Array(".\(digits)~".utf8)
        return FileName(bytes: bytes.prefix(Int(NAME_MAX) - ending.count) + ending)
    }
}
