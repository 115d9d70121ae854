import DarkroomCore
import DarkroomSpool
import Glibc
import SystemPackage

/// The lock of the plan of a divided run, on the file `.darkroom/plan.lock`. Nobody replaces a plan between the moment in
/// which a shard reads it and that in which the shard has the lock of its own folder:
///
/// | who                     | kind      | until                                                          |
/// |-------------------------|-----------|----------------------------------------------------------------|
/// | a shard that begins     | shared    | it has the lock of its folder                                  |
/// | who replaces the plan   | exclusive | no folder of a shard was locked, and the next plan is in place |
///
/// It is flock(2), as `SpoolLock`: the kernel releases it when the process ends, and NFS makes it a lock of the server.
final class PlanLock: Sendable {
    enum Kind {
        case shared
        case exclusive

        fileprivate var flag: CInt { self == .shared ? LOCK_SH : LOCK_EX }
    }

    static let fileName: FileName = "plan.lock"
    /// Microseconds between two attempts. Whoever replaces a plan may have to read many statuses.
    private static let pause: UInt32 = 20_000

    /// nil on a file system that is mounted read-only, where nobody on this machine replaces a plan.
    private let file: Descriptor?

    /// Waits until the lock is free.
    ///
    /// - Parameter folder: of the run, for messages.
    /// - Throws: `inUse` if a signal wants to stop this process meanwhile.
    init(_ kind: Kind, _ root: Directory, of folder: String) throws(RunError) {
        let descriptor: Descriptor
        do throws(FileError) {
            // Nobody else can open it: whoever has it locked stops all shards.
            descriptor = try root.openScratch(Self.fileName)
        } catch {
            guard error.errno == .readOnlyFileSystem else { throw RunError(error) }
            file = nil
            return
        }
        while flock(descriptor.number, kind.flag | LOCK_NB) != 0 {
            let cause = Errno(rawValue: errno)
            guard cause == .wouldBlock || cause == .interrupted else {
                throw .file(FileError(.lock, root.path(of: Self.fileName), cause))
            }
            if FolderRun.pendingSignal != nil {
                throw .inUse(folder: folder, holder: "a run that changes its plan")
            }
            usleep(Self.pause)
        }
        file = consume descriptor
    }
}
