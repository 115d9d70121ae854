import CDarkroomShims
import DarkroomCore
import SystemPackage

extension LocalSources.Resolution {
    /// Opens a file beneath a folder. A file that is not a regular one is only examined.
    ///
    /// - Parameter followsLinks: if false, a symbolic link anywhere in the path throws
    ///   `tooManySymbolicLinkLevels` (ELOOP).
    /// - Throws: `improperLink` (EXDEV) if the path leads out of the folder.
    func open(
        _ way: String, beneath folder: CInt, followsLinks: Bool
    ) throws(Errno) -> Descriptor {
        let follow: CInt = followsLinks ? 1 : 0
        if self == .walk { return try Self.walk(way, from: folder, follow) }
        // EAGAIN: because of a rename or a mount at the same time, the kernel could not check ".." (openat2(2)).
        for _ in 1..<8 {
            do throws(Errno) {
                return Descriptor(
                    owning: try retryingInterrupts { darkroom_open_beneath(folder, way, follow) })
            } catch .resourceTemporarilyUnavailable {
                continue
            } catch .noFunction, .notPermitted {
                // The call does not exist, or a system call filter refuses it.
                return try Self.walk(way, from: folder, follow)
            }
        }
        throw .resourceTemporarilyUnavailable
    }

    private static func walk(
        _ way: String, from folder: CInt, _ follow: CInt
    ) throws(Errno) -> Descriptor {
        Descriptor(owning: try retryingInterrupts { darkroom_walk_beneath(folder, way, follow) })
    }
}
