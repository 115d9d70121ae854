import DarkroomCore
import Glibc
import SystemPackage

/// A file that gets its name when it is complete. Until then, an existing file with this name stays. If it is never
/// completed, nothing remains, also if the process is killed: the file has no name before (`O_TMPFILE`).
///
/// On a file system that has no files without names, such as NFS, it has a temporary name in its folder instead, which
/// remains if the process is killed.
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
            guard errno == EEXIST, Self.link(number, as: part.path) else {
                throw PictureError(
                    .writeFailed, "\(path): naming the file", Errno(rawValue: errno))
            }
            part.exists = true
        } else {
            do {
                try descriptor.close(path: path)
            } catch {
                throw PictureError(
                    .writeFailed, error.message, isTransient: error.isTransient, fault: error.fault)
            }
        }
        guard rename(part.path, path) == 0 else {
            throw PictureError(
                .writeFailed, "\(path): renaming the file", Errno(rawValue: errno))
        }
    }

    private static func link(_ number: CInt, as path: String) -> Bool {
        linkat(AT_FDCWD, "/proc/self/fd/\(number)", AT_FDCWD, path, AT_SYMLINK_FOLLOW) == 0
    }
}
