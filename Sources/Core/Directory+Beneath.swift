import Glibc
import SystemPackage

/// Files beneath a folder whose content somebody else makes.
extension Directory {
    /// Opens a regular file for reading. No part of the path may be a symbolic link.
    package func open(beneath path: RelativePath) throws(FileError) -> Descriptor {
        let shown = "\(self.path)/\(path.text)"
        let file: Descriptor
        do throws(Errno) {
            file = try PathResolution.kernel.open(
                path.bytes.map { CChar(bitPattern: $0) } + [0], beneath: number,
                followsLinks: false)
        } catch {
            throw FileError(.open, shown, error)
        }
        guard try file.information(path: shown).isRegularFile else {
            throw FileError(.read, shown, .notSupported, detail: "(it is not a regular file)")
        }
        return file
    }

    /// Opens a folder, none of whose names may be a symbolic link.
    package func folder(beneath path: RelativePath) throws(FileError) -> Directory {
        var folder = self
        for name in path.names { folder = try Directory(name, in: folder) }
        return folder
    }
}
