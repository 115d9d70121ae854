import DarkroomAnswer
import DarkroomCore
import DarkroomSpool

package enum PageError: CodedError, Equatable {
    /// The folder that is to have the pages has no name of its own.
    case noName(folder: String)
    /// The folder that is to have the pages is there, and somebody else has made it.
    case notPages(folder: String)
    /// The folder has no status to make pages of.
    case noStatus(folder: String)
    case changed(String)
    /// A file of the answer, or of the spool, is not what this version can read.
    case unreadable(String, reason: String)
    case file(FileError)

    init(_ error: ReadingError) {
        switch error {
        case .file(let error): self = .file(error)
        case .unreadable(let path, let reason): self = .unreadable(path, reason: reason)
        }
    }

    init?(erasing error: any Error) {
        switch error {
        case let error as PageError: self = error
        case let error as FileError: self = .file(error)
        case StatusStreamError.file(let error): self = .file(error)
        case let error as ReadingError: self.init(error)
        default: return nil
        }
    }

    package var code: String {
        switch self {
        case .noName: "bad-folder"
        case .notPages: "not-pages"
        case .noStatus: "no-status"
        case .changed: "status-changed"
        case .unreadable: "unreadable-file"
        case .file(let error): error.code
        }
    }

    package var message: String {
        switch self {
        case .noName(let folder): "-o \(folder.shellQuoted): name a folder for the pages"
        case .notPages(let folder):
            "\(folder): it is not a folder of pages. Name another one with -o"
        case .noStatus(let folder):
            "\(folder): there is no \(BatchFile.status.text) in this folder"
        case .changed(let path): "\(path): it has changed meanwhile. Try again"
        case .unreadable(let path, let reason): "\(path): \(reason)"
        case .file(let error): error.message
        }
    }

    package var isTransient: Bool {
        switch self {
        case .changed: true
        case .noName, .notPages, .noStatus, .unreadable: false
        case .file(let error): error.isTransient
        }
    }

    package var storageFailure: StorageFailure? {
        if case .file(let error) = self { error.storageFailure } else { nil }
    }
}
