import CDarkroomShims
import DarkroomCore
import Glibc
import SystemPackage

/// Puts a picture into a staged folder: by a hard link, or by a copy.
///
/// A link costs nothing, but the daemon needs the permission to read the file, and the file must belong to the user: the
/// daemon refuses other people's files in a folder. In all other cases the bytes are copied; a file system that can
/// (Btrfs, XFS) shares them.
struct PictureTransfer: ~Copyable {
    /// In bytes: between two pieces, the progress is told and an interruption is noticed.
    private static let piece = 16 << 20

    private let file: Descriptor
    private let information: stat
    /// For messages.
    private let path: String

    private var bytes: Int { information.length }

    /// Opens the picture at `path`. Symbolic links are followed, as by the user's other programs.
    init(_ path: String) throws(FileError) {
        let shown = FileName(path).text
        let file = try Self.open(path, shown)
        let information = try Self.information(of: file, shown)
        self.init(file: file, information: information, path: shown)
    }

    private init(file: consuming Descriptor, information: stat, path: String) {
        self.file = file
        self.information = information
        self.path = path
    }

    private static func open(_ path: String, _ shown: String) throws(FileError) -> Descriptor {
        do {
            return Descriptor(
                owning: try retryingInterrupts {
                    Glibc.open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
                })
        } catch {
            throw FileError("open", shown, error)
        }
    }

    private static func information(
        of file: borrowing Descriptor, _ shown: String
    ) throws(FileError) -> stat {
        var information = stat()
        guard fstat(file.number, &information) == 0 else {
            throw FileError("examine", shown, Errno(rawValue: errno))
        }
        guard information.st_mode & S_IFMT == S_IFREG else {
            throw FileError("send it along (it is not a regular file)", shown, .notSupported)
        }
        return information
    }

    /// - Parameter told: receives the number of bytes of each piece; returns false to stop.
    /// - Throws: ECANCELED if it was stopped.
    func put(
        into folder: Directory, of staged: StagedFolder, as name: FileName,
        told: (Int) -> Bool
    ) throws(FileError) {
        if try mayLink(into: folder, of: staged),
            name.withCString({ darkroom_name_file(file.number, folder.number, $0) }) == 0
        {
            return try tell(bytes, told)
        }
        try copy(to: folder.create(name), folder.path(of: name), of: staged, told: told)
    }

    private func tell(_ count: Int, _ told: (Int) -> Bool) throws(FileError) {
        guard told(count) else { throw FileError("copy", path, .canceled) }
    }

    private func mayLink(
        into folder: Directory, of staged: StagedFolder
    ) throws(FileError) -> Bool {
        let there = try folder.information()
        guard information.st_uid == geteuid(), information.st_dev == there.st_dev,
            information.st_mode & S_IRGRP != 0
        else { return false }
        // The daemon is a member of the spool's group, and perhaps of no other.
        return information.st_mode & S_IROTH != 0
            || staged.isOfTheGroup && information.st_gid == there.st_gid
    }

    private func copy(
        to copy: consuming Descriptor, _ target: String, of staged: StagedFolder,
        told: (Int) -> Bool
    ) throws(FileError) {
        staged.share(copy)
        var place = 0
        while true {
            let count: Int64
            do {
                count = try retryingInterrupts {
                    darkroom_copy_range(
                        file.number, Int64(place), copy.number, Int64(place), Int64(Self.piece))
                }
            } catch  where Self.needsReading.contains(error) {
                break
            } catch {
                throw FileError("copy to \(target)", path, error)
            }
            if count == 0 { break }
            place += Int(count)
            try tell(Int(count), told)
        }
        // At the end of the file this reads nothing. Some file systems give the kernel nothing, or refuse.
        try copyBytes(from: place, to: copy, target, told)
    }

    /// The errors of a kernel that cannot copy between two files.
    private static let needsReading: [Errno] = [
        .improperLink, .invalidArgument, .notSupported, .noFunction, .notPermitted,
    ]

    private func copyBytes(
        from start: Int, to copy: borrowing Descriptor, _ target: String, _ told: (Int) -> Bool
    ) throws(FileError) {
        guard lseek(copy.number, start, SEEK_SET) >= 0 else {
            throw FileError("write", target, Errno(rawValue: errno))
        }
        var place = start
        var piece = [UInt8](repeating: 0, count: 1 << 20)
        while true {
            let count: Int
            do {
                count = try retryingInterrupts {
                    pread(file.number, &piece, piece.count, place)
                }
            } catch {
                throw FileError("read", path, error)
            }
            if count == 0 { return }
            try copy.write(piece[..<count], path: target)
            place += count
            try tell(count, told)
        }
    }
}
