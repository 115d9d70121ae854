import DarkroomCore
import Glibc
import Synchronization
import SystemPackage

/// The spool's folders under one root on one file system, and the lock that makes them one daemon's.
///
/// A manifest's way through them, each step a rename (after qmail's INTERNALS):
///
/// | state      | inbox/ | active/ID/         | outbox/ID/status.json | what a restart does          |
/// |------------|--------|--------------------|-----------------------|------------------------------|
/// | waiting    | yes    | –                  | –                     | the first scan finds it      |
/// | claimed    | –      | submitted/NAME,    | –                     | copies it anew, writes the   |
/// |            |        | perhaps manifest   |                       | receipt, goes on             |
/// | pending    | –      | manifest           | `pending`             | goes on                      |
/// | processing | –      | manifest, journal  | `processing`          | does what the journal lacks  |
/// | held       | –      | manifest, journal  | `held`                | keeps it held                |
/// | finished   | –      | perhaps leftovers  | a final state         | removes the leftovers        |
/// | reopening  | –      | `.retry-ID` besides| a final state         | removes `.retry-ID`          |
/// | reopened   | –      | manifest, journal  | the state of before   | goes on: the journal says    |
/// |            |        |                    |                       | `reopened` of that very end  |
/// | expired    | –      | –, but .expired-ID | –                     | removes `active/.expired-ID` |
///
/// An ID never begins with a dot, for a file whose name does is no manifest.
///
/// `Claim` moves a manifest from waiting to pending, `Recovery` does what the last column says,
/// `Publisher` and `StatusKeeper` do the rest. `Retention` makes finished entries expired, where they are to
/// be removed at all.
package final class Spool: Sendable {
    /// The folders that are open as long as the daemon runs.
    package static let stations: [FileName] = ["active", "outbox"]

    package let root: Directory
    /// Where submitters may write before they rename into the inbox. Darkroom leaves it alone, but puts back there
    /// what is too large for an answer.
    package let tmp: Directory
    /// Claimed manifests, each in a folder of its own that only the daemon enters.
    package let active: Directory
    /// Answers, each in a folder of its own.
    package let outbox: Directory
    /// What is being filtered, for the next process to know.
    package let attempts: CrashRecords
    private let lock: Descriptor
    /// The owner of the root, who may give commands to every batch.
    let owner: UInt32
    /// Held by whoever takes a finished batch out of the outbox, or up again.
    package let finishedBatches = Mutex(())
    /// The number last given to a manifest of a name whose plain ID was taken, by the bytes of that ID: two that are
    /// equal to Unicode are numbered apart.
    let lastNumbers = Mutex<[FileName: Int]>([:])

    /// Opens the spool at `path`, creating what is missing, and locks it.
    package init(path: String) throws(SpoolError) {
        try spoolError { () throws(FileError) in try Self.createRoot(path) }
        let root = try spoolError { () throws(FileError) in try Directory(path: path) }
        self.root = root
        lock = try Self.lock(root)
        owner =
            try spoolError { () throws(FileError) in try root.information(of: ".") }?.st_uid ?? 0
        tmp = try Self.station("tmp", in: root)
        active = try Self.station("active", in: root, mode: 0o700)
        outbox = try Self.station("outbox", in: root)
        attempts = try spoolError { () throws(FileError) in try CrashRecords(in: root) }
    }

    /// Opens the inbox, putting it back if it is missing.
    package func openInbox() throws(FileError) -> Directory {
        try Self.folder("inbox", in: root)
    }

    /// Opens the submitters' folder as it is now, putting it back if it is missing.
    func openTmp() throws(FileError) -> Directory { try Self.folder("tmp", in: root) }

    /// Makes the root and the folders above it that are missing. An error names the root, which is what was asked for.
    private static func createRoot(_ path: String) throws(FileError) {
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
                    isRoot ? "create folder" : "create the parent folder \(folder)", path, error)
            }
        }
    }

    /// Opens a folder, making it where it is missing. Someone may remove it between the two.
    private static func folder(
        _ name: FileName, in root: Directory, mode: mode_t = 0o777
    ) throws(FileError) -> Directory {
        for _ in 0..<100 {
            do {
                try root.makeDirectory(name, mode: mode)
            } catch  where error.errno == .fileExists {
                // It is there, as it should be.
            }
            do {
                return try Directory(name, in: root)
            } catch  where error.errno == .noSuchFileOrDirectory {
                continue
            }
        }
        return try Directory(name, in: root)
    }

    private static func station(
        _ name: FileName, in root: Directory, mode: mode_t = 0o777
    ) throws(SpoolError) -> Directory {
        try spoolError { () throws(FileError) in try folder(name, in: root, mode: mode) }
    }

    // MARK: The lock

    /// Takes `lock` with flock(2), which the kernel lets go of with the process however that ends. The
    /// file's text says who holds it, for whoever comes second.
    private static func lock(_ root: Directory) throws(SpoolError) -> Descriptor {
        let path = root.path(of: "lock")
        // The folder itself is locked too: `lock` may be removed by someone who takes it for stale. Where folders
        // cannot be locked, on some network file systems, the file alone has to do.
        if flock(root.number, LOCK_EX | LOCK_NB) != 0, Errno(rawValue: errno) == .wouldBlock {
            throw .locked(spool: root.path, holder: holder(root))
        }
        let number = openat(root.number, "lock", O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o644)
        guard number >= 0 else { throw .file(FileError("open", path, Errno(rawValue: errno))) }
        let lock = Descriptor(owning: number)
        guard flock(number, LOCK_EX | LOCK_NB) == 0 else {
            let cause = Errno(rawValue: errno)
            guard cause == .wouldBlock else { throw .file(FileError("lock", path, cause)) }
            throw .locked(spool: root.path, holder: holder(root))
        }
        let text = "darkroomd, process \(getpid()), since \(Clock.timestamp)\n"
        do {
            try lock.truncate(to: 0, path: path)
            try lock.write(Array(text.utf8), path: path)
        } catch  where error.fault == .full {
            // The lock holds without its text, and a full disk is no reason not to start: it is waited for.
        } catch {
            throw .file(error)
        }
        return lock
    }

    /// What the lock's holder wrote into it, or a general word if that cannot be read.
    private static func holder(_ root: Directory) -> String {
        let text = (try? root.read("lock", upTo: 256)).map { String(decoding: $0, as: UTF8.self) }
        let line = text?.split(separator: "\n").first.map(String.init)
        return line ?? "another darkroomd"
    }

    // MARK: The pause mark

    /// Whether the queues were suspended when the daemon stopped.
    package func isPaused() throws(FileError) -> Bool { try root.exists("paused") }

    /// Keeps the suspension across a restart, or ends that.
    package func markPaused(_ paused: Bool, durably: Bool) throws(FileError) {
        if paused {
            try root.write([], to: "paused", replacing: true, durably: false)
            FaultPoint.pauseMarked.pass()
        } else {
            do {
                try root.remove("paused")
                FaultPoint.pauseUnmarked.pass()
            } catch  where error.errno == .noSuchFileOrDirectory {
                // It was not paused.
            }
        }
        if durably { try root.sync() }
        FaultPoint.pauseSynced.pass()
    }
}

/// Why a spool cannot be used.
package enum SpoolError: CodedError, Equatable {
    /// Another daemon works on it.
    case locked(spool: String, holder: String)
    case file(FileError)
    /// The daemon cannot get at the folder; `remedy` says what an administrator has to do.
    case barred(FileError, remedy: String)

    package var code: String {
        switch self {
        case .locked: "spool-locked"
        case .file(let error), .barred(let error, _): error.code
        }
    }

    package var message: String {
        switch self {
        case .locked(let spool, let holder): "\(spool) is in use by \(holder)"
        case .file(let error): error.message
        case .barred(let error, let remedy): "\(error.message); \(remedy)"
        }
    }

    package var isTransient: Bool {
        switch self {
        case .locked: true
        case .file(let error), .barred(let error, _): error.isTransient
        }
    }

    /// The same, with what helps where the service cannot get at the spool, or the user that runs it may not.
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

/// Runs `body`, its error made one of the spool's.
private func spoolError<Value>(
    _ body: () throws(FileError) -> Value
) throws(SpoolError) -> Value {
    do {
        return try body()
    } catch {
        throw .file(error)
    }
}
