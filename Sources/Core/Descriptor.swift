import Glibc
import SystemPackage

/// An open file descriptor with one owner, closed when the owner lets go of it.
package struct Descriptor: ~Copyable, Sendable {
    /// The number, to lend to calls that do not outlive this value.
    package let file: FileDescriptor

    /// The number as C calls take it.
    package var number: CInt { file.rawValue }

    /// Takes over the descriptor `number`, which must be open and owned by nobody else.
    package init(owning number: CInt) {
        file = FileDescriptor(rawValue: number)
    }

    deinit {
        // The result is of no use here: whoever needs to know has called `sync` or `close` before.
        _ = Glibc.close(file.rawValue)
    }

    /// Closes it and says whether what was written is accepted: a network file system may tell only now that
    /// there was no space.
    package consuming func close(path: String) throws(FileError) {
        let number = file.rawValue
        discard self
        // Linux has let go of the number also where it was interrupted (close(2)).
        guard Glibc.close(number) == 0 || errno == EINTR else {
            throw FileError("close", path, Errno(rawValue: errno))
        }
    }
}

/// Runs a call that returns -1 and sets errno on failure, again after each EINTR.
package func retryingInterrupts<Value: SignedInteger>(
    _ call: () -> Value
) throws(Errno) -> Value {
    while true {
        let result = call()
        if result != -1 { return result }
        let error = Errno(rawValue: errno)
        if error != .interrupted { throw error }
    }
}
