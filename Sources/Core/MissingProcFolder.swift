import Glibc

/// The error of a machine, such as a chroot, in which /proc is not mounted.
package struct MissingProcFolder: CodedError, Equatable {
    package var code: String { "no-proc" }
    package var isTransient: Bool { false }
    package var message: String {
        "/proc is not mounted, and it is needed to reach open files; mount it (mount -t proc proc /proc)"
    }

    /// - Throws: if /proc does not show the open files of this process.
    package static func check() throws(MissingProcFolder) {
        guard access("/proc/self/fd", X_OK) == 0 else { throw MissingProcFolder() }
    }
}
