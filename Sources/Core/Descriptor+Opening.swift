import Glibc
import SystemPackage

extension Descriptor {
    /// Opens the file at a path that somebody has named. Symbolic links are followed.
    ///
    /// - Parameter shown: the path in messages; by itself, the path.
    package init(
        opening path: String, _ flags: CInt = O_RDONLY | O_NOCTTY, shown: String? = nil
    ) throws(FileError) {
        self.init(
            owning: try retryingInterrupts(.open, shown ?? path) { open(path, flags | O_CLOEXEC) })
    }

    /// Standard input, as a descriptor of its own.
    package static func standardInput(shown: String) throws(FileError) -> Descriptor {
        Descriptor(owning: try retryingInterrupts(.open, shown) { dup(STDIN_FILENO) })
    }
}
