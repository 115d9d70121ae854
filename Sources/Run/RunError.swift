import DarkroomAnswer
import DarkroomCore
import DarkroomSpool
import SystemPackage

/// Why a run does not begin, or cannot continue.
package enum RunError: CodedError, Equatable {
    /// What distinguishes a manifest from that of the run in a folder.
    package enum ManifestChange: Sendable, Equatable {
        /// It has another name.
        case other
        /// It has the same name and another text.
        case text
        /// Only the text of a recipe is another.
        case recipe
    }

    /// Another process works in the folder.
    case inUse(folder: String, holder: String)
    case otherManifest(folder: String, manifest: String, change: ManifestChange = .other)
    /// The folder has a run of the same manifest in another folder, where its relative paths mean other pictures.
    case otherBase(folder: String, base: String)
    /// The folder has a run of the same manifest with another value of a setting that decides what the outputs are.
    case otherSetting(folder: String, key: String, known: String, asked: String)
    /// The folder has a run of the same manifest that is divided in another way.
    case otherShards(folder: String, known: String, asked: String)
    /// The folder has a run in another number of shards, which are not merged.
    case otherCount(folder: String, known: String, asked: String)
    /// The environment, or the plan, has no such shard.
    case noShard(ShardRequest.Problem)
    case noRun(String)
    case notDivided(String)
    case notMerged(String)
    /// The batch is in work.
    case unfinished(String)
    /// A shard has begun again while it was read.
    case changing(folder: String, shard: Int)
    /// A file that no run in this folder has written is where a file of the run must be.
    case inTheWay(String)
    case outputChanged(String, OutputFault)
    /// A copy of the manifest has been changed since it was written.
    case copyChanged(String)
    case link(String)
    /// The run cannot be continued, for this reason.
    case unusable(folder: String, reason: String)
    /// A file of the run is not what this version can read.
    case unreadable(String, reason: String = StatusDefect.unknown)
    /// The folder, or a file in it, cannot be created or written.
    case cannotCreate(FileError)
    /// A file of the run belongs to somebody else, who does not let this user open it.
    case notPermitted(FileError)
    /// Somebody else could change a folder of the run while it is in use.
    case foreign(ForeignFolder)
    case file(FileError)
    /// Another failure, with what the run knows about it.
    case failure(Failure)

    /// What is done with a file that exists. All other steps create or change something.
    private static let looks: [FileError.Step] = [.open, .examine, .list, .read, .lock]

    /// A file or folder of the run cannot be used. Whoever names a folder expects that files can be created in it.
    init(_ error: FileError) {
        let looks = Self.looks.contains(error.step)
        switch error.errno {
        case .permissionDenied where looks, .notPermitted where looks: self = .notPermitted(error)
        // Links are followed only in the path that the user has named, which `RunFolder` opens.
        case .tooManySymbolicLinkLevels where looks: self = .link(error.path)
        case .permissionDenied, .notPermitted, .readOnlyFileSystem, .notDirectory, .fileExists,
            .noSuchFileOrDirectory, .fileNameTooLong, .tooManySymbolicLinkLevels, .isDirectory:
            self = .cannotCreate(error)
        default: self = .file(error)
        }
    }

    /// - Parameter folder: which is locked, for people.
    init(_ error: SpoolError, folder: String) {
        switch error {
        case .locked(_, let holder): self = .inUse(folder: folder, holder: holder)
        case .file(let error), .barred(let error, _): self.init(error)
        case .foreign(let folder): self = .foreign(folder)
        }
    }

    init(_ error: OwnFolderError) {
        switch error {
        case .file(let error): self.init(error)
        case .foreign(let folder): self = .foreign(folder)
        }
    }

    /// The status in this folder cannot be read. The error names the field that is wrong.
    init(unreadableStatusIn folder: Directory) {
        self = .unreadable(
            folder.path(of: BatchFile.status), reason: StatusDefect.sentence(in: folder))
    }

    package var code: String {
        switch self {
        case .inUse: "folder-in-use"
        case .otherManifest: "other-manifest"
        case .otherBase: "other-base"
        case .otherSetting: "other-setting"
        case .otherShards, .otherCount: "other-shards"
        case .noShard(let problem): problem.code
        case .noRun: "no-run"
        case .notDivided: "no-shards"
        case .notMerged: "not-merged"
        case .unfinished: "not-finished"
        case .changing: "shard-in-work"
        case .inTheWay: "file-in-the-way"
        case .outputChanged: "output-changed"
        case .copyChanged: "manifest-changed"
        case .link: "symbolic-link"
        case .unusable: "unusable-run"
        case .unreadable: "unreadable-file"
        case .cannotCreate(let error), .notPermitted(let error), .file(let error): error.code
        case .foreign(let folder): folder.code
        case .failure(let failure): failure.code
        }
    }

    package var message: String {
        switch self {
        case .inUse(let folder, let holder): "\(folder) is in use by \(holder)"
        case .otherManifest(let folder, let manifest, let change):
            switch change {
            case .other: "\(folder) has a run of another manifest, \(manifest)"
            case .text:
                "\(folder) has a run of \(manifest) as it was: the manifest was changed since, or is another one of this name"
            case .recipe: "\(folder) has a run of \(manifest), whose recipe was changed since"
            }
        case .otherBase(let folder, let base):
            "\(folder) has a run of the same manifest in \(base), where its relative paths begin"
        case .otherSetting(let folder, let key, let known, let asked):
            "\(folder) has a run of the same manifest with another \(key): it was \(known), and is \(asked)"
        case .otherShards(let folder, let known, let asked):
            "\(folder) has a run \(known), and this one is \(asked)"
        case .otherCount(let folder, let known, let asked):
            "\(folder) has a run \(known) that are not merged, and this one is \(asked)"
        case .noShard(let problem): problem.message
        case .noRun(let folder): "\(folder): no darkroom run has worked in this folder"
        case .notDivided(let folder):
            "\(folder) has a run without --shard; its status.json is whole"
        case .notMerged(let folder):
            "\(folder) has a run in shards and no status.json yet; darkroom merge writes it"
        case .unfinished(let folder): "\(folder): the batch is not finished"
        case .changing(let folder, let shard):
            "\(folder): shard \(shard) has begun again while its status was read"
        case .inTheWay(let path): "\(path): no run in this folder has written this file"
        case .outputChanged(let path, let fault): "\(path): \(fault.message)"
        case .copyChanged(let path): "\(path): this copy of the manifest was changed"
        case .link(let path): "\(path): a symbolic link is in the place of this file"
        case .unusable(let folder, let reason): "\(folder): \(reason)"
        case .unreadable(let path, let reason): "\(path): \(reason)"
        case .cannotCreate(let error), .notPermitted(let error), .file(let error): error.message
        case .foreign(let folder): folder.message
        case .failure(let failure): failure.message
        }
    }

    package var storageFailure: StorageFailure? {
        switch self {
        case .cannotCreate(let error), .notPermitted(let error), .file(let error):
            error.storageFailure
        case .failure(let failure): failure.storageFailure
        default: nil
        }
    }

    package var isTransient: Bool {
        switch self {
        case .inUse, .changing, .unfinished: true
        case .cannotCreate(let error), .notPermitted(let error), .file(let error):
            error.isTransient
        case .failure(let failure): failure.isTransient
        case .otherManifest, .otherBase, .otherSetting, .otherShards, .otherCount, .noShard, .noRun,
            .notDivided, .notMerged, .inTheWay, .outputChanged, .copyChanged, .link, .unusable,
            .unreadable, .foreign:
            false
        }
    }
}

/// One of Darkroom's own folders, or the `RunError` that says why it cannot be used.
func runFolder(
    _ folder: @autoclosure () throws(OwnFolderError) -> Directory
) throws(RunError) -> Directory {
    do {
        return try folder()
    } catch {
        throw RunError(error)
    }
}

/// Does several steps on files. The error of a step becomes that of a run.
func runError<Value: ~Copyable>(_ body: () throws(FileError) -> Value) throws(RunError) -> Value {
    do {
        return try body()
    } catch {
        throw RunError(error)
    }
}

/// The value of one expression, whose error about a file becomes that of a run:
///
///     let names = try runError(of: folder.names())
func runError<Value: ~Copyable>(
    of value: @autoclosure () throws(FileError) -> Value
) throws(RunError) -> Value {
    try runError(value)
}
