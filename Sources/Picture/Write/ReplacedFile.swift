import DarkroomCore
import Glibc
import SystemPackage

/// A file that is written under a temporary name in its folder, and gets its own name when it is complete. Until then,
/// an existing file with this name stays. If it is never completed, nothing remains.
struct ReplacedFile: ~Copyable {
    private let path: String
    private let part: Part
    private let descriptor: Descriptor

    /// The temporary name.
    private struct Part: ~Copyable {
        let path: String

        // After the rename, no file has this name.
        deinit { unlink(path) }
    }

    init(path: String) throws(PictureError) {
        let slash = path.utf8.lastIndex(of: UInt8(ascii: "/"))
        let folder = slash.map { path[...$0] } ?? ""
        let name = ".darkroom-\(String(UInt64.random(in: 0...UInt64.max), radix: 16)).part"
        descriptor = try PicturePath.create(folder + name, name: path)
        part = Part(path: folder + name)
        self.path = path
    }

    var file: FileDescriptor { descriptor.file }

    /// Gives the file its name. Nothing is synced.
    consuming func publish() throws(PictureError) {
        let path = path
        do {
            try descriptor.close(path: path)
        } catch {
            throw PictureError(
                .writeFailed, error.message, isTransient: error.isTransient, fault: error.fault)
        }
        guard rename(part.path, path) == 0 else {
            throw PictureError(
                .writeFailed, "\(path): renaming the file", Errno(rawValue: errno))
        }
    }
}
