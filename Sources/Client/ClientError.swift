import DarkroomAnswer
import DarkroomCore
import DarkroomSpool
import SystemPackage

package struct ClientError: CodedError, Equatable {
    package var code: String
    package var message: String
    /// What the user can do; nil if the message says it.
    package var remedy: String?
    package var exit: ClientExit
    package var isTransient: Bool { exit == .tryAgain || exit == .noDaemon }

    package init(_ exit: ClientExit, code: String, _ message: String, remedy: String? = nil) {
        self.exit = exit
        self.code = code
        self.message = message
        self.remedy = remedy
    }

    package init(_ error: FileError, remedy: String? = nil) {
        let exit: ClientExit =
            switch error.errno {
            case .noSuchFileOrDirectory, .notDirectory: .missing
            case .permissionDenied, .notPermitted, .readOnlyFileSystem: .noPermission
            // A full disk, too: the same command helps only after somebody has freed space, and clusters repeat 75 at once.
            default: .ioError
            }
        self.init(exit, code: error.code, error.message, remedy: remedy)
    }

    /// What to do about a file that has another form than this version knows.
    package static let otherForm =
        "It is damaged, or a newer version has written it. A retry alone does not help."

    /// A file of darkroom's own has another form than this version knows.
    package static func unreadable(
        _ path: String, _ reason: String = StatusDefect.unknown
    ) -> ClientError {
        ClientError(.ioError, code: "unreadable-file", "\(path): \(reason)", remedy: otherForm)
    }

    /// An option with a value that it cannot have, or that does not fit the others.
    package static func badOption(_ message: String, remedy: String? = nil) -> ClientError {
        ClientError(.usage, code: "bad-option", message, remedy: remedy)
    }

    /// What Darkroom has written into the spool cannot be read.
    package init(_ error: ReadingError) {
        switch error {
        case .file(let error): self.init(error)
        case .unreadable(let path, let reason): self = .unreadable(path, reason)
        }
    }
}

/// The value of `body`, whose error about a file becomes that of a command:
///
///     let names = try asClientError(folder.names())
package func asClientError<Value: ~Copyable>(
    _ body: @autoclosure () throws(FileError) -> Value
) throws(ClientError) -> Value {
    do {
        return try body()
    } catch {
        throw ClientError(error)
    }
}

/// The value of `body`, which reads what Darkroom has written into the spool. Its error becomes that of a command.
package func asClientError<Value: ~Copyable>(
    reading body: @autoclosure () throws(ReadingError) -> Value
) throws(ClientError) -> Value {
    do {
        return try body()
    } catch {
        throw ClientError(error)
    }
}

/// The value of `body`, whose error of any kind becomes that of a command, with the exit code that it means here.
package func asClientError<Value: ~Copyable>(
    _ exit: ClientExit, _ body: @autoclosure () throws -> Value
) throws(ClientError) -> Value {
    do {
        return try body()
    } catch {
        let failure = Failure(erasing: error)
        throw ClientError(exit, code: failure.code, failure.message)
    }
}
