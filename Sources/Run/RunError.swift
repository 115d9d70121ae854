import DarkroomCore
import DarkroomSpool
import SystemPackage

/// Why a run does not begin, or cannot continue.
package enum RunError: CodedError, Equatable {
    /// Another process works in the folder.
    case inUse(folder: String, holder: String)
    /// The folder has a run of another manifest.
    case otherManifest(folder: String, manifest: String)
    /// The folder has a run of the same manifest in another folder, where its relative paths mean other pictures.
    case otherBase(folder: String, base: String)
    /// A file that no run in this folder has written is where a file of the run must be.
    case inTheWay(String)
    /// An output has been changed since it was written.
    case outputChanged(String, bytes: Int, expected: Int)
    /// The run cannot be continued, for this reason.
    case unusable(folder: String, reason: String)
    /// A file of the run is not what this version can read.
    case unreadable(String)
    /// The folder, or a file in it, cannot be created or written.
    case cannotCreate(FileError)
    case file(FileError)
    /// Another failure, with what the run knows about it.
    case failure(Failure)

    /// A file or folder of the run cannot be used. Whoever names a folder expects that files can be created in it.
    init(_ error: FileError) {
        switch error.errno {
        case .permissionDenied, .notPermitted, .readOnlyFileSystem, .notDirectory, .fileExists,
            .noSuchFileOrDirectory, .fileNameTooLong, .tooManySymbolicLinkLevels, .isDirectory:
            self = .cannotCreate(error)
        default: self = .file(error)
        }
    }

    package var code: String {
        switch self {
        case .inUse: "folder-in-use"
        case .otherManifest: "other-manifest"
        case .otherBase: "other-base"
        case .inTheWay: "file-in-the-way"
        case .outputChanged: "output-changed"
        case .unusable: "unusable-run"
        case .unreadable: "unreadable-file"
        case .cannotCreate(let error), .file(let error): error.code
        case .failure(let failure): failure.code
        }
    }

    package var message: String {
        switch self {
        case .inUse(let folder, let holder): "\(folder) is in use by \(holder)"
        case .otherManifest(let folder, let manifest):
            "\(folder) has a run of another manifest, \(manifest)"
        case .otherBase(let folder, let base):
            "\(folder) has a run of the same manifest in \(base), where its relative paths begin"
        case .inTheWay(let path): "\(path): no run in this folder has written this file"
        case .outputChanged(let path, let bytes, let expected):
            "\(path): it was changed; it has \(Units.bytes(bytes)), but status.json has \(Units.bytes(expected))"
        case .unusable(let folder, let reason): "\(folder): \(reason)"
        case .unreadable(let path): "\(path): it is not what this version of darkroom can read"
        case .cannotCreate(let error), .file(let error): error.message
        case .failure(let failure): failure.message
        }
    }

    package var isTransient: Bool {
        switch self {
        case .inUse: true
        case .otherManifest, .otherBase, .inTheWay, .outputChanged, .unusable, .unreadable:
            false
        case .cannotCreate(let error), .file(let error): error.isTransient
        case .failure(let failure): failure.isTransient
        }
    }
}

/// Runs `body` and converts its error to an error of the run.
func runError<Value>(_ body: () throws(FileError) -> Value) throws(RunError) -> Value {
    do {
        return try body()
    } catch {
        throw RunError(error)
    }
}
