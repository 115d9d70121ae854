import DarkroomCore
import Glibc
import SystemPackage

/// A file that gets its name when it is complete. Until then, an existing file with this name stays. If it is never
/// completed, nothing remains, also if the process is killed: the file has no name before (`O_TMPFILE`).
///
/// On a file system that has no files without names, such as NFS, it has a temporary name in its folder instead, which
/// remains if the process is killed. On one that has them but no hard links, its content is copied to a file with such a
/// name at the end.
struct ReplacedFile: ~Copyable {
    private let path: String
    private var part: Part
    private let descriptor: Descriptor
    private let isUnnamed: Bool

    /// The temporary name.
    private struct Part: ~Copyable {
        let path: String
        var exists: Bool

        // After the rename, no file has this name.
        deinit { if exists { unlink(path) } }
    }

    init(path: String) throws(PictureError) {
        let slash = path.utf8.lastIndex(of: UInt8(ascii: "/"))
        let folder = slash.map { String(path[...$0]) } ?? ""
        let name = ".darkroom-\(String(UInt64.random(in: 0...UInt64.max), radix: 16)).part"
        // A name with a NUL is refused by the other way.
        let isName = !path.utf8.contains(0)
        if isName, let file = PicturePath.createUnnamed(in: folder) {
            descriptor = file
            isUnnamed = true
        } else {
            descriptor = try PicturePath.create(folder + name, name: path)
            isUnnamed = false
        }
        part = Part(path: folder + name, exists: !isUnnamed)
        self.path = path
    }

    var file: FileDescriptor { descriptor.file }

    /// Gives the file its name. Nothing is synced.
    consuming func publish() throws(PictureError) {
        let path = path
        let number = descriptor.number
        if isUnnamed {
            if Self.link(number, as: path) { return }
            // A link replaces no file, but a rename does.
            if errno == EEXIST, Self.link(number, as: part.path) {
                part.exists = true
            } else {
                let error = Errno(rawValue: errno)
                guard Directory.mayLackLinks(error) else {
                    throw PictureError(.writeFailed, "\(path): naming the file", error)
                }
                try copy()
            }
        } else {
            do throws(FileError) {
                try descriptor.close(path: path)
            } catch {
                throw Self.error(error)
            }
        }
        guard rename(part.path, path) == 0 else {
            throw PictureError(.writeFailed, "\(path): renaming the file", Errno(rawValue: errno))
        }
    }

    /// Copies the content to a file with the temporary name.
    private mutating func copy() throws(PictureError) {
        let copy = try PicturePath.create(part.path, name: path)
        part.exists = true
        do throws(FileError) {
            var place = 0
            while true {
                let piece = try descriptor.read(1 << 20, at: place, path: path)
                if piece.isEmpty { break }
                try copy.write(piece, path: path)
                place += piece.count
            }
            try copy.close(path: path)
        } catch {
            throw Self.error(error)
        }
    }

    private static func error(_ error: FileError) -> PictureError {
        PictureError(
            .writeFailed, error.message, isTransient: error.isTransient,
            storageFailure: error.storageFailure)
    }

    private static func link(_ number: CInt, as path: String) -> Bool {
        linkat(AT_FDCWD, "/proc/self/fd/\(number)", AT_FDCWD, path, AT_SYMLINK_FOLLOW) == 0
    }
}
