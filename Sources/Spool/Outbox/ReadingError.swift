import DarkroomAnswer
import DarkroomCore

/// Why what Darkroom has written into a spool cannot be read.
package enum ReadingError: Error, Equatable, Sendable {
    case file(FileError)
    /// The file is not what this version can read, for this reason.
    case unreadable(path: String, reason: String)

    /// The status of an answer cannot be read. The reason names the field that is wrong.
    package static func unreadableStatus(in answer: Directory) -> ReadingError {
        .unreadable(
            path: answer.path(of: BatchFile.status), reason: StatusDefect.sentence(in: answer))
    }
}

/// Converts the error of `body`; nil if what it reads does not exist.
func readIfExists<Value>(_ body: () throws(FileError) -> Value) throws(ReadingError) -> Value? {
    do {
        return try ifExists(body)
    } catch {
        throw .file(error)
    }
}
