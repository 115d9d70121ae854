import DarkroomAnswer
import DarkroomCore
import Glibc
import Synchronization
import SystemPackage

/// The folders of the spool under one root on one file system, and the lock that excludes a second daemon.
///
/// The path of a manifest through them; each step is a rename (after qmail's INTERNALS):
///
/// | state      | inbox/ | active/ID/         | outbox/ID/status.json | what a restart does          |
/// |------------|--------|--------------------|-----------------------|------------------------------|
/// | waiting    | yes    | –                  | –                     | the first scan finds it      |
/// | claimed    | –      | submitted-NAME,    | –                     | copies it again, writes the  |
/// |            |        | perhaps manifest   |                       | receipt, continues           |
/// | pending    | –      | manifest           | `pending`             | continues                    |
/// | processing | –      | manifest, journal  | `processing`          | repeats images that are not  |
/// |            |        |                    |                       | in the journal               |
/// | held       | –      | manifest, journal  | `held`                | keeps it held                |
/// | finished   | –      | perhaps leftovers  | a final state         | removes the leftovers        |
/// | reopening  | –      | also `.retry-ID`   | a final state         | removes `.retry-ID`          |
/// | reopened   | –      | manifest, journal  | the previous state    | continues, if the `reopened` |
/// |            |        |                    |                       | record refers to this end    |
/// | expired    | –      | `.expired-ID`      | –                     | removes `active/.expired-ID` |
///
/// If NAME is a folder with a manifest and its pictures (`FolderJob`), it is in submitted/NAME until the batch ends.
/// Then `active/ID` becomes `active/.ended-ID.NUMBER` (`EndedFolders`), or NAME becomes `outbox/ID/originals`.
///
/// If the copy of the manifest in `outbox/ID` is redacted, `private/ID.EXT` has the exact one from pending until the answer
/// is removed (`ExactManifests`).
///
/// An ID never begins with a dot, because a file with such a name is not a manifest.
///
/// `Claim` moves a manifest from waiting to pending, `Recovery` does the work of the last column, and `Committer` does
/// the rest. `Retention` and `Removal` make finished batches expired, if they are removed at all.
///
/// The spool of a run has `active` and `attempts` only. It has no inbox, and `RunFolders` in place of the outbox.
package final class Spool: Sendable {
    /// The folders that stay open while the daemon runs.
    package static let stations: [FileName] = ["active", "outbox"]

    package let root: Directory
    /// Submitters write here before they rename into the inbox. Darkroom does not touch their files, but moves
    /// manifests that are too large back here, and removes the leftovers of its own client (`StagedFolders`).
    /// In a run, nobody submits: it is the root.
    package let tmp: Directory
    /// Taken manifests, each in its own folder that only the daemon can enter.
    package let active: Directory
    /// Answers, each in its own folder. In a run, the folder of the only answer.
    package let outbox: Directory
    /// The folders of the only batch of a run; nil for the spool of a daemon.
    package let run: RunFolders?
    /// The pictures that are being filtered, for the next process.
    package let crashRecords: CrashRecords
    /// What a picture ends if it crashes the process.
    var victim: CrashVictim { run == nil ? .daemon : .run }
    /// Whether nothing can be written. Only the spool of a run may be opened then, to look at what it has done.
    package let isReadOnly: Bool
    package let ended: EndedFolders
    /// Whether the pictures of submitted folders stay in their answers (`retention.originals`).
    package let keepsOriginals = Atomic(false)
    private let groupSync: GroupSync?
    private let lock: Descriptor
    /// The owner of the root folder, who may give commands to every batch.
    let owner: UInt32
    /// Held by code that removes a finished batch from the outbox or reopens it.
    package let finishedBatches = Mutex(())
    /// Held by code that writes or removes an exact manifest.
    let exactManifests = Mutex(())
    /// The last number of each name whose ID was taken, by the bytes of the ID: two names that are canonically
    /// equivalent are numbered separately.
    let lastNumbers = Mutex<[FileName: Int]>([:])

    /// Opens the spool at `path`, creates missing folders, and locks it.
    ///
    /// - Parameter groupSync: waits for many files at once; nil to sync each separately.
    package init(path: String, groupSync: GroupSync? = GroupSync()) throws(SpoolError) {
        try spoolError(Self.createRoot(path))
        let root = try spoolError(Directory(path: path))
        self.root = root
        self.groupSync = groupSync
        run = nil
        lock = try SpoolLock.take(root, for: "darkroomd")
        isReadOnly = false
        owner = try spoolError(root.information()).st_uid
        tmp = try spoolError(root.folder("tmp"))
        active = try spoolError(root.folder("active", mode: 0o700))
        outbox = try spoolError(root.folder("outbox"))
        ended = EndedFolders(in: active)
        crashRecords = try spoolError(CrashRecords(in: root))
    }

    /// Opens the spool of a run in a folder that only its user can change (`Directory.ownFolder`), creates missing
    /// folders, and locks it.
    package init(in root: Directory, of run: RunFolders) throws(SpoolError) {
        self.root = root
        self.run = run
        groupSync = GroupSync()
        if let shared = try SpoolLock.takeToRead(root) {
            lock = shared
            isReadOnly = true
        } else {
            // Machines that share a folder need the name of the other one.
            lock = try SpoolLock.take(root, for: "darkroom run on \(Machine.name)")
            isReadOnly = false
        }
        owner = try spoolError(root.information()).st_uid
        tmp = root
        do {
            active = try root.ownFolder("active", mode: 0o700)
        } catch {
            switch error {
            case .file(let error): throw .file(error)
            case .foreign(let folder): throw .foreign(folder)
            }
        }
        outbox = run.answer
        ended = EndedFolders(in: active)
        let isReadOnly = isReadOnly
        crashRecords = try spoolError(
            isReadOnly ? CrashRecords(withoutFileIn: root) : CrashRecords(in: root, of: .run))
    }

    /// Opens the inbox, and creates it if it is missing.
    package func openInbox() throws(FileError) -> Directory { try root.folder("inbox") }

    /// Opens the current `tmp`, and creates it if it is missing.
    func openTmp() throws(FileError) -> Directory { try root.folder("tmp") }

    /// Creates the root and missing folders above it. An error names the root, which the user knows.
    package static func createRoot(_ path: String) throws(FileError) {
        var prefix = FilePath(path).lexicallyNormalized()
        var missing: [FilePath] = []
        while access(prefix.string, F_OK) != 0, prefix.lastComponent != nil {
            missing.append(prefix)
            prefix.removeLastComponent()
        }
        for folder in missing.reversed() {
            guard mkdir(folder.string, 0o777) == 0 || errno == EEXIST else {
                let error = Errno(rawValue: errno)
                let isRoot = folder == missing.first
                throw FileError(
                    isRoot ? .createFolder : .create, path, error,
                    detail: isRoot ? nil : "the parent folder \(folder)")
            }
        }
    }

    /// Waits until everything that was written to the spool before is on the disk.
    ///
    /// - Returns: false if this was not done or something has failed. Then each file and folder must be synced
    ///   separately.
    package func syncTogether() -> Bool { groupSync?.sync(active) ?? false }

    // MARK: The pause mark

    /// Whether the daemon was paused when it stopped.
    package func isPaused() throws(FileError) -> Bool { try root.exists("paused") }

    /// Makes the pause survive a restart, or ends that.
    package func markPaused(_ paused: Bool, durably: Bool) throws(FileError) {
        if paused {
            try root.write([], to: "paused", replacing: true, durably: false)
            FaultPoint.pauseMarked.pass()
        } else {
            let mark: Void? = try ignoringMissing(root.remove("paused"))
            if mark != nil { FaultPoint.pauseUnmarked.pass() }
        }
        if durably { try root.sync() }
        FaultPoint.pauseSynced.pass()
    }
}

package enum SpoolError: CodedError, Equatable {
    case locked(spool: String, holder: String)
    case file(FileError)
    /// The daemon has no access to the folder; `remedy` tells what an administrator has to do.
    case barred(FileError, remedy: String)
    /// Somebody else could change a folder of the run.
    case foreign(ForeignFolder)

    /// nil if another program has the lock.
    private var cause: (any CodedError)? {
        switch self {
        case .locked: nil
        case .file(let error), .barred(let error, _): error
        case .foreign(let folder): folder
        }
    }

    package var code: String { cause?.code ?? "spool-locked" }

    package var message: String {
        switch self {
        case .locked(let spool, let holder): "\(spool) is in use by \(holder)"
        case .file(let error): error.message
        case .barred(let error, let remedy): "\(error.message); \(remedy)"
        case .foreign(let folder): folder.message
        }
    }

    package var isTransient: Bool { cause?.isTransient ?? true }

    /// The same error, with a remedy if the service or its user has no access to the spool.
    package func explained(_ spool: String, by view: ServiceView?) -> SpoolError {
        guard case .file(let error) = self else { return self }
        if let remedy = view?.remedy(for: spool, wanting: .writing) {
            return .barred(error, remedy: remedy)
        }
        guard error.code == FileError.Code.permissionDenied.rawValue,
            let remedy = FolderAccess.ofSpool(spool)?.remedy
        else { return self }
        return .barred(error, remedy: remedy)
    }
}

extension Spool {
    /// Whether a user may give commands to any batch: root, the spool's owner, or the user that runs the daemon.
    package func isPrivileged(_ uid: UInt32) -> Bool {
        uid == 0 || uid == owner || uid == geteuid()
    }

    /// Whether the owner of a control file may give its command to a batch of this owner.
    func permits(_ request: ControlRecord, forBatchOf owner: UInt32?) -> Bool {
        request.isPermitted(forBatchOf: owner, isPrivileged: isPrivileged(request.uid))
    }
}

/// The value of `body`, whose error about a file becomes that of a spool.
private func spoolError<Value>(
    _ body: @autoclosure () throws(FileError) -> Value
) throws(SpoolError) -> Value {
    do {
        return try body()
    } catch {
        throw .file(error)
    }
}
