import Glibc
import SystemPackage

/// An open file descriptor with one owner. It is closed when the owner is destroyed.
package struct Descriptor: ~Copyable, Sendable {
    /// The descriptor, for calls that do not outlive this value.
    package let file: FileDescriptor

    /// The number, as C calls need it.
    package var number: CInt { file.rawValue }

    /// Takes ownership of the descriptor `number`, which must be open and must not have another owner.
    package init(owning number: CInt) { file = FileDescriptor(rawValue: number) }

    deinit {
        // The result is not needed here: code that needs it has called `sync` or `close` before.
        _ = Glibc.close(file.rawValue)
    }

    /// Closes the file and reports whether the written data is accepted: a network file system may report only now that
    /// there was no space.
    package consuming func close(path: String) throws(FileError) {
        let number = file.rawValue
        discard self
        // Linux has released the number even if the call was interrupted (close(2)).
        guard Glibc.close(number) == 0 || errno == EINTR else {
            throw FileError(.close, path, Errno(rawValue: errno))
        }
    }
}

/// Runs a call that returns -1 and sets errno on failure; repeats it after EINTR.
package func retryingInterrupts<Value: SignedInteger>(_ call: () -> Value) throws(Errno) -> Value {
    while true {
        let result = call()
        if result != -1 { return result }
        let error = Errno(rawValue: errno)
        if error != .interrupted { throw error }
    }
}

/// The same. An error names the step and the file.
package func retryingInterrupts<Value: SignedInteger>(
    _ step: FileError.Step, _ path: @autoclosure () -> String,
    detail: @autoclosure () -> String? = nil, _ call: () -> Value
) throws(FileError) -> Value {
    do {
        return try retryingInterrupts(call)
    } catch {
        throw FileError(step, path(), error, detail: detail())
    }
}
