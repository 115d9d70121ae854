import CDarkroomShims
import Glibc
import SystemPackage

/// Files beneath a folder whose content somebody else makes.
extension Directory {
    /// Opens a regular file for reading. No part of the path may be a symbolic link, and nothing that is not a regular
    /// file is opened: opening a device may have an effect.
    package func open(beneath path: RelativePath) throws(FileError) -> Descriptor {
        let shown = "\(self.path)/\(path.text)"
        let file = Descriptor(owning: try open(path, shown))
        guard try file.information(path: shown).st_mode & S_IFMT == S_IFREG else {
            throw FileError(.read, shown, .notSupported, detail: "(it is not a regular file)")
        }
        return file
    }

    private func open(_ path: RelativePath, _ shown: String) throws(FileError) -> CInt {
        var error = Errno.resourceTemporarilyUnavailable
        for _ in 0..<8 {
            do throws(Errno) {
                return try retryingInterrupts {
                    path.withCString { darkroom_open_beneath(number, $0, 0) }
                }
            } catch .resourceTemporarilyUnavailable {
                // A rename or a mount at the same time (openat2(2)).
                continue
            } catch .noFunction, .notPermitted {
                return try retryingInterrupts(.open, shown) {
                    path.withCString { darkroom_walk_beneath(number, $0, 0) }
                }
            } catch let failure {
                error = failure
                break
            }
        }
        throw FileError(.open, shown, error)
    }

    /// Opens a folder, none of whose names may be a symbolic link.
    package func folder(beneath path: RelativePath) throws(FileError) -> Directory {
        var folder = self
        for name in path.names { folder = try Directory(name, in: folder) }
        return folder
    }
}
