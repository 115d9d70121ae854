import CDarkroomShims
import SystemPackage

/// How a path is kept beneath a folder whose content somebody else makes. `..`, an absolute symbolic link and the magic
/// links of /proc cannot lead out of it, even if someone changes the folders at the same time.
package enum PathResolution: Sendable, CaseIterable {
    /// By the kernel (openat2(2) with RESOLVE_BENEATH) if it can, otherwise by the walk.
    case kernel
    /// By code of our own, name by name.
    case walk

    /// Opens a file beneath a folder. A file that is not a regular one is only examined: opening a device may have an
    /// effect.
    ///
    /// - Throws: `improperLink` (EXDEV) if the path leads out of the folder; `tooManySymbolicLinkLevels` (ELOOP) for a
    ///   symbolic link anywhere in it, unless links are followed.
    package func open(
        _ path: UnsafePointer<CChar>, beneath folder: CInt, followsLinks: Bool
    ) throws(Errno) -> Descriptor {
        let follow: CInt = followsLinks ? 1 : 0
        guard self == .kernel else {
            return Descriptor(
                owning: try retryingInterrupts { darkroom_walk_beneath(folder, path, follow) })
        }
        for _ in 0..<8 {
            do throws(Errno) {
                return Descriptor(
                    owning: try retryingInterrupts { darkroom_open_beneath(folder, path, follow) })
            } catch .resourceTemporarilyUnavailable {
                // Because of a rename or a mount at the same time, the kernel could not check `..` (openat2(2)).
                continue
            } catch .noFunction, .notPermitted {
                // The call does not exist, or a system call filter refuses it.
                return try Self.walk.open(path, beneath: folder, followsLinks: followsLinks)
            }
        }
        throw .resourceTemporarilyUnavailable
    }
}
